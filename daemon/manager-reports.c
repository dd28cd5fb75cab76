/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where reports go: store, bus, journal; and where unfinished ones of an earlier process come from. */

#include <inttypes.h>
#include <stdio.h>

#include "core/migration.h"
#include "core/phases.h"
#include "log.h"
#include "manager-internal.h"
#include "rollbackd/names.h"

static bool is_rollback(const struct report *r)
{
	return r->side == SIDE_SOURCE && (r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_CANCELLED);
}

void manager_changed(struct manager *m)
{
	if (m->bus)
		bus_manager_changed(m->bus);
}

static void say(const struct report *r, int level, const char *id, const char *text)
{
	struct phases p;
	char blackout[32] = "";
	const char *fields[2 * 7 + 1] = {
		RBD_FIELD_DOMAIN_UUID, r->uuid, RBD_FIELD_DOMAIN_NAME, r->name, RBD_FIELD_REPORT_ID, r->id,
		RBD_FIELD_SIDE, side_to_string(r->side), RBD_FIELD_STATE, mig_state_to_string(r->state),
		RBD_FIELD_OUTCOME, outcome_to_string(r->outcome), RBD_FIELD_BLACKOUT_USEC, NULL,
	};

	phases_compute(r, &p);
	if (p.blackout_known) {
		snprintf(blackout, sizeof(blackout), "%" PRIu64, p.blackout_usec);
		fields[13] = blackout;
	}
	log_event(level, id, fields, "%s (%s, %s): %s", r->name, r->uuid, side_to_string(r->side), text);
}

static void say_end(const struct report *r)
{
	struct phases p;
	char text[160];

	phases_compute(r, &p);
	if (p.blackout_known)
		snprintf(text, sizeof(text), "%s ended: %s, blackout %s%" PRIu64 " us, report %s", operation_to_string(r->operation),
			 outcome_to_string(r->outcome), p.blackout_lower_bound ? "at least " : "", p.blackout_usec, r->id);
	else
		snprintf(text, sizeof(text), "%s ended: %s, report %s", operation_to_string(r->operation), outcome_to_string(r->outcome), r->id);
	say(r, is_rollback(r) ? LOG_NOTICE : LOG_INFO, RBD_MSG_MIGRATION_ENDED, text);
}

static void on_began(void *data, struct session *s, const struct report *r)
{
	struct manager *m = data;

	g_ptr_array_add(m->live, s);
	m->migrations++;
	if (report_has_note(r, NOTE_JOINED_LATE))
		m->late_joins++;
	store_put_inflight(m->store, r);
	if (m->bus)
		bus_migration_added(m->bus, r);
	say(r, LOG_INFO, RBD_MSG_MIGRATION_BEGAN, report_has_note(r, NOTE_JOINED_LATE) ? "under way, joined late" : "began");
}

static void on_changed(void *data, struct session *s, const struct report *r)
{
	struct manager *m = data;

	(void) s;
	store_put_inflight(m->store, r);
	if (m->bus)
		bus_migration_changed(m->bus, r);
}

static void on_finished(void *data, struct session *s, const struct report *r)
{
	struct manager *m = data;

	g_ptr_array_remove(m->live, s);
	if (is_rollback(r))
		m->rollbacks++;
	store_put(m->store, r);
	if (m->bus)
		bus_migration_finished(m->bus, r);
	say_end(r);
	manager_sweep_later(m);
}

struct session_outlet manager_outlet(struct manager *m)
{
	return (struct session_outlet) { .began = on_began, .changed = on_changed, .finished = on_finished, .userdata = m };
}

static gboolean is_done(gpointer key, gpointer session, gpointer data)
{
	(void) key;
	(void) data;
	return session_is_done(session);
}

static gboolean on_sweep(gpointer data)
{
	struct manager *m = data;

	m->sweep = 0;
	for (guint i = 0; i < m->uris->len; i++) {
		struct manager_uri *u = g_ptr_array_index(m->uris, i);

		g_hash_table_foreach_remove(u->sessions, is_done, NULL);
	}
	return G_SOURCE_REMOVE;
}

void manager_sweep_later(struct manager *m)
{
	if (!m->sweep && !m->closing)
		m->sweep = g_idle_add(on_sweep, m);
}

/* ---- in flight when an earlier process ended */

static void end_unseen(struct manager *m, const struct report *r, enum cause cause)
{
	struct migration g = { .report = *r };

	report_note(&g.report, NOTE_DAEMON_RESTARTED);
	migration_end_lost(&g, cause);
	store_put(m->store, &g.report);
	say_end(&g.report);
}

static void on_inflight(const struct report *r, void *data)
{
	struct manager *m = data;

	if (g_strcmp0(r->boot_id, m->host.boot_id) != 0)
		end_unseen(m, r, CAUSE_HOST_REBOOTED);
	else if (!manager_uri_find(m, r->uri))
		end_unseen(m, r, CAUSE_NOT_WATCHED);
	else
		g_ptr_array_add(m->adopted, g_memdup2(r, sizeof(*r)));
}

void manager_take_inflight(struct manager *m)
{
	store_take_inflight(m->store, on_inflight, m);
}

void manager_adopt(struct manager_uri *u)
{
	GPtrArray *all = u->manager->adopted;

	for (guint i = all->len; i-- > 0;) {
		struct report *r = g_ptr_array_index(all, i);
		struct session *s;

		if (g_strcmp0(r->uri, u->uri) != 0)
			continue;
		s = manager_uri_session(u, r->uuid, r->name);
		if (session_report(s))
			end_unseen(u->manager, r, CAUSE_SUPERSEDED);
		else
			session_adopt(s, r);
		g_ptr_array_remove_index(all, i);
	}
}

/* ---- the store's troubles */

static void on_trouble(void *data, const char *trouble)
{
	struct manager *m = data;

	if (trouble)
		log_event(LOG_ERR, RBD_MSG_STORE_TROUBLE, NULL, "Reports: %s", trouble);
	else
		log_event(LOG_NOTICE, RBD_MSG_STORE_TROUBLE, NULL, "Reports are written to disk again.");
	manager_changed(m);
}

static void on_set_aside(void *data, const char *file, const char *why)
{
	(void) data;
	log_event(LOG_WARNING, RBD_MSG_REPORT_SET_ASIDE, NULL, "Set aside %s: %s", file, why);
}

struct store_events manager_store_events(struct manager *m)
{
	return (struct store_events) { .trouble = on_trouble, .set_aside = on_set_aside, .userdata = m };
}
