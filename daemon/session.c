/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <string.h>

#include "core/phases.h"
#include "host/hugepages.h"
#include "host/watch.h"
#include "session.h"

/* A report that ends while a look is under way waits this long for what the look finds (driver, backing). */
#define FACTS_PATIENCE_MSEC 1000

/* Without QMP events nothing tells a cancel in pre-copy, so the running guest's job is asked for. */
#define NO_QMP_POLL_MSEC 1000

struct session {
	struct session_host *host;
	struct lv *lv;
	const char *uri;
	char *name;
	char uuid[REPORT_UUID_LEN + 1];
	bool dead;                   /* freed by its owner; a look still holds it */
	bool looking;
	bool ended;                  /* m has ended and waits for facts */
	bool look_again;             /* another look is wanted when this one is over */
	char look_for[REPORT_ID_LEN + 1]; /* the migration that the look is for; "" for none */
	unsigned refs;
	struct track track;
	struct stamp_stream stamps;
	struct migration *m;
	struct watch *watch;         /* destination: QEMU's end */
	guint timer;
	void (*over)(void *userdata);
	void *over_userdata;
};

static void apply(struct session *s, unsigned effects);
static void arm_timer(struct session *s);
static void feed(struct session *s, struct event *ev);
static void finish(struct session *s);

struct session *session_new(struct session_host *host, struct lv *lv, const char *uri, const char *uuid, const char *name)
{
	struct session *s = g_new0(struct session, 1);

	s->host = host;
	s->lv = lv;
	s->uri = uri;
	s->refs = 1;
	s->name = g_strdup(name);
	g_strlcpy(s->uuid, uuid, sizeof(s->uuid));
	s->track.qmp = lv ? lv_qmp_events(lv) : true;
	return s;
}

static void session_unref(struct session *s)
{
	if (--s->refs > 0)
		return;
	g_free(s->name);
	g_free(s);
}

static void stop_timer(struct session *s)
{
	if (s->timer)
		g_source_remove(s->timer);
	s->timer = 0;
}

static void drop_migration(struct session *s)
{
	stop_timer(s);
	s->watch = watch_free(s->watch);
	s->ended = false;
	s->look_again = false;
	g_free(g_steal_pointer(&s->m));
}

void session_give_up(struct session *s)
{
	if (!s->m)
		return;
	if (!s->ended)
		migration_end_lost(s->m, CAUSE_NOT_WATCHED);
	finish(s);
}

struct session *session_free(struct session *s)
{
	if (!s)
		return NULL;
	drop_migration(s);
	s->dead = true;
	session_unref(s);
	return NULL;
}

static struct event event_now(struct session *s, enum event_kind kind, enum stamp_source source)
{
	struct clock_reading now = clock_read(s->host->clock);
	struct event ev = event_at_arrival(kind, source, now.monotonic, now.real_offset);

	ev.clock_stepped = now.stepped;
	return ev;
}

static void finish(struct session *s)
{
	struct report r = s->m->report;

	drop_migration(s);
	s->host->outlet.finished(s->host->outlet.userdata, s, &r);
}

static gboolean on_facts_late(gpointer data)
{
	struct session *s = data;

	s->timer = 0;
	finish(s);
	return G_SOURCE_REMOVE;
}

static void end(struct session *s)
{
	stop_timer(s);
	if (!s->looking) {
		finish(s);
		return;
	}
	s->ended = true;
	s->timer = g_timeout_add(FACTS_PATIENCE_MSEC, on_facts_late, s);
}

/* Watching QEMU's end needs its pid, which a look finds. */
static void watch_exited(void *data)
{
	struct session *s = data;
	struct event ev = event_now(s, EVENT_PROCESS_EXITED, STAMP_KERNEL);

	feed(s, &ev);
}

static void watch_pool_back(bool back, void *data)
{
	struct session *s = data;
	struct event ev = event_now(s, back ? EVENT_POOL_BACK : EVENT_POOL_UNKNOWN, STAMP_KERNEL);

	feed(s, &ev);
}

static void watch_process(struct session *s)
{
	const struct watch_events events = { .exited = watch_exited, .pool = watch_pool_back, .userdata = s };
	const struct backing *b = &s->m->report.backing;
	uint64_t page_size = 0, bytes;

	if (s->watch || s->ended || s->m->report.side != SIDE_DESTINATION || b->pid <= 0)
		return;
	hugepages_of(b, &page_size, &bytes);
	if (watch_new(b->pid, page_size, s->host->proc, s->host->sysfs, &events, &s->watch) == 0)
		watch_sample(s->watch);
}

