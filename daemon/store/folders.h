/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_FOLDERS_H
#define ROLLBACKD_STORE_FOLDERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "core/report.h"

/* The store's folders and what is done in them. The path of the top folder is the operator's and may lead through
 * symbolic links; below it no link is followed. Any thread, each with its own descriptors. */

struct folders {
	int top, reports, inflight, aside; /* -1: not open */
};

#define FOLDERS_CLOSED ((struct folders) { -1, -1, -1, -1 })

enum folders_flags {
	FOLDERS_CREATE = 1 << 0, /* mode 0750, the top folder's parents excepted */
	FOLDERS_LOCK   = 1 << 1, /* for as long as they are open; -EBUSY when another process has the lock */
};

int folders_open(const char *dir, unsigned flags, struct folders *ret_);
void folders_close(struct folders *f);

/* "<20 digits>-<16 digits>.json" of a finished report, "<16 digits>.json" of one in flight. */
#define REPORT_FILE_SIZE 64
void report_file_name(char to[static REPORT_FILE_SIZE], uint64_t began, uint64_t id);
bool report_file_parse(const char *name, uint64_t *ret_began, uint64_t *ret_id);
void inflight_file_name(char to[static REPORT_FILE_SIZE], uint64_t id);
bool inflight_file_parse(const char *name, uint64_t *ret_id);

/* Under its name stands the old content or the whole new one, on the disk when this returns. Mode 0640. */
int file_replace(int folder, const char *name, const void *data, size_t n, struct stat *ret_);

/* The whole of a regular file of at most max bytes; free() it. -ENOTSUP: not a regular file, -EFBIG. */
int file_read(int folder, const char *name, size_t max, char **ret_, size_t *ret_n);

/* Temporary files of a process that was killed. */
void remove_leftovers(int folder);

/* Moves a file to aside/, where at most 100 are kept, and drops the oldest there. */
int file_set_aside(const struct folders *f, int folder, const char *name);

#endif
