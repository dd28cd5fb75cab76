/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What recordings do not show: orders that other QEMUs have, gaps in watching, libvirt without QMP events, nonsense. */

#include <glib.h>
#include <string.h>

#include "core/migration.h"
#include "core/phases.h"
#include "core/track.h"

#define PATIENCE (30 * NSEC_PER_SEC)
#define AT(s) ((nsec_t) ((s) * 1e9))

struct guest {
	struct track track;
	struct migration m;
	bool live;
	unsigned effects;     /* of the last event */
	unsigned begun, ended;
	struct report last;   /* of the last that ended */
};

static void feed(struct guest *g, const struct event *ev)
{
	enum track_verdict v = track_feed(&g->track, ev, g->live ? g->m.report.state : MIG_STATE_INVALID);

	g->effects = 0;
	if (v == TRACK_NOTHING)
		return;
	if (v == TRACK_SUPERSEDE) {
		migration_end_lost(&g->m, CAUSE_SUPERSEDED);
		g->last = g->m.report;
		g->ended++;
	}
	if (v != TRACK_CONTINUE) {
		migration_begin(&g->m, &g->track, ev, PATIENCE);
		g->begun++;
	}
	g->live = true;
	g->effects = migration_feed(&g->m, &g->track, ev);
	if (g->effects & MIGRATION_ENDED) {
		g->last = g->m.report;
		g->ended++;
		g->live = false;
	}
}

static struct event at(double s, enum event_kind kind, enum stamp_source source)
{
	struct event ev = event_at_arrival(kind, source, AT(s), 0);

	if (source == STAMP_QMP)
		ev.resolution = NSEC_PER_USEC;
	return ev;
}

static void qmp(struct guest *g, double s, enum qmp_status status)
{
	struct event ev = at(s, EVENT_QMP_MIGRATION, STAMP_QMP);

	ev.status = status;
	feed(g, &ev);
}

static void say(struct guest *g, double s, enum event_kind kind)
{
	struct event ev = at(s, kind, STAMP_QMP);

	feed(g, &ev);
}

static void pass(struct guest *g, double s, uint32_t n)
{
	struct event ev = at(s, EVENT_QMP_PASS, STAMP_QMP);

	ev.iteration = n;
	feed(g, &ev);
}

static void lifecycle(struct guest *g, double s, int event, int detail)
{
	struct event ev = at(s, EVENT_LIFECYCLE, STAMP_LIFECYCLE);

	ev.lifecycle.event = event;
	ev.lifecycle.detail = detail;
	feed(g, &ev);
}

static void connection(struct guest *g, double s, bool up, bool with_qmp)
{
	struct event ev = at(s, up ? EVENT_CONNECTION_UP : EVENT_CONNECTION_LOST, STAMP_KERNEL);

	ev.qmp = with_qmp;
	feed(g, &ev);
}

static void found(struct guest *g, double s, enum run_state run, enum job_state job, enum operation op)
{
	struct context c;
	struct event ev = at(s, EVENT_CONTEXT, STAMP_JOB);

	context_init(&c);
	c.run = run;
	c.job = job;
	c.operation = op;
	c.paused_by_migration = run == RUN_PAUSED;
	ev.context = &c;
	feed(g, &ev);
}

/* A guest that runs here, known since before. */
static struct guest running(void)
{
	struct guest g = { 0 };

	connection(&g, 1, true, true);
	found(&g, 1, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	g_assert_cmpuint(g.begun, ==, 0);
	return g;
}

static struct guest in_precopy(void)
{
	struct guest g = running();

	qmp(&g, 10, QMP_SETUP);
	g_assert_cmpuint(g.effects & MIGRATION_LOOK, !=, 0);
	qmp(&g, 10.01, QMP_ACTIVE);
	found(&g, 10.02, RUN_RUNNING, JOB_ACTIVE, OP_MIGRATION);
	pass(&g, 10.03, 1);
	return g;
}

static struct guest in_switchover(void)
{
	struct guest g = in_precopy();

