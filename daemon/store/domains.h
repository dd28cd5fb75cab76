/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_DOMAINS_H
#define ROLLBACKD_STORE_DOMAINS_H

#include <stdbool.h>
#include <stdint.h>

/* The domains that finished reports belong to: by UUID, and densely by number. A domain is there while it has a report.
 * Main thread. */
struct domain {
	uint8_t uuid[16];
	uint32_t reports, position; /* position: its number */
	uint64_t last_id;           /* its newest report */
	int64_t last_began;
	const char *last_name;      /* the newest report's, interned; owned */
	uint8_t last_outcome;
};

struct domains;

struct domains *domains_new(void);
void domains_free(struct domains *d);

struct domain *domains_take(struct domains *d, const uint8_t uuid[static 16]); /* makes it when new, with 0 reports */
struct domain *domains_find(const struct domains *d, const uint8_t uuid[static 16]);
struct domain *domains_nth(const struct domains *d, uint32_t n);
void domains_remove(struct domains *d, struct domain *domain);

#endif
