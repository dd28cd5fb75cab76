/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_SUBSCRIBER_H
#define ROLLBACKD_TESTS_BENCH_SUBSCRIBER_H

/* A client of the private bus, in a process of its own, that notes when MigrationFinished reaches it. */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UUID_FORMAT "6d1f7a52-5d0c-4c1e-9d7b-%012x" /* number of the domain */

struct subscriber {
	pid_t pid;
	atomic_bool ready, failed;
	atomic_uint n;                /* signals so far */
	unsigned domains;
	struct {
		atomic_llong at;      /* CLOCK_MONOTONIC ns of the newest signal about this domain */
	} receipt[];
};

/* Call it before there are threads. Waits until the subscription holds; NULL when it does not come to that. The child dies
 * with its parent. */
struct subscriber *subscriber_start(const char *address, unsigned domains);
void subscriber_stop(struct subscriber *s);

#endif