	pass(&g, 15, 2);
	say(&g, 15.1, EVENT_QMP_STOP);
	qmp(&g, 15.1005, QMP_PRE_SWITCHOVER);
	qmp(&g, 15.101, QMP_DEVICE);
	return g;
}

static void assert_mark(const struct report *r, enum mark_id id, double s)
{
	g_assert_cmpuint(r->marks[id].at, ==, AT(s));
}

static void assert_end(const struct guest *g, enum mig_state state, enum outcome outcome, enum cause cause)
{
	g_assert_cmpuint(g->ended, ==, 1);
	g_assert_cmpstr(mig_state_to_string(g->last.state), ==, mig_state_to_string(state));
	g_assert_cmpstr(outcome_to_string(g->last.outcome), ==, outcome_to_string(outcome));
	g_assert_cmpstr(cause_to_string(g->last.cause), ==, cause_to_string(cause));
}

static void test_resume_before_cancelled(void)
{
	struct guest g = in_switchover();
	struct phases p;

	qmp(&g, 16, QMP_CANCELLING);
	say(&g, 16.5, EVENT_QMP_RESUME);
	g_assert_cmpuint(g.ended, ==, 0);
	qmp(&g, 16.6, QMP_CANCELLED);
	assert_end(&g, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL);
	assert_mark(&g.last, MARK_TS, 15.1);
	assert_mark(&g.last, MARK_T2, 16);
	assert_mark(&g.last, MARK_T3, 16.5);
	phases_compute(&g.last, &p);
	g_assert_cmpuint(p.blackout_usec, ==, 1400000);
	g_assert_true(p.blackout_lower_bound);
}

static void test_resume_before_failed(void)
{
	struct guest g = in_switchover();

	say(&g, 16, EVENT_QMP_RESUME);
	qmp(&g, 16.2, QMP_FAILED);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED);
	assert_mark(&g.last, MARK_T2, 16); /* after its successor: moved back to it */
	g_assert_cmpuint(g.last.marks[MARK_T2].flags & MARK_CLAMPED, !=, 0);
	g_assert_cmpuint(g.last.marks_clamped, ==, 1);
	g_assert_true(report_has_note(&g.last, NOTE_MARKS_CLAMPED));
}

static void test_resume_and_no_word(void)
{
	struct guest g = in_switchover();
	struct event timeout;

	say(&g, 16, EVENT_QMP_RESUME);
	g_assert_cmpuint(g.m.deadline, !=, NSEC_INVALID);
	timeout = at(30, EVENT_TIMEOUT, STAMP_KERNEL);
	feed(&g, &timeout);
	g_assert_cmpuint(g.effects & MIGRATION_LOOK, !=, 0);
	found(&g, 30.1, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_JOB_ENDED);
	assert_mark(&g.last, MARK_T2, 16);
	g_assert_cmpint(g.last.marks[MARK_T2].source, ==, STAMP_INFERRED);
}

static void test_newer_qemu_order(void)
{
	struct guest g = in_precopy();

	qmp(&g, 15, QMP_PRE_SWITCHOVER); /* before STOP */
	say(&g, 15.2, EVENT_QMP_STOP);
	qmp(&g, 15.3, QMP_DEVICE);
	qmp(&g, 15.4, QMP_FAILING);
	qmp(&g, 15.5, QMP_FAILED);
	say(&g, 15.6, EVENT_QMP_RESUME);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED);
	assert_mark(&g.last, MARK_TS, 15);
	assert_mark(&g.last, MARK_T1, 15.2);
	assert_mark(&g.last, MARK_T2, 15.4);
	g_assert_cmpuint(g.last.events_unknown + g.last.events_out_of_order, ==, 0);
}

static void test_suspend_is_not_the_switchover(void)
{
	struct guest g = in_precopy();
	struct phases p;

	say(&g, 12, EVENT_QMP_STOP);
	pass(&g, 13, 2);
	qmp(&g, 14, QMP_PRE_SWITCHOVER);
	qmp(&g, 15, QMP_FAILED);
	say(&g, 16, EVENT_QMP_RESUME);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED);
	assert_mark(&g.last, MARK_T1, 12);
	assert_mark(&g.last, MARK_TS, 14);
	phases_compute(&g.last, &p);
	g_assert_cmpuint(p.n, ==, 6);
	g_assert_cmpint(p.phase[1].id, ==, PHASE_PAUSED_PRECOPY);
	g_assert_cmpuint(p.phase[1].usec, ==, 2000000);
	g_assert_cmpuint(p.total_usec, ==, 6000000);
}

