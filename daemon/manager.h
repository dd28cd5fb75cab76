/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_MANAGER_H
#define ROLLBACKD_MANAGER_H

/* Holds everything together: the libvirt URIs, a session for each domain, the store, the bus. Decides nothing about
 * migrations. Main thread. */

#include "bus/bus.h"
#include "config.h"
#include "core/event.h"

struct manager;

struct manager_options {
	enum bus_kind bus_kind;
	const char *bus_address;   /* BUS_ADDRESS only */
	bool no_bus, no_libvirt;   /* tests and benches bring their own events */
	const char *proc, *sysfs;  /* NULL: /proc, /sys */
};

/* 0 or a negative errno. config is copied where needed. */
int manager_new(const struct config *config, const struct manager_options *options, struct manager **ret_);

/* Waits a bounded time for the disk; what has not ended stays in flight on disk for the next start. Returns NULL. */
struct manager *manager_free(struct manager *m);

/* Takes over what may change while running: URIs, times, log level. Says what needs a restart. */
void manager_reload(struct manager *m, const struct config *config);

/* Events from elsewhere than libvirt, for tests and benches: a recorded source under a URI of its own. */
void manager_feed_event(struct manager *m, const char *uri, const char *uuid, const char *name, struct event *ev);
void manager_feed_qmp(struct manager *m, const char *uri, const char *uuid, const char *name, struct event *ev,
		      long long seconds, unsigned micros);

#endif
