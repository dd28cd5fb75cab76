/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The daemon as a whole on a recorded source: real store, no bus, no libvirt. */

#include <glib/gstdio.h>
#include <string.h>
#include <syslog.h>

#include "config.h"
#include "log.h"
#include "manager-internal.h"
#include "store/store.h"

#define UUID "6d1f7a52-5d0c-4c1e-9d7b-000000000001"
#define URI  "test:///recorded"

static char *dir;

static struct manager *start(void)
{
	const struct manager_options options = { .no_bus = true, .no_libvirt = true };
	char *uris[] = { NULL };
	struct config c = {
		.uris = uris, .status_dir = (char *) "/nonexistent", .call_timeout = NSEC_PER_SEC, .reconnect_max = NSEC_PER_SEC,
		.state_dir = dir, .max_reports = 100, .max_bytes = 64u << 20, .left_paused_after = 30 * NSEC_PER_SEC, .log_level = LOG_ERR,
	};
	struct manager *m;

	g_assert_cmpint(manager_new(&c, &options, &m), ==, 0);
	return m;
}

static struct event now(struct manager *m, enum event_kind kind)
{
	struct clock_reading r = clock_read(&m->clock);

	return event_at_arrival(kind, STAMP_ARRIVAL, r.monotonic, r.real_offset);
}

static void qmp(struct manager *m, const char *uuid, enum event_kind kind, enum qmp_status status)
{
	struct event ev = now(m, kind);
	nsec_t real = ev.arrival + m->clock.map.offset;

	if (kind == EVENT_QMP_MIGRATION)
		ev.status = status;
	manager_feed_qmp(m, URI, uuid, "guest1", &ev, (long long) (real / NSEC_PER_SEC), (unsigned) (real % NSEC_PER_SEC / 1000));
}

/* Listed as running: what begins later begins here. */
static void running(struct manager *m, const char *uuid)
{
	struct context c;
	struct event ev = now(m, EVENT_CONTEXT);

	context_init(&c);
	c.run = RUN_RUNNING;
	c.job = JOB_NONE;
	ev.context = &c;
	manager_feed_event(m, URI, uuid, "guest1", &ev);
}

static void migrate(struct manager *m, const char *uuid)
{
	running(m, uuid);
	qmp(m, uuid, EVENT_QMP_MIGRATION, QMP_SETUP);
	qmp(m, uuid, EVENT_QMP_MIGRATION, QMP_ACTIVE);
}

static void fail_in_switchover(struct manager *m, const char *uuid)
{
	qmp(m, uuid, EVENT_QMP_STOP, QMP_NONE);
	qmp(m, uuid, EVENT_QMP_MIGRATION, QMP_DEVICE);
	qmp(m, uuid, EVENT_QMP_MIGRATION, QMP_FAILED);
	qmp(m, uuid, EVENT_QMP_RESUME, QMP_NONE);
}

static const struct summary *only(struct manager *m)
{
	const struct summary *s;
	struct store_filter f = { .domain = UUID };
	uint32_t n;

	g_assert_cmpuint(store_list(m->store, &f, 0, &s, 1, &n), ==, 1);
	g_assert_cmpuint(n, ==, 1);
	return s;
}

static void empty_dir(const char *path)
{
	g_autoptr(GDir) d = g_dir_open(path, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		empty_dir(child);
		g_remove(child);
	}
}

static void test_rollback_is_kept(void)
{
	struct manager *m = start();
	const struct summary *s;

	migrate(m, UUID);
	g_assert_nonnull(m->model.live_nth(m, 0));
	g_assert_null(m->model.live_nth(m, 1));
	fail_in_switchover(m, UUID);
	g_assert_null(m->model.live_nth(m, 0));
	s = only(m);
	g_assert_cmpint(s->outcome, ==, OUTCOME_FAILED);
	g_assert_true(s->blackout_known);
	manager_free(m);
	m = start(); /* and is there after a restart */
	g_assert_cmpint(only(m)->outcome, ==, OUTCOME_FAILED);
	manager_free(m);
	empty_dir(dir);
}

