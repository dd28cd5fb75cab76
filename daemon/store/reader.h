/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_READER_H
#define ROLLBACKD_STORE_READER_H

#include "store/mailbox.h"
#include "store/store.h"

/* Reads reports for store_read() in a thread that exists only while something is to be read. Main thread. */

typedef void read_done(int r, const char *json, void *userdata);

/* A file turned out not to be what the index says; it has been set aside. */
typedef void read_damaged(void *owner, uint64_t id, const char *file, const char *why);

struct reader;

struct reader *reader_new(const char *dir, read_damaged *damaged, struct mailbox *mail);
/* Calls back with r. */
void reader_refuse(struct reader *rd, int r, read_done *done, void *userdata);
/* From the disk, or (r not NULL, reference-counted) from memory. */
void reader_read(struct reader *rd, uint64_t began, uint64_t id, const struct report *r, read_done *done, void *userdata);
/* Calls every waiting one back with -ECANCELED; a read that hangs is abandoned. */
void reader_close(struct reader *rd);

#endif
