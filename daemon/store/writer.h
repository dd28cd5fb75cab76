/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_WRITER_H
#define ROLLBACKD_STORE_WRITER_H

#include "store/folders.h"
#include "store/mailbox.h"
#include "store/store.h"

/* The thread that writes. All functions are the main thread's, none of them waits for the disk; what happened comes back
 * through the mailbox, to the functions below. */

struct writer_events {
	/* The report is on disk with this many bytes. */
	void (*written)(void *owner, const struct report *r, uint64_t bytes);
	/* Why nothing can be written, or NULL: it works again. Once per change. */
	void (*trouble)(void *owner, const char *why);
};

struct writer;

/* Takes the folders (they may be closed: then the writer opens them). NULL when no thread can be had. */
struct writer *writer_new(const char *dir, struct folders *folders, const struct store_limits *limits,
			  const struct writer_events *events, struct mailbox *mail);

/* Reports are reference-counted (g_atomic_rc_box) and not changed any more; the writer takes a reference of its own.
 * obsolete: the begin under which an older state of this report may be on disk; its file goes once this one is there. */
#define WRITER_NONE UINT64_MAX
void writer_put(struct writer *w, const struct report *r, bool finished, uint64_t obsolete);
/* Removes a finished report's file. */
void writer_remove(struct writer *w, uint64_t began, uint64_t id);

/* Gives up the finished report that has waited longest; false: none waits that is not being written this moment. */
bool writer_drop(struct writer *w, uint64_t *ret_id);

void writer_counters(struct writer *w, uint64_t *ret_written, uint64_t *ret_failures);

/* Tries what is left once, for at most the timeout, and lets go of the thread. How many reports did not reach the disk. */
unsigned writer_close(struct writer *w, nsec_t timeout);

#endif
