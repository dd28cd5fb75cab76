/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Any sequence of events: four bytes each, kind, detail, detail, time. Whatever comes, the machine must keep its promises. */

#include <stdint.h>
#include <stdlib.h>

#include "core/clockmap.h"
#include "core/migration.h"
#include "core/phases.h"
#include "core/track.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define PATIENCE (30 * NSEC_PER_SEC)

struct player {
	struct clockmap map;
	struct stamp_stream stamps;
	struct track track;
	struct migration m;
	bool live;
	nsec_t now;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check(const struct report *r)
{
	struct phases p;
	uint64_t sum = 0;

	phases_compute(r, &p);
	must(p.n <= PHASE_MAX);
	for (unsigned i = 0; i < p.n; i++)
		sum += p.phase[i].known ? p.phase[i].usec : 0;
	must(sum == p.total_usec);
	must(!p.total_known || p.total_usec == r->marks[p.last].at / 1000 - r->marks[p.first].at / 1000);
	must(r->timeline_n <= REPORT_TIMELINE_MAX);
	must(mig_state_to_string(r->state) && outcome_to_string(r->outcome) && cause_to_string(r->cause));
}

static void feed(struct player *p, struct event *ev)
{
	enum track_verdict v = track_feed(&p->track, ev, p->live ? p->m.report.state : MIG_STATE_INVALID);
	unsigned effects;

	if (v == TRACK_NOTHING)
		return;
	if (v == TRACK_SUPERSEDE) {
		migration_end_lost(&p->m, CAUSE_SUPERSEDED);
		check(&p->m.report);
	}
	if (v != TRACK_CONTINUE)
		migration_begin(&p->m, &p->track, ev, PATIENCE);
	p->live = true;
	effects = migration_feed(&p->m, &p->track, ev);
	must(!(effects & MIGRATION_ENDED) == !mig_state_is_end(p->m.report.state));
	migration_phase(&p->m.report);
	if (!(effects & MIGRATION_ENDED))
		return;
	must(p->m.report.outcome != OUTCOME_NONE);
	check(&p->m.report);
	p->live = false;
	if (effects & MIGRATION_WATCH_POOL) /* a report of this boot may be taken over by the next process */
		migration_adopt(&p->m, &p->m.report, p->now, PATIENCE);
}

static void fill(struct event *ev, struct context *c, uint8_t a, uint8_t b)
{
	if (ev->kind == EVENT_QMP_MIGRATION)
		ev->status = (enum qmp_status) (a % (QMP_STATUS_MAX + 1));
	if (ev->kind == EVENT_QMP_PASS || ev->kind == EVENT_ITERATION)
		ev->iteration = a;
	if (ev->kind == EVENT_LIFECYCLE) {
		ev->lifecycle.event = (int8_t) a;
		ev->lifecycle.detail = (int8_t) b;
	}
	if (ev->kind == EVENT_CONNECTION_UP)
		ev->qmp = a & 1;
	if (ev->kind == EVENT_CONTEXT) {
		context_init(c);
		c->run = (enum run_state) (a & 3);
		c->job = (enum job_state) ((a >> 2) % 3);
		c->paused_by_migration = a & 0x10;
		c->incoming = a & 0x20;
		c->operation = (enum operation) (b % OP_MAX);
		c->job_elapsed = b & 0x80 ? NSEC_INVALID : (nsec_t) b * NSEC_PER_SEC;
		ev->context = c;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct player p; /* a report is large for a stack */

	p = (struct player) { .now = 1000 * NSEC_PER_SEC };
	for (; size >= 4; data += 4, size -= 4) {
		struct context c;
		struct event ev;
		nsec_t real;

		p.now += (nsec_t) data[3] * NSEC_PER_MSEC * 40;
		real = p.now + 1800000000 * NSEC_PER_SEC;
		if (data[0] & 0x80) /* somebody steps the wall clock */
			real += 3600 * NSEC_PER_SEC;
		ev = event_at_arrival((enum event_kind) ((data[0] & 0x7f) % EVENT_KIND_MAX), STAMP_LIFECYCLE, p.now, 0);
		ev.clock_stepped = clockmap_update(&p.map, p.now, real);
		ev.real_offset = p.map.offset;
		fill(&ev, &c, data[1], data[2]);
		if (ev.kind <= EVENT_QMP_UNKNOWN)
			clockmap_stamp(&p.map, &p.stamps, (long long) (real / NSEC_PER_SEC) - data[2] % 8, data[2], &ev);
		feed(&p, &ev);
	}
	return 0;
}