static void test_pause_and_resume_in_precopy(void)
{
	struct guest g = in_precopy();

	say(&g, 12, EVENT_QMP_STOP);
	say(&g, 13, EVENT_QMP_RESUME);
	g_assert_cmpint(g.m.report.state, ==, MIG_PRECOPY);
	qmp(&g, 14, QMP_CANCELLING);
	qmp(&g, 14.1, QMP_CANCELLED);
	assert_end(&g, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL);
	g_assert_false(mark_is_set(&g.last.marks[MARK_T1]));
	g_assert_false(g.last.paused);
}

static void test_cancel_is_known_at_once(void)
{
	struct guest g = in_precopy();
	struct phases p;

	qmp(&g, 14, QMP_CANCELLING);
	g_assert_cmpint(g.m.report.state, ==, MIG_CANCELLING);
	qmp(&g, 14.1, QMP_CANCELLED);
	assert_end(&g, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL);
	phases_compute(&g.last, &p);
	g_assert_false(p.blackout_known);
	g_assert_cmpint(p.blackout_missing, ==, MISSING_NOT_APPLICABLE);
}

static void test_setup_failed(void)
{
	struct guest g = running();

	qmp(&g, 10, QMP_SETUP);
	qmp(&g, 10.5, QMP_FAILED);
	assert_end(&g, MIG_RESUMED, OUTCOME_SETUP_FAILED, CAUSE_QEMU_FAILED);
}

static void test_left_paused(void)
{
	struct guest g = in_switchover();
	struct event timeout;

	qmp(&g, 15.2, QMP_COMPLETED);
	g_assert_cmpint(g.m.report.state, ==, MIG_HANDOVER);
	timeout = at(20, EVENT_TIMEOUT, STAMP_KERNEL);
	feed(&g, &timeout); /* too early: nothing */
	g_assert_cmpuint(g.effects, ==, 0);
	timeout = at(46, EVENT_TIMEOUT, STAMP_KERNEL);
	feed(&g, &timeout);
	g_assert_cmpuint(g.effects & MIGRATION_LOOK, !=, 0);
	found(&g, 46, RUN_PAUSED, JOB_ACTIVE, OP_MIGRATION); /* Finish still runs: wait on */
	g_assert_cmpuint(g.ended, ==, 0);
	timeout = at(77, EVENT_TIMEOUT, STAMP_KERNEL);
	feed(&g, &timeout);
	found(&g, 77, RUN_PAUSED, JOB_NONE, OP_UNKNOWN);
	assert_end(&g, MIG_LEFT_PAUSED, OUTCOME_LEFT_PAUSED, CAUSE_CLIENT_VANISHED);
	/* An orphan is no new migration, however often it is looked at. */
	found(&g, 80, RUN_PAUSED, JOB_NONE, OP_UNKNOWN);
	g_assert_cmpuint(g.begun, ==, 1);
}

static void test_postcopy_lost_and_recovered(void)
{
	struct guest g = in_switchover();
	struct phases p;

	qmp(&g, 15.2, QMP_POSTCOPY_ACTIVE);
	lifecycle(&g, 15.21, LIFECYCLE_SUSPENDED, SUSPENDED_POSTCOPY);
	qmp(&g, 16, QMP_POSTCOPY_PAUSED);
	g_assert_cmpint(g.m.report.state, ==, MIG_POSTCOPY_PAUSED);
	lifecycle(&g, 16.01, LIFECYCLE_SUSPENDED, SUSPENDED_POSTCOPY_FAILED);
	qmp(&g, 20, QMP_SETUP);
	qmp(&g, 20.1, QMP_POSTCOPY_RECOVER);
	qmp(&g, 20.2, QMP_POSTCOPY_ACTIVE);
	qmp(&g, 25, QMP_COMPLETED);
	lifecycle(&g, 26, LIFECYCLE_STOPPED, STOPPED_MIGRATED);
	assert_end(&g, MIG_COMPLETED, OUTCOME_POSTCOPY_RECOVERED, CAUSE_NONE);
	g_assert_cmpuint(g.begun, ==, 1);
	phases_compute(&g.last, &p);
	g_assert_cmpint(p.phase[p.n - 1].id, ==, PHASE_POSTCOPY);
	g_assert_cmpuint(p.phase[p.n - 1].usec, ==, 9900000);
	g_assert_false(p.blackout_known);
	g_assert_cmpint(p.blackout_missing, ==, MISSING_NOT_APPLICABLE);
}

