/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_POOL_H
#define ROLLBACKD_HOST_POOL_H

/* A bounded pool of threads for calls that may hang: libvirt's can, for minutes, when a QEMU monitor does. A call that
 * hangs cannot be cancelled, so its owner is told when its deadline passes and the thread is left to itself: counted,
 * given back to the pool if the call ever returns, never joined. One call a key at a time. */

#include "core/time.h"

struct pool;

struct pool_call {
	const char *key;                         /* one call of a key is in the pool at any time */
	nsec_t timeout;                          /* from now */
	void (*work)(void *data);                /* on a thread of the pool */
	void (*done)(int r, void *data, void *userdata); /* on the main thread, once. 0, or -ETIMEDOUT with data NULL */
	void (*data_free)(void *data);           /* after done, or on the pool's thread when that was too late */
	void *data;                              /* the call's: input and output */
	void *userdata;                          /* for done; the pool does not touch it */
};

struct pool *pool_new(unsigned threads, unsigned max_queued);

/* 0; -EBUSY: a call of this key is under way; -EAGAIN: queue full. On failure data is still the caller's. Main thread. */
int pool_submit(struct pool *p, const struct pool_call *call);

/* Forgets every call: no done() comes any more, threads are left behind. NULL is fine. */
void pool_free(struct pool *p);

struct pool_counters { unsigned running, queued, stuck; uint64_t timed_out, finished; };
void pool_get_counters(struct pool *p, struct pool_counters *ret_);

#endif