static void test_in_flight_is_not_lost(void)
{
	struct manager *m = start();
	const struct summary *s;

	migrate(m, UUID);
	manager_free(m);
	m = start(); /* nobody watches that URI any more */
	s = only(m);
	g_assert_cmpint(s->outcome, ==, OUTCOME_LOST);
	g_assert_cmpint(s->cause, ==, CAUSE_NOT_WATCHED);
	manager_free(m);
	empty_dir(dir);
}

/* As the next process does when the URI is configured: the report goes on under its own id. */
static void test_in_flight_goes_on(void)
{
	struct manager *m = start();
	struct manager_uri *u;
	struct report kept;

	migrate(m, UUID);
	kept = *m->model.live_nth(m, 0);
	manager_free(m);
	empty_dir(dir);
	m = start();
	u = manager_uri_new(m, URI, true);
	g_ptr_array_add(m->adopted, g_memdup2(&kept, sizeof(kept)));
	manager_adopt(u);
	g_assert_cmpuint(m->adopted->len, ==, 0);
	fail_in_switchover(m, UUID);
	g_assert_cmpstr(only(m)->id, ==, kept.id);
	g_assert_cmpint(only(m)->outcome, ==, OUTCOME_FAILED);
	manager_free(m);
	empty_dir(dir);
}

static void test_many_at_once(void)
{
	struct manager *m = start();
	const struct summary *s[200];
	struct store_filter f = { .outcomes = 1u << OUTCOME_FAILED };
	uint32_t n;

	for (unsigned i = 0; i < 64; i++) {
		g_autofree char *uuid = g_strdup_printf("6d1f7a52-5d0c-4c1e-9d7b-%012x", i);

		migrate(m, uuid);
	}
	for (unsigned i = 0; i < 64; i++) {
		g_autofree char *uuid = g_strdup_printf("6d1f7a52-5d0c-4c1e-9d7b-%012x", i);

		fail_in_switchover(m, uuid);
	}
	g_assert_cmpuint(store_list(m->store, &f, 0, s, G_N_ELEMENTS(s), &n), ==, 64);
	manager_free(m);
	empty_dir(dir);
}

/* What libvirt says of a domain that nobody knows, or says twice, makes no migration. */
static void test_noise(void)
{
	struct manager *m = start();
	struct event ev = now(m, EVENT_LIFECYCLE);

	ev.lifecycle.event = LIFECYCLE_SUSPENDED;
	ev.lifecycle.detail = SUSPENDED_MIGRATED;
	manager_feed_event(m, URI, UUID, "", &ev);
	qmp(m, UUID, EVENT_QMP_RESUME, QMP_NONE);
	qmp(m, UUID, EVENT_QMP_MIGRATION, QMP_FAILED);
	qmp(m, UUID, EVENT_QMP_MIGRATION, QMP_COMPLETED);
	g_assert_null(m->model.live_nth(m, 0));
	g_assert_cmpuint(m->events, ==, 4);
	manager_free(m);
	empty_dir(dir);
}

int main(int argc, char **argv)
{
	int r;

	g_test_init(&argc, &argv, NULL);
	log_setup(LOG_ERR);
	dir = g_dir_make_tmp("rollbackd-test-XXXXXX", NULL);
	g_assert_nonnull(dir);
	g_test_add_func("/manager/a rollback is kept", test_rollback_is_kept);
	g_test_add_func("/manager/what is in flight is not lost", test_in_flight_is_not_lost);
	g_test_add_func("/manager/what is in flight goes on under its id", test_in_flight_goes_on);
	g_test_add_func("/manager/sixty-four at once", test_many_at_once);
	g_test_add_func("/manager/noise", test_noise);
	r = g_test_run();
	g_remove(dir);
	g_free(dir);
	return r;
}
