/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_MEASURE_H
#define ROLLBACKD_TESTS_BENCH_MEASURE_H

#include <stdbool.h>

struct measure_options {
	int domains, rollbacks, runs, rounds;
	int length;          /* ms from the first event of a round to its ends */
	bool json;
	const char *address; /* of a bus on which org.rollbackd1 is free */
	const char *folder;  /* for reports, empty */
	const char *data;    /* of the recordings */
};

/* Prints the figures on stdout; what went wrong on stderr, in lines that begin with "bench: ", among the daemon's own log.
 * 0, missed aims or not; 1 when it could not be measured, or the main thread waited for a disk. The process is not good for
 * anything else afterwards: see guard.h. */
int measure(const struct measure_options *o);

#endif
