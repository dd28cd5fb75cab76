/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_DOMAINS_H
#define ROLLBACKD_BUS_DOMAINS_H

/* The domains that have a report, computed from the store's index when that has changed. Main thread. */

#include "core/report.h"
#include "store/store.h"

/* Most domains shown as objects, those with the newest reports: bounds the answer of GetManagedObjects and this table
 * (208 bytes each). ListReports still finds the others. */
#define DOMAINS_MAX 4096

struct domain_view {
	char uuid[REPORT_UUID_LEN + 1];
	char last_id[REPORT_ID_LEN + 1];
	char name[REPORT_NAME_MAX];
	enum outcome last_outcome;
	uint32_t reports;
};

struct domain_table;

struct domain_table *domain_table_new(void); /* empty; NULL when out of memory */
struct domain_table *domain_table_free(struct domain_table *d);

/* The index has changed in a way that counters do not tell. */
void domain_table_touch(struct domain_table *d);
bool domain_table_is_stale(const struct domain_table *d, const struct store *s);

enum domains_change { DOMAINS_ADDED, DOMAINS_REMOVED, DOMAINS_CHANGED };

/* Computes the table anew and tells the differences; the new table is in place by then. One pass over the index.
 * -ENOMEM: the old one stays. changed may be NULL. */
int domain_table_update(struct domain_table *d, struct store *s,
	void (*changed)(enum domains_change what, const struct domain_view *v, void *userdata), void *userdata);

unsigned domain_table_count(const struct domain_table *d);
const struct domain_view *domain_table_nth(const struct domain_table *d, unsigned n); /* in order of UUID; good until the next update */
const struct domain_view *domain_table_find(const struct domain_table *d, const char *uuid);

#endif
