/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Guest memory of a given backing, and what the host spends on stage-2 tables. */

enum backing {
	BACKING_PMD,  /* hugetlb, default size: 2 MiB with 4K pages */
	BACKING_1G,   /* hugetlb, 1 GiB */
	BACKING_THP,  /* anonymous, MADV_HUGEPAGE */
	BACKING_BASE, /* anonymous, never huge */
	_BACKING_MAX,
	_BACKING_INVALID = -1,
};

const char *backing_to_string(enum backing backing);
enum backing backing_from_string(const char *name);

/* Bytes that one block of this backing maps; 0 if the kernel does not say. */
size_t backing_block(enum backing backing);

/*
 * Maps and populates size bytes, aligned to a block. -ENOMEM: no huge pages
 * left; -ENOTSUP: the kernel gave small pages for THP. The caller unmaps with
 * memory_unmap().
 */
int memory_map(enum backing backing, size_t size, void **ret_memory);
void memory_unmap(void *memory, size_t size);

/*
 * KiB of secondary (stage-2) page tables on this host, settled: waits for the
 * RCU callbacks that free tables and folds the per-CPU counters.
 */
long memory_table_kib(void);

/* Writes text to a file, e.g. a sysctl. */
int write_file(const char *path, const char *text);
