/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_PROCFS_H
#define ROLLBACKD_HOST_PROCFS_H

/* QEMU processes as /proc shows them. Root directories are parameters so that tests can bring their own trees. Any thread. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/report.h"

struct qemu_process {
	pid_t pid;
	uint64_t start;                     /* clock ticks since boot: with pid, a process for good */
	char uuid[REPORT_UUID_LEN + 1];
	bool incoming;                      /* -incoming on the command line */
	uint32_t vcpus;                     /* -smp; 0 unknown */
	uint64_t memory_bytes;              /* -m; 0 unknown */
};

/* Finds the process of the domain: of several (both sides of a migration on one host) the one that fits the side: the
 * destination's was started to receive, and last. 0, -ENOENT, or what reading /proc said. One scan of /proc serves all
 * that ask within a second. */
int procfs_find_qemu(const char *proc, const char *uuid, enum side side, struct qemu_process *ret_);

/* Still the same process? */
bool procfs_is_alive(const char *proc, const struct qemu_process *p);

/* Fills b from the running process: hugetlb by page size from its mappings, transparent huge pages and base pages from its
 * counters. Partial knowledge has its reason in b->reason. Walks no page table that could be large. */
void procfs_backing(const char *proc, pid_t pid, struct backing *b);

/* Bytes of hugetlb pages that the process has faulted in. 0 or a negative errno. */
int procfs_hugetlb_held(const char *proc, pid_t pid, uint64_t *ret_bytes);

/* Reads a small file whole: at most size-1 bytes, terminated. Bytes read or a negative errno. */
ssize_t procfs_read(const char *path, char *ret_, size_t size);

/* One "Name:   123 kB" line of a /proc file's text, in bytes; false when absent. */
bool procfs_kib_line(const char *text, const char *name, uint64_t *ret_bytes);

/* What qemu -m and -smp say: "-m size=524288k", "-m 512", "-smp 2,sockets=2". 0 when not understood. */
uint64_t procfs_parse_memory(const char *argument);
uint32_t procfs_parse_smp(const char *argument);

#endif
