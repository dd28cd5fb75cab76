/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What each event means for a migration on either side. All changes of state go through set_state(), all marks through
 * mark(), every end through end(). Source and destination are two files: core/migration-source.c, -destination.c. */

#include "core/migration-internal.h"
#include "core/phases.h"

/* QEMU may resume the guest before it says cancelled or failed; if it never says, this is how long we wait for it. */
#define WORD_PATIENCE (5 * NSEC_PER_SEC)

unsigned migration_set_state(struct migration *m, enum mig_state state)
{
	if (m->report.state == state)
		return 0;
	m->report.state = state;
	return MIGRATION_CHANGED;
}

unsigned migration_mark_at(struct migration *m, enum mark_id id, nsec_t at, enum stamp_source source, nsec_t resolution)
{
	struct mark *k = &m->report.marks[id];

	if (mark_is_set(k))
		return 0;
	*k = (struct mark) { .at = at, .source = source, .resolution = resolution };
	/* Everything but QEMU's stamp and libvirt's own count comes after the fact, by an unknown amount. */
	if (source != STAMP_QMP && source != STAMP_JOB)
		k->flags = MARK_LATE;
	return MIGRATION_CHANGED;
}

unsigned migration_mark(struct migration *m, enum mark_id id, const struct event *ev)
{
	return migration_mark_at(m, id, ev->at, ev->source, ev->resolution);
}

unsigned migration_mark_same(struct migration *m, enum mark_id id, enum mark_id as)
{
	const struct mark *k = &m->report.marks[as];

	return mark_is_set(k) ? migration_mark_at(m, id, k->at, k->source, k->resolution) : 0;
}

unsigned migration_infer(struct migration *m, enum mark_id id, enum mark_id before, enum mark_id after)
{
	const struct mark *a = &m->report.marks[before], *b = &m->report.marks[after];
	nsec_t span = mark_is_set(a) && mark_is_set(b) && b->at > a->at ? b->at - a->at : NSEC_PER_SEC;

	return mark_is_set(b) ? migration_mark_at(m, id, b->at, STAMP_INFERRED, span) : 0;
}

void migration_unmark(struct migration *m, enum mark_id id)
{
	m->report.marks[id] = (struct mark) { .at = NSEC_INVALID };
}

void migration_wait(struct migration *m, const struct event *ev, nsec_t patience)
{
	m->deadline = ev->arrival + patience;
}

void migration_wait_for_word(struct migration *m, const struct event *ev)
{
	migration_wait(m, ev, WORD_PATIENCE);
}

/* Marks that cannot exist in a report that ended so, whatever was seen. */
static bool cannot_exist(const struct report *r, enum mark_id id)
{
	bool rollback = r->outcome == OUTCOME_FAILED || r->outcome == OUTCOME_CANCELLED;

	switch (id) {
	case MARK_T0:
	case MARK_TB:
	case MARK_D0:
	case MARK_D1:
	case MARK_MAX:
	case MARK_INVALID:
		return false;
	case MARK_TS:
		return rollback || r->outcome == OUTCOME_SETUP_FAILED; /* never came to it */
	case MARK_T1:
		return !r->paused;
	case MARK_T2:
		return !rollback && r->outcome != OUTCOME_LOST;
	case MARK_T3:
	case MARK_T4:
		return !r->paused || (!rollback && r->outcome != OUTCOME_STAYED && r->outcome != OUTCOME_LOST);
	case MARK_TE:
		return r->side == SIDE_DESTINATION ? r->state != MIG_COMPLETED : r->paused && rollback;
	case MARK_T5:
		return !rollback && r->outcome != OUTCOME_STAYED && r->outcome != OUTCOME_LOST;
	case MARK_D2:
	case MARK_D3:
	case MARK_D4:
		return r->state == MIG_COMPLETED;
	}
	return false;
}

static enum missing why_missing(const struct report *r, enum mark_id id)
{
	if ((id == MARK_T1 || id == MARK_T3 || id == MARK_T4) && report_has_note(r, NOTE_PAUSED_BEFORE))
		return MISSING_PAUSED_BEFORE;
	if (cannot_exist(r, id))
		return MISSING_NOT_APPLICABLE;
	if (id == MARK_T4 || id == MARK_T5)
		return MISSING_NOT_MEASURED;
	if (report_has_note(r, NOTE_JOINED_LATE) && (id == MARK_TB || id == MARK_T0 || id == MARK_D0 || id == MARK_D1))
		return MISSING_JOINED_LATE;
	if (report_has_note(r, NOTE_QMP_REFUSED) && id <= MARK_T3)
		return MISSING_QMP_REFUSED;
	if (id == MARK_D4 && mark_is_set(&r->marks[MARK_D3]))
		return MISSING_POOL_TAKEN;
	return MISSING_NOT_SEEN;
}

static void explain_missing(struct report *r)
{
	for (int i = 0; i < MARK_MAX; i++)
		if (!mark_is_set(&r->marks[i]))
			r->marks[i].missing = why_missing(r, (enum mark_id) i);
}