static void test_postcopy_lost_for_good(void)
{
	struct guest g = in_switchover();

	qmp(&g, 15.2, QMP_POSTCOPY_ACTIVE);
	qmp(&g, 16, QMP_POSTCOPY_PAUSED);
	lifecycle(&g, 60, LIFECYCLE_STOPPED, STOPPED_DESTROYED);
	assert_end(&g, MIG_GONE, OUTCOME_POSTCOPY_FAILED, CAUSE_QEMU_EXITED);
}

static void test_late_join(void)
{
	struct guest g = { 0 };
	struct phases p;

	connection(&g, 50, true, true);
	found(&g, 50, RUN_RUNNING, JOB_UNKNOWN, OP_UNKNOWN);
	found(&g, 50.1, RUN_RUNNING, JOB_ACTIVE, OP_MIGRATION);
	g_assert_cmpuint(g.begun, ==, 1);
	g_assert_cmpint(g.m.report.side, ==, SIDE_SOURCE);
	g_assert_true(report_has_note(&g.m.report, NOTE_JOINED_LATE));
	say(&g, 55, EVENT_QMP_STOP);
	qmp(&g, 55.001, QMP_PRE_SWITCHOVER);
	qmp(&g, 56, QMP_FAILED);
	say(&g, 57, EVENT_QMP_RESUME);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED);
	phases_compute(&g.last, &p);
	g_assert_true(p.phase[0].lower_bound);
	g_assert_cmpuint(p.blackout_usec, ==, 2000000);
}

static void test_connection_lost_and_over(void)
{
	struct guest g = in_precopy();

	connection(&g, 12, false, false);
	connection(&g, 14, true, true);
	g_assert_cmpuint(g.effects & MIGRATION_LOOK, !=, 0);
	found(&g, 14.1, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_NOT_WATCHED);
	g_assert_true(report_has_note(&g.last, NOTE_CONNECTION_LOST));
	g_assert_cmpuint(g.last.marks[MARK_TE].flags & MARK_LATE, !=, 0);
}

static void test_connection_lost_and_going_on(void)
{
	struct guest g = in_precopy();

	connection(&g, 12, false, false);
	connection(&g, 14, true, true);
	found(&g, 14.1, RUN_RUNNING, JOB_ACTIVE, OP_MIGRATION);
	g_assert_cmpuint(g.ended, ==, 0);
	qmp(&g, 15, QMP_CANCELLING);
	qmp(&g, 15.1, QMP_CANCELLED);
	assert_end(&g, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL);
}

static void test_gone_while_not_watched(void)
{
	struct guest g = in_precopy();
	struct event ev = at(20, EVENT_MISSING, STAMP_KERNEL);

	connection(&g, 12, false, false);
	feed(&g, &ev);
	assert_end(&g, MIG_LOST, OUTCOME_LOST, CAUSE_NOT_WATCHED);
}

static void test_completed_then_gone(void)
{
	struct guest g = in_switchover();
	struct event ev = at(20, EVENT_MISSING, STAMP_KERNEL);

	qmp(&g, 15.2, QMP_COMPLETED);
	connection(&g, 15.3, false, false);
	feed(&g, &ev);
	assert_end(&g, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NOT_WATCHED);
}

