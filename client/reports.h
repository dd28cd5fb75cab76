/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_REPORTS_H
#define ROLLBACKCTL_REPORTS_H

/* What rollbackd knows, as values: one summary a finished report or live migration, and whole reports as JSON. */

#include <stdint.h>

#include "bus.h"

struct summary {
	char *id, *uuid, *name, *uri, *side, *operation, *driver, *outcome, *cause;
	char *state, *phase; /* live ones only */
	bool live, paused;
	uint64_t began_usec; /* CLOCK_REALTIME; 0 unknown */
	bool total_known, blackout_known, blackout_lower_bound;
	uint64_t total_usec, blackout_usec;
	uint32_t iterations;
};

struct summaries {
	struct summary *v;
	size_t n;
};

void summary_done(struct summary *s);
void summaries_done(struct summaries *s);
#define _cleanup_summaries_ __attribute__((cleanup(summaries_done)))

struct report_filter {
	const char *domain;                       /* UUID or exact name; NULL: all */
	uint64_t since_usec, until_usec;          /* 0: no bound */
	const char *const *outcomes, *const *sides; /* NULL-terminated; NULL: all */
};

/* Finished reports, newest first, at most limit of them (0: all); *ret_total is how many match. Appends. Exit code. */
int reports_list(struct ctl *c, sd_bus *bus, const struct report_filter *f, uint64_t limit, struct summaries *s, uint64_t *ret_total);

/* Live migrations that match, newest first. Appends. */
int reports_live(struct ctl *c, sd_bus *bus, const struct report_filter *f, struct summaries *s);

/* One report's JSON, to be put. */
int report_get(struct ctl *c, sd_bus *bus, const char *id, struct json_object **ret_);

/* Reads a{sv} of the Migration interface at the message's position into a live summary. Negative errno. */
int summary_read_migration(sd_bus_message *m, struct summary *ret_);

bool summary_matches(const struct summary *s, const struct report_filter *f);

struct json_object *summary_to_json(const struct summary *s);

#endif