unsigned migration_end(struct migration *m, enum mig_state state, enum outcome outcome, enum cause cause)
{
	struct report *r = &m->report;

	migration_set_state(m, state);
	r->outcome = outcome;
	if (cause != CAUSE_NONE)
		r->cause = cause;
	m->deadline = NSEC_INVALID;
	/* A save or dump stops the guest itself, before QEMU says setup. */
	if (r->operation != OP_MIGRATION && r->operation != OP_UNKNOWN)
		r->notes &= ~(1u << NOTE_PAUSED_BEFORE);
	explain_missing(r);
	phases_clamp(r);
	return MIGRATION_CHANGED | MIGRATION_ENDED;
}

unsigned migration_out_of_order(struct migration *m)
{
	m->report.events_out_of_order++;
	report_note(&m->report, NOTE_OUT_OF_ORDER);
	return 0;
}

unsigned migration_unknown(struct migration *m)
{
	m->report.events_unknown++;
	return 0;
}

unsigned migration_lifecycle_rest(struct migration *m, const struct event *ev)
{
	switch (ev->lifecycle.event) {
	case LIFECYCLE_UNDEFINED:
		report_note(&m->report, ev->lifecycle.detail == UNDEFINED_RENAMED ? NOTE_DOMAIN_RENAMED : NOTE_DOMAIN_UNDEFINED);
		return 0;
	case LIFECYCLE_DEFINED:
		if (ev->lifecycle.detail == DEFINED_RENAMED)
			report_note(&m->report, NOTE_DOMAIN_RENAMED);
		return 0;
	case LIFECYCLE_SHUTDOWN:
	case LIFECYCLE_PMSUSPENDED:
	case LIFECYCLE_CRASHED:
		return 0;
	}
	return migration_unknown(m);
}

unsigned migration_end_lost(struct migration *m, enum cause cause)
{
	/* What is known to have failed has failed; only its rest was not seen. */
	if (m->report.side == SIDE_DESTINATION && m->report.state == MIG_FAILED)
		return migration_end(m, MIG_GONE, OUTCOME_FAILED, CAUSE_NONE);
	return migration_end(m, MIG_LOST, OUTCOME_LOST, cause);
}

void migration_begin(struct migration *m, const struct track *t, const struct event *ev, nsec_t patience)
{
	struct report *r = &m->report;

	*m = (struct migration) {
		.deadline = NSEC_INVALID,
		.patience = patience,
		.qmp = t->qmp,
		.running = t->run != RUN_PAUSED,
	};
	report_init(r);
	r->side = track_side(t, ev);
	m->running = m->running && r->side != SIDE_DESTINATION;
	r->state = MIG_SETUP;
	r->real_offset = ev->real_offset;
	if (t->restored)
		r->operation = OP_RESTORE;
	if (t->incoming || !t->qmp)
		r->operation = OP_MIGRATION;
	if (!t->qmp)
		report_note(r, NOTE_QMP_REFUSED);
	if (r->side == SIDE_SOURCE && ev->kind == EVENT_QMP_MIGRATION && t->run == RUN_PAUSED)
		report_note(r, NOTE_PAUSED_BEFORE);
}

void migration_adopt(struct migration *m, const struct report *r, nsec_t now, nsec_t patience)
{
	*m = (struct migration) {
		.report = *r,
		.deadline = now + patience,
		.patience = patience,
		.qmp = true,
		.was_active = r->state != MIG_SETUP,
		.undecided = true,
		.running = !mark_is_set(&r->marks[MARK_T1]) || mark_is_set(&r->marks[MARK_T3]),
	};
	report_note(&m->report, NOTE_DAEMON_RESTARTED);
}

/* Passes fill a timeline without telling much: they get its first half only. */
static void timeline(struct report *r, const struct event *ev)
{
	bool pass = ev->kind == EVENT_QMP_PASS || ev->kind == EVENT_ITERATION;
	struct timeline_entry *e;

	if (r->timeline_n >= (pass ? REPORT_TIMELINE_MAX / 2 : REPORT_TIMELINE_MAX)) {
		r->timeline_dropped++;
		report_note(r, NOTE_TIMELINE_CUT);
		return;
	}
	e = &r->timeline[r->timeline_n++];
	*e = (struct timeline_entry) { .at = ev->at, .arrival = ev->arrival, .stamp_usec = ev->stamp_usec, .source = ev->source };
	event_describe(ev, e->what, sizeof(e->what));
}

static void account(struct report *r, const struct event *ev)
{
	r->events++;
	if (ev->source == STAMP_QMP)
		r->stamps_qmp++;
	if (ev->source == STAMP_ARRIVAL)
		r->stamps_arrival++;
	if (ev->stamp_rejected) {
		r->stamps_rejected++;
		report_note(r, NOTE_STAMPS_REJECTED);
	}
	if (ev->clock_stepped)
		report_note(r, NOTE_CLOCK_STEPPED);
	timeline(r, ev);
}

