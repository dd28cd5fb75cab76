/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/phases.h"

/* A chain of boundaries in order of time; each pair of neighbours is one phase. The chain is built from the marks that
 * are set, so the phases lie end to end and sum to the total by construction. */
struct chain {
	struct phases *out;
	const struct report *r;
};

static uint64_t usec_of(const struct report *r, enum mark_id m)
{
	return r->marks[m].at / NSEC_PER_USEC;
}

static bool is_set(const struct report *r, enum mark_id m)
{
	return m != MARK_INVALID && mark_is_set(&r->marks[m]);
}

static struct phase *add(struct chain *c, enum phase_id id, enum mark_id from, enum mark_id to)
{
	struct phase *p = &c->out->phase[c->out->n++];

	*p = (struct phase) { .id = id, .from = from, .to = to };
	return p;
}

static void add_known(struct chain *c, enum phase_id id, enum mark_id from, enum mark_id to)
{
	const struct mark *a = &c->r->marks[from], *b = &c->r->marks[to];
	struct phase *p = add(c, id, from, to);

	p->known = true;
	p->usec = usec_of(c->r, to) - usec_of(c->r, from);
	/* A late beginning makes it too short, a late end too long; both late, it may be either. */
	p->lower_bound = (a->flags | b->flags) & MARK_LOWER_BOUND || ((a->flags & MARK_LATE) && !(b->flags & MARK_LATE));
	p->upper_bound = !p->lower_bound && (b->flags & MARK_LATE) && !(a->flags & MARK_LATE);
	if (c->out->first == MARK_INVALID)
		c->out->first = from;
	c->out->last = to;
	c->out->total_known = true;
	c->out->total_usec += p->usec;
}

static void add_missing(struct chain *c, enum phase_id id, enum mark_id from, enum mark_id to, enum missing why)
{
	add(c, id, from, to)->missing = why;
}

/* The phase from "from" to the first of the candidates that is set; *from moves on. Nothing when none is set. */
static bool step(struct chain *c, enum phase_id id, enum mark_id *from, const enum mark_id *to, unsigned n)
{
	if (!is_set(c->r, *from))
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (!is_set(c->r, to[i]))
			continue;
		add_known(c, id, *from, to[i]);
		*from = to[i];
		return true;
	}
	return false;
}

#define STEP(c, id, from, ...) \
	step(c, id, from, (const enum mark_id[]) { __VA_ARGS__ }, \
	     sizeof((const enum mark_id[]) { __VA_ARGS__ }) / sizeof(enum mark_id))

/* A phase that had begun and whose end nothing told: listed, with the reason that its end mark gives. */
static void step_or_say(struct chain *c, enum phase_id id, const enum mark_id *from, bool stepped, enum mark_id to)
{
	if (!stepped && is_set(c->r, *from))
		add_missing(c, id, *from, to, c->r->marks[to].missing);
}

static bool before(const struct report *r, enum mark_id a, enum mark_id b)
{
	return is_set(r, a) && is_set(r, b) && r->marks[a].at < r->marks[b].at;
}

/* Was the guest suspended by somebody before the switchover (which may never have come)? */
static bool suspended_in_precopy(const struct report *r)
{
	return is_set(r, MARK_T1) && (!is_set(r, MARK_TS) || before(r, MARK_T1, MARK_TS));
}

static void source_head(struct chain *c, enum mark_id *at)
{
	*at = is_set(c->r, MARK_TB) ? MARK_TB : MARK_T0;
	if (*at == MARK_TB)
		STEP(c, PHASE_JOB, at, MARK_T0, MARK_T2, MARK_TE);
	if (*at != MARK_T0)
		return;
	if (suspended_in_precopy(c->r)) {
		STEP(c, PHASE_PRECOPY, at, MARK_T1);
		step_or_say(c, PHASE_PAUSED_PRECOPY, at, STEP(c, PHASE_PAUSED_PRECOPY, at, MARK_TS, MARK_T2, MARK_T3, MARK_TE), MARK_T2);
	} else {
		step_or_say(c, PHASE_PRECOPY, at, STEP(c, PHASE_PRECOPY, at, MARK_TS, MARK_T2, MARK_TE), MARK_T2);
	}
}

static bool rolled_back(const struct report *r)
{
	return r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_CANCELLED || r->outcome == OUTCOME_SETUP_FAILED;
}

/* After a rollback the guest still has to run again and to recover; whether it did is measured or said to be missing. */
static void source_tail(struct chain *c, enum mark_id *at)
{
	const struct mark *t4 = &c->r->marks[MARK_T4], *t5 = &c->r->marks[MARK_T5];

	if (!rolled_back(c->r))
		return;
	if (is_set(c->r, MARK_T3)) {
		if (!STEP(c, PHASE_RESUME, at, MARK_T4))
			add_missing(c, PHASE_RESUME, MARK_T3, MARK_T4, t4->missing);
	}
	if (c->r->outcome == OUTCOME_SETUP_FAILED)
		return;
	/* Without a pause it begins where the migration ends. */
	if (!STEP(c, PHASE_RECOVER, at, MARK_T5))
		add_missing(c, PHASE_RECOVER, c->r->paused ? MARK_T4 : MARK_TE, MARK_T5, t5->missing);
}