/* A look that is to decide and failed is tried again later: nothing else may ever come. */
static void look_later(struct session *s)
{
	if (!s->m->undecided || s->m->deadline != NSEC_INVALID)
		return;
	s->m->deadline = clock_monotonic() + s->host->left_paused_after;
	arm_timer(s);
}

static void look_done(const struct context *c, const char *uuid, void *data)
{
	struct session *s = data;
	void (*over)(void *) = s->over;
	bool again = s->look_again;

	(void) uuid;
	s->over = NULL;
	s->looking = false;
	s->look_again = false;
	/* What was found of a migration that is over by now must not pass for the begin of another. */
	if (s->look_for[0] && (!s->m || strcmp(s->look_for, s->m->report.id) != 0))
		c = NULL;
	if (!s->dead && s->ended) {
		if (c)
			migration_take_facts(&s->m->report, c);
		finish(s);
	} else if (!s->dead) {
		if (c) {
			struct event ev = event_now(s, EVENT_CONTEXT, STAMP_JOB);

			ev.context = c;
			feed(s, &ev);
		} else if (s->m) {
			look_later(s);
		}
		if (s->m && again && !s->looking)
			apply(s, MIGRATION_LOOK);
	}
	if (over)
		over(s->over_userdata);
	session_unref(s);
}

static int look(struct session *s, unsigned flags)
{
	enum side side = s->m ? s->m->report.side : SIDE_UNKNOWN;
	int r;

	if (!s->lv)
		return -ENOTCONN;
	s->refs++;
	s->looking = true;
	g_strlcpy(s->look_for, s->m ? s->m->report.id : "", sizeof(s->look_for));
	r = lv_look(s->lv, s->uuid, s->name, side, flags, look_done, s);
	if (r < 0) {
		s->looking = false;
		session_unref(s);
	}
	return r;
}

static bool said_last_word(enum mig_state state)
{
	return state == MIG_HANDOVER || state == MIG_FAILED || state == MIG_CANCELLED;
}

static void want_look(struct session *s)
{
	if (s->looking)
		s->look_again = true;
	else if (look(s, LV_LOOK_DEEP | (said_last_word(s->m->report.state) ? LV_LOOK_OVER : 0)) < 0)
		look_later(s);
}

static gboolean on_timer(gpointer data)
{
	struct session *s = data;
	struct event ev = event_now(s, EVENT_TIMEOUT, STAMP_KERNEL);

	s->timer = 0;
	if (!s->m->qmp && s->m->running && !s->looking)
		look(s, 0);
	feed(s, &ev);
	return G_SOURCE_REMOVE;
}

static void arm_timer(struct session *s)
{
	nsec_t now = clock_monotonic();
	guint msec;

	stop_timer(s);
	if (!s->m->qmp && s->m->running)
		msec = NO_QMP_POLL_MSEC;
	else if (s->m->deadline != NSEC_INVALID)
		msec = s->m->deadline > now ? (guint) ((s->m->deadline - now) / NSEC_PER_MSEC) + 1 : 0;
	else
		return;
	s->timer = g_timeout_add(msec, on_timer, s);
}

static void watch_pool_now(struct session *s)
{
	struct event ev;

	if (s->watch) {
		watch_pool(s->watch);
		return;
	}
	ev = event_now(s, EVENT_POOL_UNKNOWN, STAMP_KERNEL);
	feed(s, &ev);
}

/* May end the migration: s->m is not to be used after it. */
static void apply(struct session *s, unsigned effects)
{
	if (effects & MIGRATION_ENDED) {
		end(s);
		return;
	}
	if (s->watch && s->m->report.state == MIG_FAILED)
		watch_sample(s->watch);
	watch_process(s);
	if (effects & MIGRATION_LOOK)
		want_look(s);
	if (effects & MIGRATION_CHANGED)
		s->host->outlet.changed(s->host->outlet.userdata, s, &s->m->report);
	arm_timer(s);
	if (effects & MIGRATION_WATCH_POOL)
		watch_pool_now(s);
}

static void fill_identity(struct session *s)
{
	struct report *r = &s->m->report;

	report_set_id(r, s->host->random());
	g_strlcpy(r->uuid, s->uuid, sizeof(r->uuid));
	report_copy_text(r->name, sizeof(r->name), s->name);
	report_copy_text(r->uri, sizeof(r->uri), s->uri);
	g_strlcpy(r->boot_id, s->host->boot_id, sizeof(r->boot_id));
	g_strlcpy(r->kernel, s->host->kernel, sizeof(r->kernel));
	g_strlcpy(r->arch, s->host->arch, sizeof(r->arch));
	r->page_size = s->host->page_size;
	if (s->lv)
		r->libvirt_version = lv_libvirt_version(s->lv);
	g_strlcpy(r->backend, "none", sizeof(r->backend));
	g_strlcpy(r->backend_reason, "this version observes only", sizeof(r->backend_reason));
}

