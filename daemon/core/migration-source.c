/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The source side: where the guest is, and must go on when the migration rolls back. */

#include "core/migration-internal.h"

/* QEMU stops the guest and then says pre-switchover within a millisecond. A STOP that lies further back was somebody's
 * suspend in pre-copy; one that is close, with no pass between, was QEMU's own. */
#define OWN_STOP_MAX (1 * NSEC_PER_SEC)

static bool has(const struct migration *m, enum mark_id id)
{
	return mark_is_set(&m->report.marks[id]);
}

/* The guest is where it belongs again: it runs, or its owner had paused it. */
static bool guest_is_back(const struct migration *m)
{
	return m->running || report_has_note(&m->report, NOTE_PAUSED_BEFORE);
}

static bool in_precopy(const struct migration *m)
{
	return m->report.state == MIG_SETUP || m->report.state == MIG_PRECOPY;
}

static bool is_postcopy(enum mig_state s)
{
	return s == MIG_POSTCOPY || s == MIG_POSTCOPY_PAUSED || s == MIG_POSTCOPY_RECOVERING;
}

/* Nobody said when it was known: after the guest had stopped, and before it was resumed. */
static unsigned infer_failure(struct migration *m)
{
	return migration_infer(m, MARK_T2, has(m, MARK_TS) ? MARK_TS : MARK_T1, MARK_T3);
}

static enum outcome success(const struct migration *m)
{
	if (m->postcopy_recovered)
		return OUTCOME_POSTCOPY_RECOVERED;
	return m->postcopy ? OUTCOME_POSTCOPY : OUTCOME_COMPLETED;
}

static unsigned join_late(struct migration *m, const struct event *ev)
{
	struct mark *t0 = &m->report.marks[MARK_T0];

	if (has(m, MARK_T0))
		return 0;
	*t0 = (struct mark) {
		.at = ev->at, .source = STAMP_INFERRED, .resolution = ev->resolution, .flags = MARK_LATE | MARK_LOWER_BOUND,
	};
	report_note(&m->report, NOTE_JOINED_LATE);
	return MIGRATION_CHANGED | MIGRATION_LOOK;
}

/* The end that a failure or cancel has once the guest is back. With a pause that is T3, without one QEMU's last word. */
static unsigned end_rolled_back(struct migration *m, const struct event *last_word)
{
	enum cause cause = m->report.cause;

	migration_unmark(m, MARK_TE);
	if (last_word)
		migration_mark(m, MARK_TE, last_word);
	return migration_end(m, MIG_RESUMED, cause == CAUSE_CANCEL ? OUTCOME_CANCELLED : OUTCOME_FAILED, cause);
}

/* QEMU's last word on a cancel or a failure; without a pause it is the end, and Te. */
static unsigned rolled_back(struct migration *m, const struct event *ev, enum mig_state state)
{
	unsigned effects = migration_mark(m, MARK_T2, ev);

	if (!guest_is_back(m)) {
		migration_wait(m, ev, m->patience);
		return effects | migration_set_state(m, state);
	}
	return effects | end_rolled_back(m, has(m, MARK_T3) ? NULL : ev);
}

static unsigned on_failed(struct migration *m, const struct event *ev)
{
	unsigned effects;

	m->report.cause = CAUSE_QEMU_FAILED;
	if (m->was_active || !guest_is_back(m))
		return rolled_back(m, ev, MIG_FAILED);
	effects = migration_mark(m, MARK_T2, ev) | migration_mark(m, MARK_TE, ev);
	return effects | migration_end(m, MIG_RESUMED, OUTCOME_SETUP_FAILED, CAUSE_QEMU_FAILED);
}

static unsigned on_cancelled(struct migration *m, const struct event *ev)
{
	m->report.cause = CAUSE_CANCEL;
	return rolled_back(m, ev, MIG_CANCELLED);
}

static unsigned on_setup(struct migration *m, const struct event *ev)
{
	if (m->report.state == MIG_POSTCOPY_PAUSED)
		return migration_set_state(m, MIG_POSTCOPY_RECOVERING);
	return migration_mark(m, MARK_T0, ev) | MIGRATION_LOOK;
}

static unsigned on_active(struct migration *m, const struct event *ev)
{
	unsigned effects = join_late(m, ev);

	m->was_active = true;
	if (m->report.state == MIG_SETUP)
		return effects | migration_set_state(m, MIG_PRECOPY);
	if (m->report.state != MIG_PRECOPY)
		return effects | migration_out_of_order(m);
	return effects;
}

