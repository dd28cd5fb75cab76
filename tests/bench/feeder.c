/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus-internal.h"
#include "feeder.h"
#include "manager-internal.h"
#include "shared.h"
#include "subscriber.h"

#define PATIENCE     (60 * (int64_t) NSEC_PER_SEC)
#define MEMORY_EVERY 8 /* events between two looks at RssAnon */

struct planned {
	int64_t due;
	unsigned rollback, step;
};

struct feeder {
	struct manager *manager;
	const struct sequences *sequences;
	unsigned domains;
	GSource *source;
	struct round *round;     /* NULL between rounds */
	unsigned n, next;        /* plan */
	unsigned ended, handed;  /* samples, in order of their ends */
	const char *wrong;       /* a sequence that did not end at its last event */
	unsigned order[ROLLBACKS_MAX];
	struct planned plan[ROLLBACKS_MAX * STEPS_MAX];
};

static const struct sequence *sequence_of(const struct feeder *f, unsigned rollback)
{
	return &f->sequences->sequence[rollback % f->sequences->n];
}

static bool socket_has_all(const struct feeder *f)
{
	uint64_t queued;

	return sd_bus_get_n_queued_write(f->manager->bus->conn, &queued) >= 0 && queued == 0;
}

/* An upper bound: what was written earlier than the queue's end has to wait for it here. */
static void note_handed(struct feeder *f)
{
	int64_t now = now_ns();
	uint64_t preemptions;

	if (f->handed == f->ended || !socket_has_all(f))
		return;
	preemptions = thread_preemptions();
	while (f->handed < f->ended) {
		struct sample *s = &f->round->sample[f->order[f->handed++]];

		s->handed = now;
		s->preempted = s->preemptions != preemptions;
	}
}

static void feed(struct feeder *f, unsigned domain, const struct step *s)
{
	struct clock_reading now = clock_read(&f->manager->clock);
	struct event ev = s->ev, fresh = event_at_arrival(ev.kind, ev.source, now.monotonic, now.real_offset);
	nsec_t real = now.monotonic + now.real_offset;
	char uuid[REPORT_UUID_LEN + 1], name[32];

	snprintf(uuid, sizeof(uuid), UUID_FORMAT, domain);
	snprintf(name, sizeof(name), "guest%u", domain);
	ev.at = fresh.at;
	ev.arrival = fresh.arrival;
	ev.real_offset = fresh.real_offset;
	ev.clock_stepped = now.stepped;
	if (ev.kind == EVENT_CONTEXT)
		ev.context = &s->context;
	if (s->is_qmp)
		manager_feed_qmp(f->manager, FEED_URI, uuid, name, &ev, (long long) (real / NSEC_PER_SEC), (unsigned) (real % NSEC_PER_SEC / 1000));
	else
		manager_feed_event(f->manager, FEED_URI, uuid, name, &ev);
}

static bool is_live(const struct feeder *f, unsigned domain)
{
	struct manager_uri *u = manager_uri_find(f->manager, FEED_URI);
	char uuid[REPORT_UUID_LEN + 1];
	struct session *s;

	snprintf(uuid, sizeof(uuid), UUID_FORMAT, domain);
	s = g_hash_table_lookup(u->sessions, uuid);
	return s && session_report(s);
}

static void feed_last(struct feeder *f, unsigned rollback, const struct step *s, int64_t *burst)
{
	struct sample *sample = &f->round->sample[rollback];
	int64_t cpu;

	sample->domain = (f->round->first_domain + rollback) % f->domains;
	f->order[f->ended++] = rollback;
	if (!is_live(f, sample->domain))
		f->wrong = sequence_of(f, rollback)->name;
	sample->preemptions = thread_preemptions();
	cpu = thread_cpu_ns();
	sample->fed = now_ns();
	feed(f, sample->domain, s);
	sample->cpu = thread_cpu_ns() - cpu;
	note_handed(f);
	if (*burst == 0)
		*burst = sample->fed;
	sample->burst = *burst;
	if (is_live(f, sample->domain))
		f->wrong = sequence_of(f, rollback)->name;
}