static void test_adopted_after_restart(void)
{
	struct guest g = in_switchover();
	struct report kept = g.m.report;

	migration_adopt(&g.m, &kept, AT(20), PATIENCE);
	g_assert_false(g.m.running);
	connection(&g, 20, true, true);
	g_assert_cmpuint(g.effects & MIGRATION_LOOK, !=, 0);
	found(&g, 20.1, RUN_PAUSED, JOB_ACTIVE, OP_MIGRATION);
	qmp(&g, 21, QMP_FAILED);
	say(&g, 22, EVENT_QMP_RESUME);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED);
	g_assert_true(report_has_note(&g.last, NOTE_DAEMON_RESTARTED));
	assert_mark(&g.last, MARK_T1, 15.1);
}

static void test_without_qmp(void)
{
	struct guest g = { 0 };

	connection(&g, 1, true, false);
	found(&g, 1, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	struct event it = at(10, EVENT_ITERATION, STAMP_LIFECYCLE);

	it.iteration = 1;
	feed(&g, &it);
	g_assert_cmpuint(g.begun, ==, 1);
	lifecycle(&g, 15, LIFECYCLE_SUSPENDED, SUSPENDED_MIGRATED);
	lifecycle(&g, 17, LIFECYCLE_RESUMED, RESUMED_UNPAUSED);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_JOB_ENDED);
	assert_mark(&g.last, MARK_T1, 15);
	assert_mark(&g.last, MARK_T3, 17);
	g_assert_cmpint(g.last.marks[MARK_T1].source, ==, STAMP_LIFECYCLE);
	g_assert_true(report_has_note(&g.last, NOTE_QMP_REFUSED));
}

/* The last iteration is told after SUSPENDED. */
static void test_without_qmp_late_iteration(void)
{
	struct guest g = { 0 };
	struct event it = at(10, EVENT_ITERATION, STAMP_LIFECYCLE);

	connection(&g, 1, true, false);
	found(&g, 1, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	it.iteration = 1;
	feed(&g, &it);
	lifecycle(&g, 15, LIFECYCLE_SUSPENDED, SUSPENDED_MIGRATED);
	it = at(15.1, EVENT_ITERATION, STAMP_LIFECYCLE);
	it.iteration = 2;
	feed(&g, &it);
	lifecycle(&g, 17, LIFECYCLE_RESUMED, RESUMED_MIGRATED);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_JOB_ENDED);
	g_assert_true(g.last.paused);
	assert_mark(&g.last, MARK_T1, 15);
}

/* Post-copy on a slow host: all is there before the guest runs. */
static void test_destination_completed_before_resume(void)
{
	struct guest g = { 0 };

	connection(&g, 1, true, true);
	qmp(&g, 10, QMP_SETUP);
	qmp(&g, 10.1, QMP_ACTIVE);
	qmp(&g, 12, QMP_POSTCOPY_ACTIVE);
	qmp(&g, 13, QMP_COMPLETED);
	g_assert_cmpuint(g.ended, ==, 0);
	say(&g, 13.5, EVENT_QMP_RESUME);
	assert_end(&g, MIG_COMPLETED, OUTCOME_POSTCOPY, CAUSE_NONE);
	assert_mark(&g.last, MARK_TE, 13.5);
}

/* Joined in mid-flight on the destination: libvirt's job says which side it is. */
static void test_late_join_of_a_destination(void)
{
	struct guest g = { 0 };
	struct context c;
	struct event ev = at(50.1, EVENT_CONTEXT, STAMP_JOB);

	connection(&g, 50, true, true);
	context_init(&c);
	c.run = RUN_PAUSED;
	c.paused_by_migration = c.incoming = true;
	c.job = JOB_ACTIVE;
	c.operation = OP_MIGRATION;
	c.side = SIDE_DESTINATION;
	ev.context = &c;
	feed(&g, &ev);
	g_assert_cmpuint(g.begun, ==, 1);
	g_assert_cmpint(g.m.report.side, ==, SIDE_DESTINATION);
	qmp(&g, 55, QMP_FAILED);
	assert_mark(&g.m.report, MARK_D2, 55);
	g_assert_true(report_has_note(&g.m.report, NOTE_JOINED_LATE));
}

