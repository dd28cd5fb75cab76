/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_PHASES_H
#define ROLLBACKD_CORE_PHASES_H

#include "core/report.h"

/* What follows from the marks. Marks are rounded down to microseconds first and the phases are differences of those,
 * so that they sum to the total exactly. */
struct phase {
	enum phase_id id;
	enum mark_id from, to;  /* MARK_INVALID when unknown */
	bool known;             /* false: .missing says why */
	bool lower_bound, upper_bound; /* the true duration is this or longer, or shorter */
	enum missing missing;
	uint64_t usec;
};

struct phases {
	unsigned n;                   /* in order of time; only those that make sense for this report */
	struct phase phase[PHASE_MAX];
	enum mark_id first, last;     /* the total runs between these */
	bool total_known;
	uint64_t total_usec;          /* == sum of the known phases */
	bool blackout_known, blackout_lower_bound;
	enum missing blackout_missing;
	uint64_t blackout_usec;       /* T1 to T4, or to T3 as a lower bound */
};

/* Pure; ret_ is always filled. The report's marks must have been put in order with phases_clamp(). */
void phases_compute(const struct report *r, struct phases *ret_);

/* Moves every mark that comes after its successor back to it; flags and counts it in the report. Returns how many. */
unsigned phases_clamp(struct report *r);

#endif
