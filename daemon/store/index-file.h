/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_INDEX_FILE_H
#define ROLLBACKD_STORE_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <glib.h>

#include "store/store.h"

/* The summaries on disk, so that a start need not parse every report: file "index" in the top folder. A cache, nothing
 * more: a record counts only while the report's file has the length, time of change and inode that it names; a file that
 * is absent, torn or of another version costs a start in which reports are parsed. Any thread. */

struct index_record {
	uint64_t id, inode;
	int64_t mtime_nsec;
	struct summary summary; /* name and uri point into the loaded file */
};

struct index_file;

/* Never fails: what cannot be read is empty. */
struct index_file *index_file_load(int top);
void index_file_free(struct index_file *f);
bool index_file_is_there(const struct index_file *f); /* false: nothing can be appended to it */
size_t index_file_records(const struct index_file *f); /* superseded ones included */
/* The newest record of this id that describes exactly this file. */
bool index_file_find(const struct index_file *f, uint64_t id, const struct stat *st, struct index_record *ret_);

/* Appends the record's bytes to a buffer; index_file_begin starts it with what a whole file begins with. */
void index_file_begin(GByteArray *to);
void index_file_encode(GByteArray *to, const struct summary *s, const struct stat *st);

int index_file_write(int top, const GByteArray *whole);
/* One record at the end of the file there is; -ENOENT: there is none. */
int index_file_append(int top, const struct summary *s, const struct stat *st);

#endif
