/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* libvirt's side of the manager: one URI, its sessions, and what comes from its connection. */

#include "log.h"
#include "manager-internal.h"
#include "rollbackd/names.h"

static void free_session(void *s)
{
	session_free(s);
}

struct manager_uri *manager_uri_find(struct manager *m, const char *uri)
{
	for (guint i = 0; i < m->uris->len; i++) {
		struct manager_uri *u = g_ptr_array_index(m->uris, i);

		if (g_strcmp0(u->uri, uri) == 0)
			return u;
	}
	return NULL;
}

struct session *manager_uri_session(struct manager_uri *u, const char *uuid, const char *name)
{
	struct session *s = g_hash_table_lookup(u->sessions, uuid);

	if (s)
		return s;
	s = session_new(&u->manager->host, u->lv, u->uri, uuid, name);
	g_hash_table_insert(u->sessions, (char *) session_uuid(s), s);
	return s;
}

/* ---- looking, one domain at a time, for migrations that began before we came */

static void look_next(struct manager_uri *u);

struct look_over {
	struct manager *manager;
	char *uri;
};

static void look_over(void *data)
{
	struct look_over *o = data;
	struct manager_uri *u = o->manager->closing ? NULL : manager_uri_find(o->manager, o->uri);

	if (u) {
		u->looking = false;
		look_next(u);
	}
	g_free(o->uri);
	g_free(o);
}

static void look_next(struct manager_uri *u)
{
	char *uuid;

	while (!u->looking && (uuid = g_queue_pop_head(&u->unlooked))) {
		struct session *s = g_hash_table_lookup(u->sessions, uuid);
		struct look_over *o = g_new(struct look_over, 1);

		*o = (struct look_over) { .manager = u->manager, .uri = g_strdup(u->uri) };
		g_free(uuid);
		u->looking = s && session_look_for_work(s, look_over, o);
		if (!u->looking) {
			g_free(o->uri);
			g_free(o);
		}
	}
}

/* ---- from the connection */

static void say_state(struct manager_uri *u, struct lv *lv)
{
	const char *const fields[] = { RBD_FIELD_URI, u->uri, NULL };

	switch (lv_get_state(lv)) {
	case LV_CONNECTING:
		break;
	case LV_UP:
		log_event(LOG_INFO, RBD_MSG_CONNECTION_UP, fields, "%s: connected.", u->uri);
		if (lv_detail(lv)[0])
			log_event(LOG_WARNING, RBD_MSG_DEGRADED, fields, "%s: %s; reports are degraded.", u->uri, lv_detail(lv));
		break;
	case LV_DOWN:
		log_event(LOG_WARNING, RBD_MSG_CONNECTION_LOST, fields, "%s: %s; trying again.", u->uri, lv_detail(lv));
		break;
	}
}

static void on_state(void *data, struct lv *lv)
{
	struct manager_uri *u = data;
	GHashTableIter it;
	gpointer s;

	say_state(u, lv);
	if (lv_get_state(lv) == LV_DOWN) {
		g_hash_table_iter_init(&it, u->sessions);
		while (g_hash_table_iter_next(&it, NULL, &s))
			session_connection_lost(s);
		g_queue_clear_full(&u->unlooked, g_free);
	}
	manager_changed(u->manager);
}

/* Sessions that the list does not name: their domains are gone. */
static void drop_missing(struct manager_uri *u, GHashTable *listed, bool qmp)
{
	GHashTableIter it;
	gpointer s;

	g_hash_table_iter_init(&it, u->sessions);
	while (g_hash_table_iter_next(&it, NULL, &s))
		if (!g_hash_table_contains(listed, session_uuid(s)))
			session_missing(s, qmp);
	manager_sweep_later(u->manager);
}

static void on_listed(void *data, struct lv *lv, const struct lv_listed *domains, unsigned n)
{
	struct manager_uri *u = data;
	g_autoptr(GHashTable) listed = g_hash_table_new(g_str_hash, g_str_equal);

	manager_adopt(u);
	for (unsigned i = 0; i < n; i++) {
		g_hash_table_add(listed, (char *) domains[i].uuid);
		session_listed(manager_uri_session(u, domains[i].uuid, domains[i].name), &domains[i], lv_qmp_events(lv));
		if (domains[i].run == RUN_RUNNING || domains[i].paused_by_migration)
			g_queue_push_tail(&u->unlooked, g_strdup(domains[i].uuid));
	}
	drop_missing(u, listed, lv_qmp_events(lv));
	u->looking = false;
	look_next(u);
}

static void after_event(struct manager_uri *u, const struct session *s)
{
	if (session_is_done(s))
		manager_sweep_later(u->manager);
}

static void on_event(void *data, struct lv *lv, const char *uuid, const char *name, struct event *ev)
{
	struct manager_uri *u = data;
	struct session *s = manager_uri_session(u, uuid, name);

	(void) lv;
	u->manager->events++;
	session_event(s, name, ev);
	after_event(u, s);
}

static void on_qmp(void *data, struct lv *lv, const char *uuid, const char *name, struct event *ev, long long seconds, unsigned micros)
{
	struct manager_uri *u = data;
	struct session *s = manager_uri_session(u, uuid, name);

	(void) lv;
	u->manager->events++;
	session_qmp(s, name, ev, seconds, micros);
	after_event(u, s);
}

struct manager_uri *manager_uri_new(struct manager *m, const char *uri, bool recorded)
{
	struct manager_uri *u = g_new0(struct manager_uri, 1);
	const struct lv_sink sink = { .state = on_state, .listed = on_listed, .event = on_event, .qmp = on_qmp, .userdata = u };

	u->manager = m;
	u->uri = g_strdup(uri);
	u->sessions = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free_session);
	g_queue_init(&u->unlooked);
	g_ptr_array_add(m->uris, u);
	if (!recorded) {
		const struct lv_options o = {
			.uri = uri, .call_timeout = m->call_timeout, .reconnect_max = m->reconnect_max,
			.status_dir = m->status_dir, .proc = m->proc, .calls = m->calls, .clock = &m->clock,
		};

		u->lv = lv_new(&o, &sink);
		lv_start(u->lv);
	}
	return u;
}

/* Those whose migrations will not be seen to end. */
static void drop_live(struct manager_uri *u)
{
	GPtrArray *live = u->manager->live;

	for (guint i = live->len; i-- > 0;)
		if (g_hash_table_lookup(u->sessions, session_uuid(g_ptr_array_index(live, i))) == g_ptr_array_index(live, i))
			g_ptr_array_remove_index(live, i);
}

void manager_uri_give_up(struct manager_uri *u)
{
	GHashTableIter it;
	gpointer s;

	g_hash_table_iter_init(&it, u->sessions);
	while (g_hash_table_iter_next(&it, NULL, &s))
		session_give_up(s);
}

void manager_uri_free(void *data)
{
	struct manager_uri *u = data;

	lv_free(u->lv);
	drop_live(u);
	g_hash_table_unref(u->sessions);
	g_queue_clear_full(&u->unlooked, g_free);
	g_free(u->uri);
	g_free(u);
}
