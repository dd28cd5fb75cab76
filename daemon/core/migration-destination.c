/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The destination side: a guest arrives, or its QEMU ends and the hugepages come back. A restore from a file looks the
 * same and goes the same way. */

#include "core/migration-internal.h"

static enum outcome arrival(const struct migration *m)
{
	if (m->postcopy_recovered)
		return OUTCOME_POSTCOPY_RECOVERED;
	return m->postcopy ? OUTCOME_POSTCOPY : OUTCOME_COMPLETED;
}

static unsigned arrived(struct migration *m, const struct event *ev)
{
	migration_mark(m, MARK_TE, ev);
	return migration_end(m, MIG_COMPLETED, arrival(m), CAUSE_NONE);
}

static unsigned end_failed(struct migration *m)
{
	enum cause cause = m->report.cause == CAUSE_NONE ? CAUSE_QEMU_EXITED : m->report.cause;

	return migration_end(m, MIG_GONE, m->postcopy ? OUTCOME_POSTCOPY_FAILED : OUTCOME_FAILED, cause);
}

static unsigned failed(struct migration *m, const struct event *ev, enum cause cause)
{
	unsigned effects = migration_mark(m, MARK_D2, ev);

	if (m->report.cause == CAUSE_NONE)
		m->report.cause = cause;
	if (!mark_is_set(&m->report.marks[MARK_D3]))
		migration_wait(m, ev, m->patience);
	return effects | migration_set_state(m, MIG_FAILED);
}

/* It failed while nobody watched: when, is not known. */
static unsigned failed_unseen(struct migration *m, const struct event *ev)
{
	migration_mark_at(m, MARK_D2, ev->arrival, STAMP_INFERRED, NSEC_PER_SEC);
	return failed(m, ev, CAUSE_NOT_WATCHED) | end_failed(m);
}

static unsigned on_completed(struct migration *m, const struct event *ev)
{
	if (m->postcopy && m->running)
		return arrived(m, ev);
	migration_wait(m, ev, m->patience);
	return migration_set_state(m, MIG_HANDOVER);
}

static unsigned on_postcopy(struct migration *m, enum mig_state state)
{
	m->postcopy = true;
	if (state == MIG_POSTCOPY && m->report.state == MIG_POSTCOPY_RECOVERING)
		m->postcopy_recovered = true;
	return migration_set_state(m, state);
}

static unsigned on_active(struct migration *m, const struct event *ev)
{
	unsigned effects = migration_mark(m, MARK_D1, ev);

	return m->report.state == MIG_SETUP ? effects | migration_set_state(m, MIG_PRECOPY) : effects;
}