static unsigned on_switchover(struct migration *m, const struct event *ev)
{
	const struct mark *t1 = &m->report.marks[MARK_T1];
	unsigned effects = join_late(m, ev);

	m->was_active = true;
	if (m->stop_fresh && mark_is_set(t1) && t1->at <= ev->at && ev->at - t1->at < OWN_STOP_MAX)
		effects |= migration_mark_at(m, MARK_TS, t1->at, t1->source, t1->resolution);
	else
		effects |= migration_mark(m, MARK_TS, ev);
	if (m->report.state == MIG_SETUP || m->report.state == MIG_PRECOPY)
		effects |= migration_set_state(m, MIG_SWITCHOVER);
	else if (m->report.state != MIG_SWITCHOVER)
		effects |= migration_out_of_order(m);
	return effects;
}

static unsigned on_postcopy(struct migration *m, const struct event *ev, enum mig_state state)
{
	unsigned effects = join_late(m, ev);

	m->was_active = m->postcopy = true;
	if (state == MIG_POSTCOPY && m->report.state == MIG_POSTCOPY_RECOVERING)
		m->postcopy_recovered = true;
	effects |= migration_mark_same(m, MARK_TS, MARK_T1);
	effects |= migration_mark(m, MARK_TS, ev);
	return effects | migration_set_state(m, state);
}

static unsigned on_completed(struct migration *m, const struct event *ev)
{
	unsigned effects = join_late(m, ev) | migration_mark_same(m, MARK_TS, MARK_T1) | migration_mark(m, MARK_TE, ev);

	migration_wait(m, ev, m->patience);
	return effects | migration_set_state(m, MIG_HANDOVER);
}

static unsigned on_cancelling(struct migration *m, const struct event *ev)
{
	unsigned effects = join_late(m, ev) | migration_mark(m, MARK_T2, ev);

	m->was_active = true;
	m->report.cause = CAUSE_CANCEL;
	return effects | migration_set_state(m, MIG_CANCELLING);
}

static unsigned on_failing(struct migration *m, const struct event *ev)
{
	m->report.cause = CAUSE_QEMU_FAILED;
	migration_wait(m, ev, m->patience);
	return migration_mark(m, MARK_T2, ev) | migration_set_state(m, MIG_FAILED);
}

static unsigned on_status(struct migration *m, const struct event *ev)
{
	switch (ev->status) {
	case QMP_SETUP:
		return on_setup(m, ev);
	case QMP_ACTIVE:
		return on_active(m, ev);
	case QMP_PRE_SWITCHOVER:
	case QMP_DEVICE:
		return on_switchover(m, ev);
	case QMP_POSTCOPY_DEVICE:
	case QMP_POSTCOPY_ACTIVE:
		return on_postcopy(m, ev, MIG_POSTCOPY);
	case QMP_POSTCOPY_PAUSED:
		return on_postcopy(m, ev, MIG_POSTCOPY_PAUSED);
	case QMP_POSTCOPY_RECOVER_SETUP:
	case QMP_POSTCOPY_RECOVER:
		return on_postcopy(m, ev, MIG_POSTCOPY_RECOVERING);
	case QMP_CANCELLING:
		return on_cancelling(m, ev);
	case QMP_CANCELLED:
		return on_cancelled(m, ev);
	case QMP_FAILING:
		return on_failing(m, ev);
	case QMP_FAILED:
		return on_failed(m, ev);
	case QMP_COMPLETED:
		return on_completed(m, ev);
	case QMP_NONE:
	case QMP_WAIT_UNPLUG:
		return 0;
	case QMP_COLO:
	case QMP_STATUS_MAX:
	case QMP_STATUS_INVALID:
		break;
	}
	return migration_unknown(m);
}

static unsigned on_stop(struct migration *m, const struct event *ev)
{
	m->running = false;
	m->stop_fresh = true;
	m->report.paused = true;
	return migration_mark(m, MARK_T1, ev);
}

/* QEMU completed and the guest goes on here: the destination could not start it, or this was no migration. */
static unsigned stays(struct migration *m)
{
	migration_unmark(m, MARK_TE);
	if (m->report.operation == OP_MIGRATION) {
		infer_failure(m);
		return migration_end(m, MIG_RESUMED, OUTCOME_FAILED, CAUSE_FINISH_FAILED);
	}
	return migration_end(m, MIG_STAYED, OUTCOME_STAYED, CAUSE_NONE);
}

/* The pause in pre-copy was not of this migration's making, or is over: the next STOP counts. */
static unsigned forget_pause(struct migration *m)
{
	migration_unmark(m, MARK_T1);
	migration_unmark(m, MARK_T3);
	m->report.paused = false;
	return MIGRATION_CHANGED;
}

