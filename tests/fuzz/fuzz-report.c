/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A report file nobody vouches for. What is taken must write and read back the same, and its summary must be sane. */

#include <string.h>

#include "core/phases.h"
#include "store/report-json.h"
#include "store/summary.h"
#include "target.h"

static void check_phases(const struct report *r)
{
	struct phases p;
	uint64_t sum = 0;

	phases_compute(r, &p);
	must(p.n <= PHASE_MAX);
	for (unsigned i = 0; i < p.n; i++)
		if (p.phase[i].known)
			sum += p.phase[i].usec;
	must(sum == p.total_usec);
	must(p.total_usec <= INT64_MAX);
}

static void check_summary(const struct report *r)
{
	struct summary s;

	summary_of_report(r, &s);
	must(strcmp(s.id, r->id) == 0);
	must(s.began_usec >= 0);
	must(s.outcome < OUTCOME_MAX && s.side < SIDE_MAX);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct report r, again;
	char error[256] = "", *first, *second;
	int k = report_from_text((const char *) data, size, &r, error, sizeof(error));

	if (k < 0) {
		must(*error && !strchr(error, '\n'));
		return 0;
	}
	first = report_to_text(&r);
	must(first);
	must(report_from_text(first, strlen(first), &again, error, sizeof(error)) == 0);
	must(memcmp(&r, &again, sizeof(r)) == 0);
	second = report_to_text(&again);
	must(second && strcmp(first, second) == 0);
	check_phases(&r);
	check_summary(&r);
	free(first);
	free(second);
	return 0;
}
