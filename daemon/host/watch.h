/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_WATCH_H
#define ROLLBACKD_HOST_WATCH_H

/* Waits for a QEMU process to end, by pidfd, and then for its hugepages to be back in the pool, by looking at sysfs for a
 * bounded time. Main thread. A pidfd only watches: nothing is ever sent to the process. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/time.h"

struct watch;

struct watch_events {
	void (*exited)(void *userdata);
	void (*pool)(bool back, void *userdata); /* false: cannot be told */
	void *userdata;
};

/* page_size: of the hugetlb pages behind the process, bytes; 0: there are none to wait for. 0 or a negative errno
 * (-ESRCH: the process is gone). */
int watch_new(pid_t pid, uint64_t page_size, const char *proc, const char *sysfs, const struct watch_events *events, struct watch **ret_);

/* Notes how much of the pool will be free once the process has given its pages back: what is free now and what it holds
 * now, whose sum stays the same while it faults pages in. Does nothing when the process is already ending. */
void watch_sample(struct watch *w);

/* After exited(). */
void watch_pool(struct watch *w);

struct watch *watch_free(struct watch *w); /* returns NULL */

#endif
