/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_FEEDER_H
#define ROLLBACKD_TESTS_BENCH_FEEDER_H

/* Plays a round of rollbacks into the manager from its own main loop, as libvirt's connection would: what is due in a turn
 * of the loop is fed in that turn, one event after the other. */

#include "manager.h"
#include "sequence.h"

#define ROLLBACKS_MAX 64
#define FEED_URI      "test:///recorded"

/* What is known of one finished rollback; times are CLOCK_MONOTONIC ns. */
struct sample {
	unsigned domain;
	int64_t burst;       /* feeding of the first last event in the same turn */
	int64_t fed;         /* feeding of its own last event */
	int64_t handed;      /* its signals are in the bus socket: sd-bus's queue is empty */
	int64_t cpu;         /* thread CPU time from feeding to the return of the call */
	uint64_t preemptions; /* of the thread, until it was fed */
	bool preempted;      /* the thread was taken off its CPU between fed and handed */
};

struct round {
	unsigned first_domain;  /* the round's domains are these and the next ones */
	unsigned rollbacks;     /* at most ROLLBACKS_MAX */
	int64_t length;         /* ns from the first event to the ends */
	int64_t apart;          /* ns between two ends; 0: all at once */
	bool watch_memory;      /* note the largest RssAnon; costs time */

	/* Results. */
	unsigned events;
	uint64_t rss_max;
	struct sample sample[ROLLBACKS_MAX];
};

struct feeder;

struct feeder *feeder_new(struct manager *m, const struct sequences *sequences, unsigned domains);
void feeder_free(struct feeder *f);

/* Says of every domain that it is there and runs. */
void feeder_list_domains(struct feeder *f);

/* Runs the default main context until every event of the round has been fed and every signal handed over. False, with a line
 * on stderr: that took more than a minute, or a report was not complete just when it should have been. */
bool feeder_play(struct feeder *f, struct round *round);

#endif
