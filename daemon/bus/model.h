/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_MODEL_H
#define ROLLBACKD_BUS_MODEL_H

/* What the bus faces show, seen from the bus: the manager fills this in, tests fill in their own. All calls on the main
 * thread; none blocks. Pointers handed out are good until the main loop runs again. */

#include <stdbool.h>
#include <stdint.h>

#include "core/report.h"
#include "store/store.h"

struct model_connection {
	const char *uri;
	const char *state;        /* "connecting" "up" "down" */
	const char *detail;       /* "" or a sentence: why it is down, what is refused */
	bool qmp_events;
	uint32_t libvirt_version; /* as in struct report */
	uint32_t domains;
};

struct model_counter {
	const char *name;         /* CamelCase, e.g. "EventsUnknown" */
	uint64_t value;
};

struct model_progress {
	uint64_t processed_bytes, remaining_bytes, total_bytes;
	uint64_t age_usec;        /* of these figures */
};

struct model {
	struct store *store;
	void *userdata;

	/* Fill at most max, return how many there are. */
	unsigned (*connections)(void *u, struct model_connection *ret_, unsigned max);
	unsigned (*counters)(void *u, struct model_counter *ret_, unsigned max);

	/* Live migrations. nth: NULL beyond the last. The report is not ended, or ended within this very main-loop turn. */
	const struct report *(*live_nth)(void *u, unsigned n);
	const struct report *(*live_find)(void *u, const char *id);

	/* Asks libvirt how far a migration is, unless the guest is paused. 0: done is called later on the main thread, once;
	 * -EBUSY: a call is running; -EAGAIN: guest not running, no question is asked; -ENOENT. */
	int (*progress)(void *u, const char *id, void (*done)(int r, const struct model_progress *p, void *userdata), void *userdata);

	const char *backend;        /* "none" */
	const char *backend_reason;
	const char *act;            /* "auto" or "no" */
};

#endif
