/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_SEQUENCE_H
#define ROLLBACKD_TESTS_BENCH_SEQUENCE_H

/* Recordings of real rollbacks, as steps to be fed again at another pace. */

#include "core/event.h"

#define STEPS_MAX     48
#define SEQUENCES_MAX 8

struct step {
	int64_t offset;          /* ns from the step that ends the migration: negative before it */
	bool is_qmp;
	struct event ev;
	struct context context;  /* what ev.context is to point to */
};

struct sequence {
	char name[32];
	unsigned n, last;        /* step[last] is the one after which the report is complete */
	struct step step[STEPS_MAX];
};

struct sequences {
	unsigned n;
	struct sequence sequence[SEQUENCES_MAX];
};

/* Loads the rollbacks F1, F3 and F4 (source side) from that folder into memory shared with children, in a child of its own:
 * nothing of it is counted as the daemon's memory. NULL, with a line on stderr, when it cannot be done. */
const struct sequences *sequences_load(const char *folder);

#endif
