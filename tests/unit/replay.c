/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "core/clockmap.h"
#include "core/track.h"
#include "host/qmp.h"
#include "replay.h"

/* libvirt's ABI, written down apart from the daemon's own tables. */
enum { STATE_RUNNING = 1, STATE_PAUSED = 3, STATE_SHUTOFF = 5, PAUSED_MIGRATION = 2 };
static const enum operation operations[] = {
	OP_UNKNOWN, OP_UNKNOWN, OP_SAVE, OP_RESTORE, OP_MIGRATION, OP_MIGRATION, OP_SNAPSHOT, OP_SNAPSHOT, OP_DUMP,
};

static int64_t number(struct json_object *o, const char *key, int64_t absent)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v) : absent;
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

static bool load_qmp(struct json_object *o, struct recorded *r)
{
	struct json_object *data = NULL;

	json_object_object_get_ex(o, "data", &data);
	r->is_qmp = true;
	r->seconds = number(o, "sec", -1);
	r->micros = (unsigned) number(o, "usec", 0);
	return qmp_decode(text(o, "event"), data ? json_object_to_json_string(data) : NULL, &r->ev) == 0;
}

static void load_state(struct json_object *o, struct recorded *r)
{
	int64_t state = number(o, "state", 0), reason = number(o, "reason", 0);

	r->listed = true;
	context_init(&r->context);
	r->context.run = state == STATE_RUNNING ? RUN_RUNNING : state == STATE_PAUSED ? RUN_PAUSED : state == STATE_SHUTOFF ? RUN_OFF : RUN_UNKNOWN;
	r->context.paused_by_migration = state == STATE_PAUSED && reason == PAUSED_MIGRATION;
}

static bool load_job(struct json_object *o, struct recorded *r)
{
	int64_t operation = number(o, "operation", -1);

	context_init(&r->context);
	r->context.run = RUN_RUNNING;
	if (operation < 0 || operation >= (int64_t) G_N_ELEMENTS(operations))
		return false;
	r->context.job = JOB_ACTIVE;
	r->context.operation = operations[operation];
	return true;
}

static bool load_event(struct json_object *o, struct recorded *r)
{
	const char *kind = text(o, "kind");
	nsec_t mono = (nsec_t) number(o, "mono_ns", 0);

	r->real = (nsec_t) number(o, "real_us", 0) * NSEC_PER_USEC;
	g_strlcpy(r->uuid, text(o, "uuid"), sizeof(r->uuid));
	g_strlcpy(r->name, text(o, "name"), sizeof(r->name));
	r->ev = event_at_arrival(EVENT_CONTEXT, STAMP_LIFECYCLE, mono, r->real - mono);
	if (strcmp(kind, "qmp") == 0)
		return load_qmp(o, r);
	if (strcmp(kind, "state") == 0) {
		load_state(o, r);
		return true;
	}
	if (strcmp(kind, "job-info") == 0)
		return load_job(o, r);
	if (strcmp(kind, "lifecycle") == 0) {
		r->ev.kind = EVENT_LIFECYCLE;
		r->ev.lifecycle.event = (int) number(o, "event", -1);
		r->ev.lifecycle.detail = (int) number(o, "detail", -1);
	} else if (strcmp(kind, "iteration") == 0) {
		r->ev.kind = EVENT_ITERATION;
		r->ev.iteration = (uint32_t) number(o, "iteration", 0);
	} else if (strcmp(kind, "job-completed") == 0) {
		r->ev.kind = EVENT_JOB_COMPLETED;
	} else if (strcmp(kind, "connection") == 0) {
		r->ev.kind = strcmp(text(o, "state"), "up") == 0 ? EVENT_CONNECTION_UP : EVENT_CONNECTION_LOST;
		r->ev.qmp = true;
	} else {
		return false;
	}
	return true;
}

GArray *recording_load(const char *path)
{
	GArray *a = g_array_new(FALSE, TRUE, sizeof(struct recorded));
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t size = 0;

	if (!f)
		g_error("%s: cannot be opened", path);
	while (getline(&line, &size, f) >= 0) {
		struct json_object *o = json_tokener_parse(line);
		struct recorded r = { 0 };

		if (!o)
			g_error("%s: not JSON: %s", path, line);
		if (load_event(o, &r))
			g_array_append_val(a, r);
		json_object_put(o);
	}
	free(line);
	fclose(f);
	for (guint i = 0; i < a->len; i++) {
		struct recorded *r = &g_array_index(a, struct recorded, i);

		if (r->ev.kind == EVENT_CONTEXT)
			r->ev.context = &r->context;
	}
	return a;
}

struct player {
	struct clockmap map;
	struct stamp_stream stamps;
	struct track track;
	struct migration m;
	bool live;
	GArray *reports;
};

static void play_event(struct player *p, struct event *ev);

static void look(struct player *p, const struct event *at)
{
	struct event ev = event_at_arrival(EVENT_CONTEXT, STAMP_JOB, at->arrival, at->real_offset);
	struct context c;

	if (!p->m.undecided)
		return; /* facts only: the recording's own job-info line brings them */
	context_init(&c);
	c.run = p->track.run;
	c.job = c.run == RUN_RUNNING ? JOB_NONE : JOB_UNKNOWN;
	c.paused_by_migration = c.run == RUN_PAUSED;
	ev.context = &c;
	play_event(p, &ev);
}

static void play_event(struct player *p, struct event *ev)
{
	enum track_verdict v = track_feed(&p->track, ev, p->live ? p->m.report.state : MIG_STATE_INVALID);
	unsigned effects;

	if (v == TRACK_NOTHING)
		return;
	if (v == TRACK_SUPERSEDE) {
		migration_end_lost(&p->m, CAUSE_SUPERSEDED);
		g_array_append_val(p->reports, p->m.report);
	}
	if (v != TRACK_CONTINUE)
		migration_begin(&p->m, &p->track, ev, 30 * NSEC_PER_SEC);
	p->live = true;
	effects = migration_feed(&p->m, &p->track, ev);
	if (effects & MIGRATION_ENDED) {
		g_array_append_val(p->reports, p->m.report);
		p->live = false;
	} else if (effects & MIGRATION_LOOK) {
		look(p, ev);
	}
}

static void play_recorded(struct player *p, const struct recorded *r)
{
	struct event ev = r->ev;

	ev.clock_stepped = clockmap_update(&p->map, ev.arrival, r->real);
	ev.real_offset = p->map.offset;
	if (r->is_qmp)
		clockmap_stamp(&p->map, &p->stamps, r->seconds, r->micros, &ev);
	if (r->listed && p->live)
		p->track.run = r->context.run; /* as session_listed(): the migration's own look decides */
	else
		play_event(p, &ev);
}

GArray *recording_play(GArray *recording, const char *uuid)
{
	struct player p = { .reports = g_array_new(FALSE, FALSE, sizeof(struct report)) };

	for (guint i = 0; i < recording->len; i++) {
		const struct recorded *r = &g_array_index(recording, struct recorded, i);

		if (!uuid || !r->uuid[0] || strcmp(r->uuid, uuid) == 0)
			play_recorded(&p, r);
	}
	if (p.live)
		g_array_append_val(p.reports, p.m.report);
	return p.reports;
}