static gboolean on_due(gpointer data)
{
	struct feeder *f = data;
	int64_t burst = 0, turn = now_ns();

	for (; f->next < f->n && f->plan[f->next].due <= turn; f->next++) {
		const struct planned *p = &f->plan[f->next];
		const struct sequence *s = sequence_of(f, p->rollback);

		if (p->step == s->last)
			feed_last(f, p->rollback, &s->step[p->step], &burst);
		else
			feed(f, (f->round->first_domain + p->rollback) % f->domains, &s->step[p->step]);
		if (f->round->watch_memory && f->next % MEMORY_EVERY == 0)
			f->round->rss_max = MAX(f->round->rss_max, rss_anon());
	}
	if (f->next < f->n)
		g_source_set_ready_time(f->source, f->plan[f->next].due / 1000 + 1);
	else
		g_source_set_ready_time(f->source, -1);
	return G_SOURCE_CONTINUE;
}

/* Looks each turn of the loop, just before it sleeps, at what sd-bus still holds. */
static gboolean on_prepare(GSource *source, gint *ret_timeout)
{
	struct feeder *f = *(struct feeder **) (source + 1);

	*ret_timeout = -1;
	if (f->round)
		note_handed(f);
	return FALSE;
}

static gboolean on_dispatch(GSource *source, GSourceFunc callback, gpointer data)
{
	(void) source;
	return callback(data);
}

static GSourceFuncs functions = { .prepare = on_prepare, .dispatch = on_dispatch };

struct feeder *feeder_new(struct manager *m, const struct sequences *sequences, unsigned domains)
{
	struct feeder *f = shared_new(sizeof(*f));

	f->manager = m;
	f->sequences = sequences;
	f->domains = domains;
	f->source = g_source_new(&functions, sizeof(GSource) + sizeof(f));
	memcpy(f->source + 1, &f, sizeof(f));
	g_source_set_callback(f->source, on_due, f, NULL);
	g_source_attach(f->source, NULL);
	return f;
}

void feeder_free(struct feeder *f)
{
	g_source_destroy(f->source);
	g_source_unref(f->source);
}

void feeder_list_domains(struct feeder *f)
{
	struct step there = { .ev = { .kind = EVENT_CONTEXT, .source = STAMP_JOB } };

	context_init(&there.context);
	there.context.run = RUN_RUNNING;
	for (unsigned i = 0; i < f->domains; i++)
		feed(f, i, &there);
}

static int by_due(const void *a, const void *b)
{
	const struct planned *x = a, *y = b;

	if (x->due != y->due)
		return x->due < y->due ? -1 : 1;
	if (x->rollback != y->rollback)
		return x->rollback < y->rollback ? -1 : 1;
	return x->step < y->step ? -1 : x->step > y->step;
}

/* Each rollback is squeezed or stretched so that they begin one after the other in the first half and end as asked. */
static void plan_rollback(struct feeder *f, unsigned rollback, int64_t begin)
{
	const struct round *r = f->round;
	const struct sequence *s = sequence_of(f, rollback);
	int64_t first = begin + r->length / 2 * rollback / r->rollbacks;
	int64_t end = begin + r->length + r->apart * rollback;
	double scale = (double) (end - first) / (double) -s->step[0].offset;

	for (unsigned i = 0; i < s->n; i++)
		f->plan[f->n++] = (struct planned) {
			.due = end + (int64_t) ((double) s->step[i].offset * scale), .rollback = rollback, .step = i,
		};
}

static bool is_right(const struct feeder *f)
{
	if (f->next < f->n || f->handed < f->ended)
		fprintf(stderr, "bench: a round did not end within a minute\n");
	else if (f->wrong)
		fprintf(stderr, "bench: %s: the report is not complete at the event at which it is in the recording\n", f->wrong);
	else
		return true;
	return false;
}

static bool is_over(const struct feeder *f)
{
	return f->next == f->n && f->handed == f->ended;
}

bool feeder_play(struct feeder *f, struct round *round)
{
	int64_t begin = now_ns() + 10 * (int64_t) NSEC_PER_MSEC;

	f->round = round;
	f->n = f->next = f->ended = f->handed = 0;
	for (unsigned i = 0; i < round->rollbacks; i++)
		plan_rollback(f, i, begin);
	qsort(f->plan, f->n, sizeof(f->plan[0]), by_due);
	round->events = f->n;
	g_source_set_ready_time(f->source, f->plan[0].due / 1000 + 1);
	while (!is_over(f) && now_ns() < begin + round->length + PATIENCE)
		g_main_context_iteration(NULL, TRUE);
	f->round = NULL;
	return is_right(f);
}