/* What is the same on both sides. */
static unsigned feed_common(struct migration *m, const struct event *ev)
{
	struct report *r = &m->report;

	switch (ev->kind) {
	case EVENT_CONNECTION_LOST:
		report_note(r, NOTE_CONNECTION_LOST);
		return 0;
	case EVENT_CONNECTION_UP:
		m->qmp = ev->qmp;
		m->undecided = true;
		if (!m->qmp)
			report_note(r, NOTE_QMP_REFUSED);
		return MIGRATION_LOOK;
	case EVENT_QMP_UNKNOWN:
		return migration_unknown(m);
	case EVENT_QMP_PASS:
	case EVENT_ITERATION:
		if (ev->iteration > r->iterations)
			r->iterations = ev->iteration;
		return 0;
	case EVENT_JOB_COMPLETED:
	case EVENT_QMP_MIGRATION:
	case EVENT_QMP_STOP:
	case EVENT_QMP_RESUME:
	case EVENT_LIFECYCLE:
	case EVENT_CONTEXT:
	case EVENT_MISSING:
	case EVENT_PROCESS_EXITED:
	case EVENT_POOL_BACK:
	case EVENT_POOL_UNKNOWN:
	case EVENT_TIMEOUT:
	case EVENT_KIND_MAX:
		break;
	}
	return 0;
}

void migration_take_facts(struct report *r, const struct context *c)
{
	if (c->operation != OP_UNKNOWN && r->operation == OP_UNKNOWN)
		r->operation = c->operation;
	if (c->driver != DRIVER_UNKNOWN)
		r->driver = c->driver;
	if (c->storage_copy)
		report_note(r, NOTE_STORAGE_COPY);
	if (c->vcpus)
		r->vcpus = c->vcpus;
	if (c->memory_bytes)
		r->memory_bytes = c->memory_bytes;
	if (c->qemu_version)
		r->qemu_version = c->qemu_version;
	if (c->backing.n || !r->backing.n)
		r->backing = c->backing;
}

/* A side that could not be told at the begin: the process was started to receive and has never been seen to run. */
static void settle_side(struct report *r, const struct context *c)
{
	if (r->side != SIDE_UNKNOWN)
		return;
	if (c->side != SIDE_UNKNOWN)
		r->side = c->side;
	else if (c->run == RUN_RUNNING || !c->incoming)
		r->side = SIDE_SOURCE;
}

unsigned migration_feed(struct migration *m, const struct track *t, const struct event *ev)
{
	struct report *r = &m->report;
	unsigned effects;

	if (mig_state_is_end(r->state))
		return 0;
	if (ev->kind != EVENT_CONTEXT && ev->kind != EVENT_TIMEOUT)
		account(r, ev);
	if (ev->kind == EVENT_CONTEXT) {
		migration_take_facts(r, ev->context);
		settle_side(r, ev->context);
	}
	if (r->side == SIDE_SOURCE && t->incoming) /* STARTED/MIGRATED came after setup */
		r->side = SIDE_DESTINATION;
	effects = feed_common(m, ev);
	if (mig_state_is_end(r->state))
		return effects;
	if (r->side == SIDE_DESTINATION)
		effects |= migration_feed_destination(m, t, ev);
	else
		effects |= migration_feed_source(m, t, ev);
	return effects;
}

enum phase_id migration_phase(const struct report *r)
{
	bool suspended = mark_is_set(&r->marks[MARK_T1]) && !mark_is_set(&r->marks[MARK_T3]);

	if (r->side == SIDE_DESTINATION) {
		if (mark_is_set(&r->marks[MARK_D2]))
			return mark_is_set(&r->marks[MARK_D3]) ? PHASE_POOL : PHASE_CLEANUP;
		return mark_is_set(&r->marks[MARK_D1]) ? PHASE_RECEIVE : PHASE_INCOMING;
	}
	switch (r->state) {
	case MIG_SETUP:
	case MIG_PRECOPY:
		return suspended ? PHASE_PAUSED_PRECOPY : PHASE_PRECOPY;
	case MIG_SWITCHOVER:
	case MIG_HANDOVER:
		return PHASE_SWITCHOVER;
	case MIG_CANCELLING:
	case MIG_FAILED:
	case MIG_CANCELLED:
		return PHASE_ABORT;
	case MIG_POSTCOPY:
	case MIG_POSTCOPY_PAUSED:
	case MIG_POSTCOPY_RECOVERING:
		return PHASE_POSTCOPY;
	case MIG_RESUMED:
	case MIG_COMPLETED:
	case MIG_STAYED:
	case MIG_LEFT_PAUSED:
	case MIG_GONE:
	case MIG_LOST:
	case MIG_STATE_MAX:
	case MIG_STATE_INVALID:
		break;
	}
	return PHASE_INVALID;
}