static void begin(struct session *s, const struct event *ev)
{
	s->m = g_new0(struct migration, 1);
	migration_begin(s->m, &s->track, ev, s->host->left_paused_after);
	fill_identity(s);
}

/* The next migration began before this one was seen to end. */
static void supersede(struct session *s)
{
	migration_end_lost(s->m, CAUSE_SUPERSEDED);
	finish(s);
}

static void feed(struct session *s, struct event *ev)
{
	bool live = s->m && !s->ended;
	enum track_verdict v = track_feed(&s->track, ev, live ? s->m->report.state : MIG_STATE_INVALID);
	bool began = v == TRACK_BEGIN || v == TRACK_SUPERSEDE;
	unsigned effects;

	if (v == TRACK_NOTHING)
		return;
	if (began && s->ended)
		finish(s); /* the one before still waited for its facts */
	else if (v == TRACK_SUPERSEDE)
		supersede(s);
	if (began)
		begin(s, ev);
	effects = migration_feed(s->m, &s->track, ev);
	if (began)
		s->host->outlet.began(s->host->outlet.userdata, s, &s->m->report);
	apply(s, effects);
}

static void rename_to(struct session *s, const char *name)
{
	if (!name[0] || g_strcmp0(s->name, name) == 0)
		return;
	if (s->name[0] && s->m)
		report_note(&s->m->report, NOTE_DOMAIN_RENAMED);
	g_free(s->name);
	s->name = g_strdup(name);
}

void session_event(struct session *s, const char *name, struct event *ev)
{
	rename_to(s, name);
	feed(s, ev);
}

void session_qmp(struct session *s, const char *name, struct event *ev, long long seconds, unsigned micros)
{
	clockmap_stamp(&s->host->clock->map, &s->stamps, seconds, micros, ev);
	session_event(s, name, ev);
}

static void connection_up(struct session *s, bool qmp)
{
	struct event ev = event_now(s, EVENT_CONNECTION_UP, STAMP_KERNEL);

	ev.qmp = qmp;
	feed(s, &ev);
}

void session_listed(struct session *s, const struct lv_listed *l, bool qmp)
{
	struct context c;
	struct event ev = event_now(s, EVENT_CONTEXT, STAMP_JOB);

	rename_to(s, l->name);
	connection_up(s, qmp);
	if (s->m)
		return; /* its own look decides */
	context_init(&c);
	c.run = l->run;
	ev.context = &c;
	feed(s, &ev);
}

void session_missing(struct session *s, bool qmp)
{
	struct event ev = event_now(s, EVENT_MISSING, STAMP_KERNEL);

	s->track.qmp = qmp;
	s->track.run = RUN_OFF;
	if (s->m && !s->ended)
		feed(s, &ev);
}

void session_connection_lost(struct session *s)
{
	struct event ev = event_now(s, EVENT_CONNECTION_LOST, STAMP_KERNEL);

	if (s->m && !s->ended)
		feed(s, &ev);
}

void session_adopt(struct session *s, const struct report *r)
{
	if (s->m)
		return;
	s->m = g_new0(struct migration, 1);
	migration_adopt(s->m, r, clock_monotonic(), s->host->left_paused_after);
	s->host->outlet.began(s->host->outlet.userdata, s, &s->m->report);
}

bool session_look_for_work(struct session *s, void (*over)(void *userdata), void *userdata)
{
	if (s->m || s->looking)
		return false;
	s->over = over;
	s->over_userdata = userdata;
	if (look(s, s->track.run == RUN_PAUSED ? LV_LOOK_DEEP : 0) == 0)
		return true;
	s->over = NULL;
	return false;
}

const char *session_uuid(const struct session *s)
{
	return s->uuid;
}

const char *session_name(const struct session *s)
{
	return s->name;
}

const struct report *session_report(const struct session *s)
{
	return s->m ? &s->m->report : NULL;
}

bool session_is_done(const struct session *s)
{
	return !s->m && s->track.run == RUN_OFF;
}

int session_ask_progress(struct session *s, void (*done)(int r, const struct lv_progress *p, void *userdata), void *userdata)
{
	if (!s->m || !s->lv || !s->m->running)
		return -EAGAIN;
	return lv_ask_progress(s->lv, s->uuid, done, userdata);
}
