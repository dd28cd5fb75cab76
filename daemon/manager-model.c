/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the bus shows of the daemon. */

#include <errno.h>

#include "manager-internal.h"

static const char *state_word(const struct lv *lv)
{
	switch (lv_get_state(lv)) {
	case LV_CONNECTING:
		return "connecting";
	case LV_UP:
		return "up";
	case LV_DOWN:
		break;
	}
	return "down";
}

static unsigned connections(void *data, struct model_connection *ret_, unsigned max)
{
	struct manager *m = data;
	unsigned n = 0;

	for (guint i = 0; i < m->uris->len; i++) {
		struct manager_uri *u = g_ptr_array_index(m->uris, i);

		if (n < max)
			ret_[n] = (struct model_connection) {
				.uri = u->uri,
				.state = u->lv ? state_word(u->lv) : "up",
				.detail = u->lv ? lv_detail(u->lv) : "a recording",
				.qmp_events = !u->lv || lv_qmp_events(u->lv),
				.libvirt_version = u->lv ? lv_libvirt_version(u->lv) : 0,
				.domains = g_hash_table_size(u->sessions),
			};
		n++;
	}
	return n;
}

static unsigned counters(void *data, struct model_counter *ret_, unsigned max)
{
	struct manager *m = data;
	struct pool_counters calls;
	struct store_counters store;
	unsigned n = 0;

	pool_get_counters(m->calls, &calls);
	store_get_counters(m->store, &store);
	const struct model_counter all[] = {
		{ "Events", m->events },
		{ "Migrations", m->migrations },
		{ "MigrationsLive", m->live->len },
		{ "Rollbacks", m->rollbacks },
		{ "LateJoins", m->late_joins },
		{ "CallsFinished", calls.finished },
		{ "CallsTimedOut", calls.timed_out },
		{ "CallsStuck", calls.stuck },
		{ "Reports", store.reports },
		{ "ReportBytes", store.bytes },
		{ "ReportsPending", store.pending },
		{ "ReportsWritten", store.written },
		{ "ReportsDropped", store.dropped },
		{ "ReportsPruned", store.pruned },
		{ "ReportsSetAside", store.set_aside },
		{ "ReportWriteFailures", store.write_failures },
	};

	for (; n < G_N_ELEMENTS(all); n++)
		if (n < max)
			ret_[n] = all[n];
	return n;
}

/* A few at any time: a host's evacuation at most. */
static struct session *find_live(struct manager *m, const char *id)
{
	for (guint i = 0; i < m->live->len; i++) {
		struct session *s = g_ptr_array_index(m->live, i);

		if (g_strcmp0(session_report(s)->id, id) == 0)
			return s;
	}
	return NULL;
}

static const struct report *live_nth(void *data, unsigned n)
{
	struct manager *m = data;

	return n < m->live->len ? session_report(g_ptr_array_index(m->live, n)) : NULL;
}

static const struct report *live_find(void *data, const char *id)
{
	struct session *s = find_live(data, id);

	return s ? session_report(s) : NULL;
}

struct progress_reply {
	void (*done)(int r, const struct model_progress *p, void *userdata);
	void *userdata;
};

static void progress_done(int r, const struct lv_progress *p, void *data)
{
	struct progress_reply *reply = data;
	struct model_progress out = { 0 };

	if (p)
		out = (struct model_progress) { .processed_bytes = p->processed, .remaining_bytes = p->remaining, .total_bytes = p->total };
	reply->done(r, &out, reply->userdata);
	g_free(reply);
}

static int progress(void *data, const char *id, void (*done)(int r, const struct model_progress *p, void *userdata), void *userdata)
{
	struct session *s = find_live(data, id);
	struct progress_reply *reply;
	int r;

	if (!s)
		return -ENOENT;
	reply = g_new(struct progress_reply, 1);
	*reply = (struct progress_reply) { .done = done, .userdata = userdata };
	r = session_ask_progress(s, progress_done, reply);
	if (r < 0)
		g_free(reply);
	return r;
}

void manager_model_init(struct manager *m)
{
	m->model = (struct model) {
		.store = m->store,
		.userdata = m,
		.connections = connections,
		.counters = counters,
		.live_nth = live_nth,
		.live_find = live_find,
		.progress = progress,
		.backend = "none",
		.backend_reason = "this version observes only",
		.act = "no",
	};
}