static unsigned on_status(struct migration *m, const struct event *ev)
{
	switch (ev->status) {
	case QMP_SETUP:
		if (m->report.state == MIG_POSTCOPY_PAUSED)
			return migration_set_state(m, MIG_POSTCOPY_RECOVERING);
		return migration_mark(m, MARK_D0, ev) | MIGRATION_LOOK;
	case QMP_ACTIVE:
		return on_active(m, ev);
	case QMP_COMPLETED:
		return on_completed(m, ev);
	case QMP_FAILED:
	case QMP_FAILING:
	case QMP_CANCELLED:
		return failed(m, ev, CAUSE_QEMU_FAILED);
	case QMP_POSTCOPY_DEVICE:
	case QMP_POSTCOPY_ACTIVE:
		return on_postcopy(m, MIG_POSTCOPY);
	case QMP_POSTCOPY_PAUSED:
		return on_postcopy(m, MIG_POSTCOPY_PAUSED);
	case QMP_POSTCOPY_RECOVER_SETUP:
	case QMP_POSTCOPY_RECOVER:
		return on_postcopy(m, MIG_POSTCOPY_RECOVERING);
	case QMP_CANCELLING:
	case QMP_PRE_SWITCHOVER:
	case QMP_DEVICE:
		return migration_out_of_order(m);
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

static unsigned on_resume(struct migration *m, const struct event *ev)
{
	m->running = true;
	if (m->postcopy)
		return m->report.state == MIG_HANDOVER ? arrived(m, ev) : 0;
	if (m->report.state != MIG_HANDOVER && m->qmp && !m->undecided)
		migration_out_of_order(m);
	return arrived(m, ev);
}

static unsigned on_lifecycle(struct migration *m, const struct event *ev)
{
	int detail = ev->lifecycle.detail;

	switch (ev->lifecycle.event) {
	case LIFECYCLE_STARTED:
		if (detail == STARTED_MIGRATED)
			m->report.operation = OP_MIGRATION;
		if (detail == STARTED_RESTORED)
			m->report.operation = OP_RESTORE;
		return migration_mark(m, MARK_D0, ev) | MIGRATION_LOOK;
	case LIFECYCLE_STOPPED:
		/* Together with QEMU's own end, which is told apart by the process. */
		return failed(m, ev, CAUSE_QEMU_EXITED);
	case LIFECYCLE_RESUMED:
		return m->qmp && !m->undecided ? 0 : on_resume(m, ev);
	case LIFECYCLE_SUSPENDED:
		/* A guest that its owner had paused arrives paused: libvirt says so when it is done. */
		if (m->report.state == MIG_HANDOVER && detail == SUSPENDED_PAUSED) {
			report_note(&m->report, NOTE_PAUSED_BEFORE);
			return arrived(m, ev);
		}
		return 0;
	}
	return migration_lifecycle_rest(m, ev);
}

static unsigned on_exit_seen(struct migration *m, const struct event *ev)
{
	unsigned effects = migration_mark(m, MARK_D3, ev);

	effects |= migration_infer(m, MARK_D2, MARK_D1, MARK_D3);
	if (m->report.cause == CAUSE_NONE)
		m->report.cause = CAUSE_QEMU_EXITED;
	migration_wait(m, ev, m->patience);
	return effects | migration_set_state(m, MIG_FAILED) | MIGRATION_WATCH_POOL;
}

/* Others share the pool: what they give back makes it look full too early. */
static unsigned on_pool_back(struct migration *m, const struct event *ev)
{
	migration_mark(m, MARK_D4, ev);
	m->report.marks[MARK_D4].flags |= MARK_LOWER_BOUND;
	return end_failed(m);
}

static unsigned on_context(struct migration *m, const struct event *ev)
{
	const struct context *c = ev->context;

	if (!mark_is_set(&m->report.marks[MARK_D0]))
		report_note(&m->report, NOTE_JOINED_LATE);
	if (!m->undecided)
		return 0;
	if (c->run == RUN_RUNNING)
		return on_resume(m, ev);
	if (c->run == RUN_OFF)
		return failed_unseen(m, ev);
	if (m->report.state == MIG_HANDOVER && c->run == RUN_PAUSED && c->job == JOB_NONE) {
		if (c->paused_by_migration)
			return migration_end(m, MIG_LEFT_PAUSED, OUTCOME_LEFT_PAUSED, CAUSE_CLIENT_VANISHED);
		report_note(&m->report, NOTE_PAUSED_BEFORE);
		return arrived(m, ev);
	}
	migration_wait(m, ev, m->patience);
	return 0;
}

static unsigned on_timeout(struct migration *m, const struct event *ev)
{
	if (m->deadline == NSEC_INVALID || ev->arrival < m->deadline)
		return 0;
	m->deadline = NSEC_INVALID;
	if (m->report.state == MIG_FAILED)
		return end_failed(m);
	m->undecided = true;
	return MIGRATION_LOOK;
}

unsigned migration_feed_destination(struct migration *m, const struct track *t, const struct event *ev)
{
	(void) t;
	switch (ev->kind) {
	case EVENT_QMP_MIGRATION:
		return on_status(m, ev);
	case EVENT_QMP_RESUME:
		return on_resume(m, ev);
	case EVENT_LIFECYCLE:
		return on_lifecycle(m, ev);
	case EVENT_CONTEXT:
		return on_context(m, ev);
	case EVENT_PROCESS_EXITED:
		return on_exit_seen(m, ev);
	case EVENT_POOL_BACK:
		return on_pool_back(m, ev);
	case EVENT_POOL_UNKNOWN:
		return end_failed(m);
	case EVENT_MISSING:
		return failed_unseen(m, ev);
	case EVENT_TIMEOUT:
		return on_timeout(m, ev);
	case EVENT_QMP_PASS:
	case EVENT_QMP_STOP:
	case EVENT_QMP_UNKNOWN:
	case EVENT_ITERATION:
	case EVENT_JOB_COMPLETED:
	case EVENT_CONNECTION_LOST:
	case EVENT_CONNECTION_UP:
	case EVENT_KIND_MAX:
		break;
	}
	return 0;
}