static bool by_postcopy(const struct report *r)
{
	return r->outcome == OUTCOME_POSTCOPY || r->outcome == OUTCOME_POSTCOPY_RECOVERED || r->outcome == OUTCOME_POSTCOPY_FAILED;
}

static void source_phases(struct chain *c)
{
	enum mark_id at;

	source_head(c, &at);
	if (at == MARK_TS && by_postcopy(c->r))
		STEP(c, PHASE_POSTCOPY, &at, MARK_TE);
	else if (at == MARK_TS)
		step_or_say(c, PHASE_SWITCHOVER, &at, STEP(c, PHASE_SWITCHOVER, &at, MARK_T2, MARK_T3, MARK_TE), MARK_T2);
	if (at == MARK_T2)
		STEP(c, PHASE_ABORT, &at, MARK_T3, MARK_TE);
	source_tail(c, &at);
}

static void destination_phases(struct chain *c)
{
	enum mark_id at = MARK_D0;

	STEP(c, PHASE_INCOMING, &at, MARK_D1, MARK_D2, MARK_TE);
	if (at == MARK_D0)
		at = is_set(c->r, MARK_D1) ? MARK_D1 : MARK_D2;
	if (at == MARK_D1)
		STEP(c, PHASE_RECEIVE, &at, MARK_D2, MARK_TE);
	if (at == MARK_D2)
		step_or_say(c, PHASE_CLEANUP, &at, STEP(c, PHASE_CLEANUP, &at, MARK_D3), MARK_D3);
	if (at == MARK_D3)
		step_or_say(c, PHASE_POOL, &at, STEP(c, PHASE_POOL, &at, MARK_D4), MARK_D4);
}

static enum missing why_no_blackout(const struct report *r)
{
	if (r->side == SIDE_DESTINATION)
		return MISSING_NOT_APPLICABLE;
	if (report_has_note(r, NOTE_PAUSED_BEFORE))
		return MISSING_PAUSED_BEFORE;
	if (by_postcopy(r))
		return MISSING_NOT_APPLICABLE;
	if (r->paused && !is_set(r, MARK_T1))
		return r->marks[MARK_T1].missing;
	if (!r->paused || r->outcome == OUTCOME_COMPLETED)
		return MISSING_NOT_APPLICABLE;
	return MISSING_NOT_SEEN;
}

/* T3 is when the resume is ordered, so without T4 the blackout is at least T3 - T1. */
static void blackout(struct chain *c)
{
	struct phases *o = c->out;
	const struct report *r = c->r;
	enum mark_id end = is_set(r, MARK_T4) ? MARK_T4 : MARK_T3;

	if (r->side != SIDE_DESTINATION && is_set(r, MARK_T1) && is_set(r, end)) {
		o->blackout_known = true;
		o->blackout_usec = usec_of(r, end) - usec_of(r, MARK_T1);
		o->blackout_lower_bound = end == MARK_T3 || ((r->marks[MARK_T1].flags | r->marks[end].flags) & MARK_LOWER_BOUND);
	} else {
		o->blackout_missing = why_no_blackout(r);
	}
}

void phases_compute(const struct report *r, struct phases *ret_)
{
	struct chain c = { .out = ret_, .r = r };

	*ret_ = (struct phases) { .first = MARK_INVALID, .last = MARK_INVALID };
	if (r->side == SIDE_DESTINATION)
		destination_phases(&c);
	else
		source_phases(&c);
	blackout(&c);
}

/* T1 and Ts may come either way round, and Te follows T3 or (no pause) T2: two chains cover every order that must hold. */
static const enum mark_id order_pause[] = { MARK_TB, MARK_T0, MARK_T1, MARK_T2, MARK_T3, MARK_T4, MARK_T5 };
static const enum mark_id order_switchover[] = { MARK_TB, MARK_T0, MARK_TS, MARK_T2, MARK_T3, MARK_TE };
static const enum mark_id order_failed[] = { MARK_D0, MARK_D1, MARK_D2, MARK_D3, MARK_D4 };
static const enum mark_id order_arrived[] = { MARK_D0, MARK_D1, MARK_TE };

static unsigned clamp_chain(struct report *r, const enum mark_id *order, unsigned n)
{
	nsec_t limit = NSEC_INVALID;
	unsigned clamped = 0;

	for (unsigned i = n; i-- > 0;) {
		struct mark *m = &r->marks[order[i]];

		if (!mark_is_set(m))
			continue;
		if (m->at > limit) {
			m->at = limit;
			m->flags |= MARK_CLAMPED;
			clamped++;
		}
		limit = m->at;
	}
	return clamped;
}

#define CLAMP(r, order) clamp_chain(r, order, sizeof(order) / sizeof((order)[0]))

unsigned phases_clamp(struct report *r)
{
	unsigned n = 0, more;

	/* A mark that one chain moves back may come before its predecessor in the other; times only fall, so this ends. */
	do {
		if (r->side == SIDE_DESTINATION)
			more = CLAMP(r, order_failed) + CLAMP(r, order_arrived);
		else
			more = CLAMP(r, order_pause) + CLAMP(r, order_switchover);
		n += more;
	} while (more);
	if (n) {
		r->marks_clamped += n;
		report_note(r, NOTE_MARKS_CLAMPED);
	}
	return n;
}