static void test_without_qmp_cancel(void)
{
	struct guest g = { 0 };
	struct event it = at(10, EVENT_ITERATION, STAMP_LIFECYCLE);

	connection(&g, 1, true, false);
	found(&g, 1, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	feed(&g, &it);
	found(&g, 11, RUN_RUNNING, JOB_ACTIVE, OP_MIGRATION);
	g_assert_cmpuint(g.ended, ==, 0);
	found(&g, 12, RUN_RUNNING, JOB_NONE, OP_UNKNOWN);
	assert_end(&g, MIG_RESUMED, OUTCOME_FAILED, CAUSE_JOB_ENDED);
}

static void test_superseded(void)
{
	struct guest g = in_precopy();

	qmp(&g, 20, QMP_SETUP);
	g_assert_cmpuint(g.begun, ==, 2);
	assert_end(&g, MIG_LOST, OUTCOME_LOST, CAUSE_SUPERSEDED);
	g_assert_cmpint(g.m.report.state, ==, MIG_SETUP);
}

static void test_lifecycle_opens_no_second(void)
{
	struct guest g = in_precopy();

	qmp(&g, 14, QMP_CANCELLING);
	say(&g, 14.05, EVENT_QMP_STOP);
	qmp(&g, 14.1, QMP_CANCELLED);
	say(&g, 14.2, EVENT_QMP_RESUME);
	g_assert_cmpuint(g.ended, ==, 1);
	lifecycle(&g, 14.3, LIFECYCLE_SUSPENDED, SUSPENDED_MIGRATED);
	lifecycle(&g, 14.4, LIFECYCLE_RESUMED, RESUMED_MIGRATED);
	g_assert_cmpuint(g.begun, ==, 1);
}

static void test_destination_hugepages(void)
{
	struct guest g = { 0 };
	struct event ev;

	connection(&g, 1, true, true);
	qmp(&g, 10, QMP_SETUP);
	g_assert_cmpint(g.m.report.side, ==, SIDE_DESTINATION);
	lifecycle(&g, 10.01, LIFECYCLE_STARTED, STARTED_MIGRATED);
	qmp(&g, 10.1, QMP_ACTIVE);
	ev = at(12, EVENT_PROCESS_EXITED, STAMP_KERNEL); /* killed: no failed comes */
	feed(&g, &ev);
	g_assert_cmpuint(g.effects & MIGRATION_WATCH_POOL, !=, 0);
	ev = at(12.5, EVENT_POOL_BACK, STAMP_KERNEL);
	feed(&g, &ev);
	assert_end(&g, MIG_GONE, OUTCOME_FAILED, CAUSE_QEMU_EXITED);
	assert_mark(&g.last, MARK_D2, 12);
	assert_mark(&g.last, MARK_D3, 12);
	assert_mark(&g.last, MARK_D4, 12.5);
	g_assert_cmpuint(g.last.marks[MARK_D4].flags & MARK_LOWER_BOUND, !=, 0);
	g_assert_cmpint(g.last.marks[MARK_TE].missing, ==, MISSING_NOT_APPLICABLE);
}

static void test_unknown_is_counted(void)
{
	struct guest g = in_precopy();
	struct event ev = at(11, EVENT_QMP_UNKNOWN, STAMP_QMP);

	feed(&g, &ev);
	lifecycle(&g, 11, 99, -5);
	lifecycle(&g, 11, -1, 0);
	qmp(&g, 11, QMP_COLO);
	qmp(&g, 11, (enum qmp_status) 77);
	g_assert_cmpuint(g.m.report.events_unknown, ==, 5);
	g_assert_cmpuint(g.ended, ==, 0);
}

/* Any order of any events: nothing crashes, the phases sum to the total, at most one report a beginning. */
static void test_any_order(void)
{
	static const enum event_kind kinds[] = {
		EVENT_QMP_MIGRATION, EVENT_QMP_MIGRATION, EVENT_QMP_MIGRATION, EVENT_QMP_PASS, EVENT_QMP_STOP, EVENT_QMP_RESUME, EVENT_QMP_UNKNOWN,
		EVENT_LIFECYCLE, EVENT_ITERATION, EVENT_JOB_COMPLETED, EVENT_CONTEXT, EVENT_CONNECTION_LOST, EVENT_CONNECTION_UP,
		EVENT_MISSING, EVENT_PROCESS_EXITED, EVENT_POOL_BACK, EVENT_POOL_UNKNOWN, EVENT_TIMEOUT,
	};
	g_autoptr(GRand) rand = g_rand_new_with_seed(1);

	for (int run = 0; run < 2000; run++) {
		struct guest g = { 0 };

		for (int i = 0; i < 60; i++) {
			struct event ev = at(1 + i + g_rand_double_range(rand, -2, 0), kinds[g_rand_int_range(rand, 0, G_N_ELEMENTS(kinds))], STAMP_QMP);
			struct context c;
			struct phases p;
			uint64_t sum = 0;

			context_init(&c);
			c.run = (enum run_state) g_rand_int_range(rand, 0, 4);
			c.job = (enum job_state) g_rand_int_range(rand, 0, 3);
			c.operation = (enum operation) g_rand_int_range(rand, 0, OP_MAX);
			c.paused_by_migration = g_rand_boolean(rand);
			if (ev.kind == EVENT_QMP_MIGRATION)
				ev.status = (enum qmp_status) g_rand_int_range(rand, 0, QMP_STATUS_MAX);
			if (ev.kind == EVENT_LIFECYCLE) {
				ev.lifecycle.event = g_rand_int_range(rand, -1, 10);
				ev.lifecycle.detail = g_rand_int_range(rand, -1, 10);
			}
			if (ev.kind == EVENT_CONNECTION_UP)
				ev.qmp = g_rand_boolean(rand);
			if (ev.kind == EVENT_CONTEXT)
				ev.context = &c;
			feed(&g, &ev);
			g_assert_cmpuint(g.ended, <=, g.begun);
			if (!(g.effects & MIGRATION_ENDED))
				continue;
			phases_compute(&g.last, &p);
			for (unsigned k = 0; k < p.n; k++)
				sum += p.phase[k].known ? p.phase[k].usec : 0;
			g_assert_cmpuint(sum, ==, p.total_usec);
			if (p.total_known)
				g_assert_cmpuint(p.total_usec, <, 120 * 1000000ull);
			g_assert_cmpint(g.last.outcome, !=, OUTCOME_NONE);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define TEST(title, fn) g_test_add_func("/migration/" title, fn)
	TEST("QEMU resumes before it says cancelled", test_resume_before_cancelled);
	TEST("QEMU resumes before it says failed", test_resume_before_failed);
	TEST("QEMU resumes and never says why", test_resume_and_no_word);
	TEST("pre-switchover before STOP, failing before failed", test_newer_qemu_order);
	TEST("a suspend in pre-copy is not the switchover", test_suspend_is_not_the_switchover);
	TEST("a pause that ends in pre-copy leaves no mark", test_pause_and_resume_in_precopy);
	TEST("a cancel in pre-copy is known as soon as QEMU says so", test_cancel_is_known_at_once);
	TEST("failed in setup", test_setup_failed);
	TEST("left paused by a vanished client", test_left_paused);
	TEST("post-copy lost and recovered", test_postcopy_lost_and_recovered);
	TEST("post-copy lost for good", test_postcopy_lost_for_good);
	TEST("joined late", test_late_join);
	TEST("connection lost, over when it is back", test_connection_lost_and_over);
	TEST("connection lost, still going when it is back", test_connection_lost_and_going_on);
	TEST("gone while nobody watched", test_gone_while_not_watched);
	TEST("completed, then gone while nobody watched", test_completed_then_gone);
	TEST("adopted after a restart of the daemon", test_adopted_after_restart);
	TEST("without QMP events", test_without_qmp);
	TEST("without QMP events the last iteration leads nowhere", test_without_qmp_late_iteration);
	TEST("destination: completed before RESUME", test_destination_completed_before_resume);
	TEST("joined late on the destination", test_late_join_of_a_destination);
	TEST("without QMP events a cancel is found by asking", test_without_qmp_cancel);
	TEST("a new setup supersedes", test_superseded);
	TEST("late lifecycle events open no second migration", test_lifecycle_opens_no_second);
	TEST("destination killed, hugepages back", test_destination_hugepages);
	TEST("unknown events are counted", test_unknown_is_counted);
	TEST("any order of any events", test_any_order);
	return g_test_run();
}
