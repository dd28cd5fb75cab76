/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/track.h"

static void track_lifecycle(struct track *t, int event, int detail)
{
	switch (event) {
	case LIFECYCLE_STARTED:
		t->known = true;
		t->incoming = detail == STARTED_MIGRATED;
		t->restored = detail == STARTED_RESTORED;
		t->run = t->incoming || t->restored ? RUN_PAUSED : RUN_RUNNING;
		break;
	case LIFECYCLE_SUSPENDED:
		/* Without QMP this is the only word; with it, it is late and QMP's STOP has told already. */
		if (!t->qmp)
			t->run = RUN_PAUSED;
		break;
	case LIFECYCLE_RESUMED:
		if (!t->qmp)
			t->run = RUN_RUNNING;
		t->incoming = t->restored = false;
		break;
	case LIFECYCLE_STOPPED:
		*t = (struct track) { .run = RUN_OFF, .known = true, .qmp = t->qmp };
		break;
	}
}

static void track_context(struct track *t, const struct context *c)
{
	t->known = true;
	if (c->run != RUN_UNKNOWN)
		t->run = c->run;
}

static void track_update(struct track *t, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_QMP_STOP:
		t->run = RUN_PAUSED;
		break;
	case EVENT_QMP_RESUME:
		t->run = RUN_RUNNING;
		t->known = true;
		break;
	case EVENT_LIFECYCLE:
		track_lifecycle(t, ev->lifecycle.event, ev->lifecycle.detail);
		break;
	case EVENT_CONTEXT:
		track_context(t, ev->context);
		break;
	case EVENT_CONNECTION_UP:
		t->qmp = ev->qmp;
		break;
	case EVENT_QMP_MIGRATION:
	case EVENT_QMP_PASS:
	case EVENT_QMP_UNKNOWN:
	case EVENT_ITERATION:
	case EVENT_JOB_COMPLETED:
	case EVENT_CONNECTION_LOST:
	case EVENT_MISSING:
	case EVENT_PROCESS_EXITED:
	case EVENT_POOL_BACK:
	case EVENT_POOL_UNKNOWN:
	case EVENT_TIMEOUT:
	case EVENT_KIND_MAX:
		break;
	}
}

static bool status_is_under_way(enum qmp_status s)
{
	switch (s) {
	case QMP_SETUP:
	case QMP_ACTIVE:
	case QMP_CANCELLING:
	case QMP_POSTCOPY_DEVICE:
	case QMP_POSTCOPY_ACTIVE:
	case QMP_POSTCOPY_PAUSED:
	case QMP_POSTCOPY_RECOVER_SETUP:
	case QMP_POSTCOPY_RECOVER:
	case QMP_PRE_SWITCHOVER:
	case QMP_DEVICE:
	case QMP_WAIT_UNPLUG:
		return true;
	case QMP_NONE:
	case QMP_CANCELLED:
	case QMP_COMPLETED:
	case QMP_FAILED:
	case QMP_FAILING:
	case QMP_COLO:
	case QMP_STATUS_MAX:
	case QMP_STATUS_INVALID:
		break;
	}
	return false;
}

/* Does this event show that a migration is under way, when none is known of? */
static bool begins(const struct event *ev, bool qmp)
{
	switch (ev->kind) {
	case EVENT_QMP_MIGRATION:
		return status_is_under_way(ev->status);
	case EVENT_ITERATION:
		return !qmp;
	case EVENT_LIFECYCLE:
		if (ev->lifecycle.event == LIFECYCLE_STARTED)
			return ev->lifecycle.detail == STARTED_MIGRATED;
		return !qmp && ev->lifecycle.event == LIFECYCLE_SUSPENDED && ev->lifecycle.detail == SUSPENDED_MIGRATED;
	case EVENT_CONTEXT:
		if (ev->context->job == JOB_NONE) /* paused by a migration that is over: an orphan, not a migration */
			return false;
		return (ev->context->job == JOB_ACTIVE && ev->context->operation == OP_MIGRATION) ||
		       (ev->context->run == RUN_PAUSED && ev->context->paused_by_migration);
	case EVENT_QMP_PASS:
	case EVENT_QMP_STOP:
	case EVENT_QMP_RESUME:
	case EVENT_QMP_UNKNOWN:
	case EVENT_JOB_COMPLETED:
	case EVENT_CONNECTION_LOST:
	case EVENT_CONNECTION_UP:
	case EVENT_MISSING:
	case EVENT_PROCESS_EXITED:
	case EVENT_POOL_BACK:
	case EVENT_POOL_UNKNOWN:
	case EVENT_TIMEOUT:
	case EVENT_KIND_MAX:
		break;
	}
	return false;
}

/* setup opens a migration, except that STARTED/MIGRATED may have opened the destination's record just before, and that a
 * post-copy recovery says setup again. */
static bool supersedes(const struct event *ev, enum mig_state current)
{
	return ev->kind == EVENT_QMP_MIGRATION && ev->status == QMP_SETUP && current != MIG_SETUP &&
	       current != MIG_POSTCOPY_PAUSED && current != MIG_POSTCOPY_RECOVERING;
}

enum track_verdict track_feed(struct track *t, const struct event *ev, enum mig_state current)
{
	bool running = current != MIG_STATE_INVALID && !mig_state_is_end(current);

	track_update(t, ev);
	if (!running)
		return begins(ev, t->qmp) ? TRACK_BEGIN : TRACK_NOTHING;
	return supersedes(ev, current) ? TRACK_SUPERSEDE : TRACK_CONTINUE;
}

enum side track_side(const struct track *t, const struct event *ev)
{
	if (t->incoming || t->restored)
		return SIDE_DESTINATION;
	/* A guest of this host is listed or STARTED before it can migrate away: who is first heard of by a migration is
	 * arriving. */
	if (ev->kind == EVENT_QMP_MIGRATION && (!t->known || t->run == RUN_OFF))
		return SIDE_DESTINATION;
	if (ev->kind != EVENT_CONTEXT)
		return SIDE_SOURCE;
	if (ev->context->side != SIDE_UNKNOWN)
		return ev->context->side;
	if (ev->context->run == RUN_RUNNING || !ev->context->incoming)
		return SIDE_SOURCE;
	return SIDE_UNKNOWN;
}
