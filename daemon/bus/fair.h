/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_FAIR_H
#define ROLLBACKD_BUS_FAIR_H

/* Who may have a large answer while the bus daemon is behind with taking them. It hands messages on in order, a little of
 * each connection at a time, so a client that asks for many at once makes everybody wait for all of its answers. A client
 * that asks one thing after the other never meets this. Values in, values out; no clock. */

#include <stdbool.h>
#include <stdint.h>

#define FAIR_BURST         2       /* large answers at once, */
#define FAIR_INTERVAL_USEC 1000000 /* then one in this time: a quarter of what a slow machine's bus daemon carries (seen: 450 KB in 260 ms) */
#define FAIR_SENDERS       32     /* remembered of them; the quietest is forgotten first */

struct fair {
	struct {
		char name[48];      /* unique name, ":1.42" */
		int64_t paid_until; /* us; what was taken before is made up for then */
	} senders[FAIR_SENDERS];
};

/* May this sender have one more now (us, monotonic)? Counts it if so. */
bool fair_admit(struct fair *f, const char *sender, int64_t now_usec);

#endif
