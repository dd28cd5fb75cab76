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

/* 0 or a negative errno (the process is gone: -ESRCH). */
int watch_new(pid_t pid, const char *sysfs, const struct watch_events *events, struct watch **ret_);

/* How much of which page size must come back; before it exits. 0 bytes: there are no hugepages to wait for. */
void watch_set_hugepages(struct watch *w, uint64_t page_size, uint64_t bytes);

/* The free level to come back from is read at the latest when the process is known to be failing. */
void watch_sample_pool(struct watch *w);

/* After exited(). */
void watch_pool(struct watch *w);

struct watch *watch_free(struct watch *w); /* returns NULL */

#endif
