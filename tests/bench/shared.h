/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_SHARED_H
#define ROLLBACKD_TESTS_BENCH_SHARED_H

/* Memory of the bench itself, and what the process says of itself. All of the bench's own data is shared memory, so that
 * RssAnon is what the daemon's code takes and the libraries' relocations. */

#include <stddef.h>
#include <stdint.h>

/* Zeroed, never given back, shared with children; ends the program when there is none. */
void *shared_new(size_t size);

/* RssAnon of this process, bytes; 0 when /proc cannot be read. Allocates nothing. */
uint64_t rss_anon(void);

int64_t now_ns(void);            /* CLOCK_MONOTONIC */
int64_t thread_cpu_ns(void);     /* of the calling thread */
int64_t process_cpu_ns(void);    /* of all threads */
uint64_t thread_preemptions(void); /* involuntary context switches of the calling thread */

#endif
