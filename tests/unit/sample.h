/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_SAMPLE_H
#define ROLLBACKD_TESTS_SAMPLE_H

#include "core/report.h"

/* Whole reports, the same on each run: golden files, the store's tests and the benches are made from these. */
struct sample {
	const char *name;
	void (*make)(struct report *r);
};

extern const struct sample samples[];
extern const unsigned samples_n;

/* The n-th of many: a rollback of domain n % domains, one second after the one before. Distinct ids. */
void sample_nth(struct report *r, unsigned n, unsigned domains);

/* Valid values drawn from the seed in every field that is read back; marks in order, whole microseconds. */
void sample_random(struct report *r, uint64_t seed);

#endif