static unsigned on_resume(struct migration *m, const struct event *ev)
{
	unsigned effects;

	m->running = true;
	if (in_precopy(m) && !m->undecided)
		return forget_pause(m);
	effects = migration_mark(m, MARK_T3, ev);
	if (in_precopy(m))
		return effects | MIGRATION_LOOK; /* an end may have been missed: what is found now decides */
	if (m->report.side == SIDE_UNKNOWN)
		return effects | migration_end_lost(m, CAUSE_NOT_WATCHED);
	if (m->report.state == MIG_FAILED || m->report.state == MIG_CANCELLED)
		return effects | end_rolled_back(m, NULL);
	if (m->report.state == MIG_HANDOVER && m->report.operation != OP_UNKNOWN)
		return effects | stays(m);
	/* QEMU resumes before it says cancelled or failed, or libvirt has yet to tell what the job was. */
	migration_wait_for_word(m, ev);
	return effects | (is_postcopy(m->report.state) ? migration_out_of_order(m) : 0);
}

static unsigned on_stopped(struct migration *m, const struct event *ev)
{
	int detail = ev->lifecycle.detail;

	if (detail == STOPPED_MIGRATED || detail == STOPPED_SAVED) {
		if (m->report.operation == OP_UNKNOWN || detail == STOPPED_SAVED)
			m->report.operation = detail == STOPPED_SAVED ? OP_SAVE : OP_MIGRATION;
		migration_mark(m, MARK_TE, ev);
		return migration_end(m, MIG_COMPLETED, success(m), CAUSE_NONE);
	}
	migration_mark(m, MARK_TE, ev);
	return migration_end(m, MIG_GONE, m->postcopy ? OUTCOME_POSTCOPY_FAILED : OUTCOME_GUEST_GONE, CAUSE_QEMU_EXITED);
}

/* Without QMP a lifecycle event is all there is: SUSPENDED/MIGRATED stands for the switchover. */
static unsigned on_suspended(struct migration *m, const struct event *ev)
{
	int detail = ev->lifecycle.detail;
	unsigned effects = 0;

	if (detail == SUSPENDED_MIGRATED && m->report.operation == OP_UNKNOWN)
		m->report.operation = OP_MIGRATION;
	if (m->qmp)
		return 0;
	effects |= join_late(m, ev) | on_stop(m, ev);
	if (detail == SUSPENDED_POSTCOPY)
		return effects | on_postcopy(m, ev, MIG_POSTCOPY);
	if (detail == SUSPENDED_POSTCOPY_FAILED)
		return effects | on_postcopy(m, ev, MIG_POSTCOPY_PAUSED);
	return effects | migration_mark_same(m, MARK_TS, MARK_T1) | migration_set_state(m, MIG_SWITCHOVER);
}

static unsigned on_resumed(struct migration *m, const struct event *ev)
{
	unsigned effects;

	if (m->report.state == MIG_HANDOVER && has(m, MARK_T3)) {
		if (ev->lifecycle.detail == RESUMED_MIGRATED)
			m->report.operation = OP_MIGRATION;
		return stays(m);
	}
	/* With QMP its RESUME tells; only when that may have been missed does libvirt's word count. */
	if ((m->qmp && !m->undecided) || m->running)
		return 0;
	if (in_precopy(m))
		return on_resume(m, ev);
	m->running = true;
	effects = migration_mark(m, MARK_T3, ev) | infer_failure(m);
	if (m->report.cause == CAUSE_NONE)
		m->report.cause = CAUSE_JOB_ENDED;
	return effects | end_rolled_back(m, NULL);
}

static unsigned on_lifecycle(struct migration *m, const struct event *ev)
{
	switch (ev->lifecycle.event) {
	case LIFECYCLE_SUSPENDED:
		return on_suspended(m, ev);
	case LIFECYCLE_RESUMED:
		return on_resumed(m, ev);
	case LIFECYCLE_STOPPED:
		return on_stopped(m, ev);
	case LIFECYCLE_STARTED:
		return migration_out_of_order(m);
	}
	return migration_lifecycle_rest(m, ev);
}

/* libvirt counts whole milliseconds since its job began; that was before QEMU's setup, whatever the rounding says. */
static unsigned job_began(struct migration *m, const struct event *ev)
{
	const struct mark *t0 = &m->report.marks[MARK_T0];
	nsec_t at;

	if (ev->context->job != JOB_ACTIVE || ev->context->job_elapsed > ev->arrival || report_has_note(&m->report, NOTE_JOINED_LATE))
		return 0;
	at = ev->arrival - ev->context->job_elapsed;
	if (mark_is_set(t0) && at > t0->at)
		at = t0->at;
	return migration_mark_at(m, MARK_TB, at, STAMP_JOB, NSEC_PER_MSEC);
}

