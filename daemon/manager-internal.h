/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_MANAGER_INTERNAL_H
#define ROLLBACKD_MANAGER_INTERNAL_H

/* Between manager.c (life), manager-uri.c (libvirt's side), manager-reports.c (where reports go), manager-model.c (what the
 * bus shows). */

#include <glib.h>

#include "core/report.h"
#include "host/clock.h"
#include "host/libvirt.h"
#include "host/pool.h"
#include "manager.h"
#include "session.h"
#include "store/store.h"

struct manager_uri {
	struct manager *manager;
	char *uri;
	struct lv *lv;               /* NULL: a recorded source */
	GHashTable *sessions;        /* uuid (the session's own) -> struct session */
	GQueue unlooked;             /* uuids (owned) of listed domains not looked at since the connection came up */
	bool looking;
};

struct manager {
	struct session_host host;
	struct clock clock;
	nsec_t call_timeout, reconnect_max;
	char *status_dir, *proc, *sysfs, *state_dir;
	struct pool *calls;
	struct store *store;
	struct bus *bus;
	struct model model;
	GPtrArray *uris;             /* struct manager_uri */
	GPtrArray *live;             /* struct session (the URI's own) with a migration, in order of their begins */
	GPtrArray *adopted;          /* struct report: in flight at start, until their URI is listed */
	guint sweep;                 /* idle: free the sessions that are done */
	uint64_t events, migrations, rollbacks, late_joins, held_events;
	bool closing;
};

struct manager_uri *manager_uri_new(struct manager *m, const char *uri, bool recorded);
void manager_uri_free(void *u);
void manager_uri_give_up(struct manager_uri *u);   /* ends what is under way as lost track of */
struct manager_uri *manager_uri_find(struct manager *m, const char *uri);
struct session *manager_uri_session(struct manager_uri *u, const char *uuid, const char *name);

struct session_outlet manager_outlet(struct manager *m);
void manager_changed(struct manager *m);           /* connections or the store's state: the bus is told */
void manager_sweep_later(struct manager *m);
void manager_adopt(struct manager_uri *u);         /* gives the URI's in-flight reports to their sessions */
void manager_take_inflight(struct manager *m);     /* from the store, at start */
struct store_events manager_store_events(struct manager *m);

void manager_model_init(struct manager *m);

#endif