/* It runs here and no job is left: it was rolled back, and more than that only what was seen can tell. */
static unsigned over_and_running(struct migration *m, const struct event *ev)
{
	bool seen = m->report.cause != CAUSE_NONE || has(m, MARK_T3);
	struct mark *te = &m->report.marks[MARK_TE];
	unsigned effects;

	m->running = true;
	if (m->report.state == MIG_HANDOVER && m->report.operation != OP_MIGRATION)
		return stays(m);
	if (m->report.cause == CAUSE_NONE)
		m->report.cause = seen || !m->qmp ? CAUSE_JOB_ENDED : CAUSE_NOT_WATCHED;
	infer_failure(m);
	effects = end_rolled_back(m, has(m, MARK_T3) || m->report.paused ? NULL : ev);
	/* The end is when we found it over, not when it was. */
	if (mark_is_set(te)) {
		te->source = STAMP_INFERRED;
		te->flags |= MARK_LATE;
	}
	return effects;
}

static unsigned over_and_paused(struct migration *m)
{
	if (!report_has_note(&m->report, NOTE_PAUSED_BEFORE))
		return migration_end(m, MIG_LEFT_PAUSED, OUTCOME_LEFT_PAUSED, CAUSE_CLIENT_VANISHED);
	return m->report.cause == CAUSE_NONE ? migration_end_lost(m, CAUSE_NOT_WATCHED) : end_rolled_back(m, NULL);
}

static unsigned over_and_gone(struct migration *m)
{
	if (m->report.state == MIG_HANDOVER)
		return migration_end(m, MIG_COMPLETED, success(m), CAUSE_NOT_WATCHED);
	return migration_end_lost(m, CAUSE_NOT_WATCHED);
}

/* The guest is paused and libvirt's job may still hold it: what libvirt does not say is not guessed. */
static unsigned still_under_way(struct migration *m, const struct event *ev)
{
	const struct context *c = ev->context;

	if (c->run == RUN_RUNNING) {
		m->running = true;
		m->undecided = false;
		m->was_active = true;
		if (in_precopy(m) && has(m, MARK_T3))
			forget_pause(m);
		return m->report.state == MIG_SETUP ? migration_set_state(m, MIG_PRECOPY) : 0;
	}
	if (c->run == RUN_PAUSED && !report_has_note(&m->report, NOTE_PAUSED_BEFORE)) {
		m->running = false;
		m->report.paused = true;
	}
	migration_wait(m, ev, m->patience);
	return 0;
}

static unsigned on_context(struct migration *m, const struct event *ev)
{
	const struct context *c = ev->context;
	unsigned effects = job_began(m, ev) | join_late(m, ev);

	if (!m->undecided && m->qmp)
		return effects;
	if (c->run == RUN_OFF)
		return effects | over_and_gone(m);
	if (c->job == JOB_NONE && c->run == RUN_RUNNING)
		return effects | over_and_running(m, ev);
	if (c->job == JOB_NONE && c->run == RUN_PAUSED)
		return effects | over_and_paused(m);
	return effects | still_under_way(m, ev);
}

static unsigned on_timeout(struct migration *m, const struct event *ev)
{
	if (m->deadline == NSEC_INVALID || ev->arrival < m->deadline)
		return 0;
	m->deadline = NSEC_INVALID;
	m->undecided = true;
	return MIGRATION_LOOK;
}

unsigned migration_feed_source(struct migration *m, const struct track *t, const struct event *ev)
{
	(void) t;
	switch (ev->kind) {
	case EVENT_QMP_MIGRATION:
		if (ev->status != QMP_PRE_SWITCHOVER && ev->status != QMP_DEVICE)
			m->stop_fresh = false;
		return on_status(m, ev);
	case EVENT_QMP_STOP:
		return on_stop(m, ev);
	case EVENT_QMP_RESUME:
		return on_resume(m, ev);
	case EVENT_QMP_PASS:
		m->stop_fresh = false;
		return 0;
	case EVENT_ITERATION:
		m->was_active = true;
		if (m->qmp)
			return 0;
		/* The last iteration's event comes after SUSPENDED: it does not lead back. */
		return join_late(m, ev) | (m->report.state == MIG_SETUP ? migration_set_state(m, MIG_PRECOPY) : 0);
	case EVENT_LIFECYCLE:
		return on_lifecycle(m, ev);
	case EVENT_CONTEXT:
		return on_context(m, ev);
	case EVENT_MISSING:
		return over_and_gone(m);
	case EVENT_PROCESS_EXITED:
		report_note(&m->report, NOTE_QEMU_BROKE_OFF);
		migration_wait_for_word(m, ev);
		return 0;
	case EVENT_TIMEOUT:
		return on_timeout(m, ev);
	case EVENT_QMP_UNKNOWN:
	case EVENT_JOB_COMPLETED:
	case EVENT_CONNECTION_LOST:
	case EVENT_CONNECTION_UP:
	case EVENT_POOL_BACK:
	case EVENT_POOL_UNKNOWN:
	case EVENT_KIND_MAX:
		break;
	}
	return 0;
}
