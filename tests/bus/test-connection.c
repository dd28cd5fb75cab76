/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The service's own connection: absent, taken, lost and regained, idle, and flooded. */

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bus/bus-internal.h"
#include "bus/gsource.h"
#include "fixture.h"

static bool answers(struct fixture *f)
{
	sd_bus_message *reply = call_manager(f, "ListReports", "a{sv}uu", 0, 0, 0);
	bool good = !sd_bus_message_is_method_error(reply, NULL);

	sd_bus_message_unref(reply);
	return good;
}

static void test_absent_bus_is_told_and_waited_for(void)
{
	struct fixture f;

	fixture_prepare(&f);
	fixture_serve(&f);
	WAIT_FOR(f.states == 1);
	g_assert_nonnull(f.trouble);
	g_test_message("%s", f.trouble);
	private_bus_start(&f.daemon);
	WAIT_FOR(f.states == 2);
	g_assert_null(f.trouble);
	fixture_connect(&f);
	g_assert_true(answers(&f));
	fixture_down(&f);
}

static void test_address_that_is_none(void)
{
	const struct bus_events events = { 0 };
	struct fixture f;

	fixture_prepare(&f);
	g_assert_cmpint(bus_new(BUS_ADDRESS, "what:ever", &f.model.model, &events, &f.bus), ==, 0);
	fixture_run(100);
	g_assert_cmpstr(f.bus->trouble, !=, "");
	g_test_message("%s", f.bus->trouble);
	fixture_down(&f);
}

/* Both are found where libraries look for them. */
static void test_system_and_user_bus(void)
{
	static const struct {
		enum bus_kind kind;
		const char *variable;
	} cases[] = { { BUS_SYSTEM, "DBUS_SYSTEM_BUS_ADDRESS" }, { BUS_USER, "DBUS_SESSION_BUS_ADDRESS" } };

	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		char *before = g_strdup(g_getenv(cases[i].variable));
		const struct bus_events events = { 0 };
		struct fixture f;

		fixture_prepare(&f);
		private_bus_start(&f.daemon);
		g_setenv(cases[i].variable, f.daemon.address, TRUE);
		g_assert_cmpint(bus_new(cases[i].kind, NULL, &f.model.model, &events, &f.bus), ==, 0);
		WAIT_FOR(f.bus->serving);
		fixture_connect(&f);
		g_assert_true(answers(&f));
		fixture_down(&f);
		if (before)
			g_setenv(cases[i].variable, before, TRUE);
		else
			g_unsetenv(cases[i].variable);
		g_free(before);
	}
}

static void test_name_that_is_taken_is_waited_for(void)
{
	struct fixture f;

	fixture_prepare(&f);
	private_bus_start(&f.daemon);
	fixture_connect(&f);
	sd_bus_message_unref(call_as(f.client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "RequestName", "su", RBD_BUS_NAME, 4));
	fixture_serve(&f);
	WAIT_FOR(f.states == 1);
	g_assert_nonnull(f.trouble);
	g_test_message("%s", f.trouble);
	/* Nothing is served and nothing signalled meanwhile. */
	g_assert_false(f.bus->serving);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	bus_manager_changed(f.bus);
	fixture_run(100);
	g_assert_cmpuint(f.signals->len, ==, 0);
	sd_bus_message_unref(call_as(f.client, "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReleaseName", "s", RBD_BUS_NAME));
	WAIT_FOR(f.states == 2);
	g_assert_null(f.trouble);
	g_assert_true(answers(&f));
	fixture_down(&f);
}

static void test_service_comes_back_after_the_bus(void)
{
	struct question q;
	struct fixture f;
	char *text;

	fixture_up(&f);
	put_report(&f, ID_2, UUID_B, "other", SIDE_SOURCE, OUTCOME_FAILED, 0);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	fake_store_hold(f.store, true);
	question_ask(&q, f.client, ID_2);
	WAIT_FOR(fake_store_held(f.store) == 1);
	private_bus_stop(&f.daemon);
	WAIT_FOR(f.states == 2);
	g_assert_nonnull(f.trouble);
	g_test_message("%s", f.trouble);
	question_done(&q);
	fixture_disconnect(&f);
	/* The answer to a question of the old connection goes nowhere. */
	fake_store_hold(f.store, false);
	fake_store_release(f.store, 0);
	/* News of this time are told to nobody; what they led to is seen later. */
	fake_model_finish(&f.model, f.bus, fake_model_begin(&f.model, f.bus, "0000000000000005", UUID_A, "guest"), MIG_RESUMED, OUTCOME_FAILED);
	bus_migration_changed(f.bus, &fake_model_find(&f.model, ID_1)->report);
	private_bus_start(&f.daemon);
	WAIT_FOR(f.states == 3);
	g_assert_null(f.trouble);
	forget_signals(&f);
	fixture_connect(&f);
	g_assert_true(answers(&f));
	text = get_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Name", "s");
	g_assert_cmpstr(text, ==, "<\"guest\">");
	g_free(text);
	text = get_property(&f, PATH_A, RBD_IFACE_DOMAIN, "Reports", "u");
	g_assert_cmpstr(text, ==, "<1>");
	g_free(text);
	fake_model_find(&f.model, ID_1)->report.state = MIG_PRECOPY;
	bus_migration_changed(f.bus, &fake_model_find(&f.model, ID_1)->report);
	WAIT_FOR(count_signals(&f, MIGRATION_1, "PropertiesChanged") == 1);
	fixture_down(&f);
}

static void test_last_signals_get_out(void)
{
	struct fixture f;

	fixture_up(&f);
	for (unsigned i = 0; i < 50; i++) {
		struct fake_live *l = fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");

		fake_model_finish(&f.model, f.bus, l, MIG_RESUMED, OUTCOME_FAILED);
	}
	f.bus = bus_free(f.bus);
	WAIT_FOR(count_signals(&f, RBD_PATH_MANAGER, "MigrationFinished") == 50);
	fixture_down(&f);
}

static gboolean on_end(gpointer unused)
{
	(void) unused;
	return G_SOURCE_REMOVE;
}

static void test_idle_service_does_not_wake_up(void)
{
	gint64 end;
	unsigned turns = 0;
	struct fixture f;

	fixture_up(&f);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	fixture_run(300);
	/* One second; only this timer should end it. */
	end = g_get_monotonic_time() + G_USEC_PER_SEC;
	g_timeout_add(1000, on_end, NULL);
	while (g_get_monotonic_time() < end) {
		g_main_context_iteration(NULL, TRUE);
		turns++;
	}
	g_test_message("%u turns of the main loop in one idle second", turns);
	g_assert_cmpuint(turns, <=, 2);
	fixture_down(&f);
}

enum flood {
	FLOOD_READS,   /* asks for the largest answers as fast as it can, and reads them */
	FLOOD_IGNORES, /* does not read them */
	FLOOD_WANTS_NONE, /* says that it wants no answer, which the bus daemon's limit on pending answers does not count */
};

static void flood(const struct fixture *f, enum flood kind)
{
	sd_bus *bus = NULL;
	uint64_t cookie;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (sd_bus_new(&bus) < 0 || sd_bus_set_address(bus, f->daemon.address) < 0 || sd_bus_set_bus_client(bus, true) < 0 ||
		sd_bus_start(bus) < 0)
		_exit(1);
	for (unsigned i = 0;; i++) {
		sd_bus_message *m = NULL;

		if (i % 2)
			sd_bus_message_new_method_call(bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, "org.freedesktop.DBus.ObjectManager",
				"GetManagedObjects");
		else
			sd_bus_message_new_method_call(bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "ListReports");
		if (i % 2 == 0)
			sd_bus_message_append(m, "a{sv}uu", 0, 0, 1000);
		sd_bus_send(bus, m, kind == FLOOD_WANTS_NONE ? NULL : &cookie);
		sd_bus_message_unref(m);
		sd_bus_flush(bus);
		while (kind != FLOOD_IGNORES && sd_bus_process(bus, NULL) > 0)
			;
	}
}

static uint64_t rss_anon_kib(void)
{
	uint64_t kib = 0;
	char *text, *at;

	g_assert_true(g_file_get_contents("/proc/self/status", &text, NULL, NULL));
	at = strstr(text, "RssAnon:");
	if (at)
		kib = strtoull(at + strlen("RssAnon:"), NULL, 10);
	g_free(text);
	return kib;
}

struct measured {
	unsigned calls;
	gint64 longest;
	uint64_t queued, rss_kib;
};

static void measure(struct fixture *f, gint64 usec, struct measured *ret_)
{
	gint64 start = g_get_monotonic_time(), before;
	sd_bus_message *reply;
	uint64_t n;

	*ret_ = (struct measured) { 0 };
	while (g_get_monotonic_time() < start + usec) {
		before = g_get_monotonic_time();
		reply = call_manager(f, "GetReport", "s", ID_1);
		g_assert_false(sd_bus_message_is_method_error(reply, NULL));
		sd_bus_message_unref(reply);
		ret_->longest = MAX(ret_->longest, g_get_monotonic_time() - before);
		ret_->calls++;
		g_assert_cmpint(sd_bus_get_n_queued_write(f->bus->conn, &n), >=, 0);
		ret_->queued = MAX(ret_->queued, n);
		ret_->rss_kib = MAX(ret_->rss_kib, rss_anon_kib());
	}
}

static bool under_asan(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
	return true;
#endif
#endif
	return false;
}

static void flooded(enum flood kind)
{
	enum { FLOODERS = 1 };
	pid_t pids[FLOODERS];
	struct measured m;
	struct fixture f;
	uint64_t before;

	fixture_up(&f);
	for (unsigned i = 0; i < 1000; i++) {
		char id[REPORT_ID_LEN + 1], uuid[REPORT_UUID_LEN + 1];

		snprintf(id, sizeof(id), "cccc%012u", i);
		snprintf(uuid, sizeof(uuid), "0a1b2c3d-0000-4000-8000-%012u", i);
		put_report(&f, id, uuid, "a guest", SIDE_SOURCE, OUTCOME_FAILED, 5000000000 + i);
	}
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	sd_bus_message_unref(call_as(f.client, RBD_PATH_MANAGER, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL));
	before = rss_anon_kib();
	for (unsigned i = 0; i < FLOODERS; i++) {
		pids[i] = fork();
		g_assert_cmpint(pids[i], >=, 0);
		if (pids[i] == 0)
			flood(&f, kind);
	}
	measure(&f, 4 * G_USEC_PER_SEC, &m);
	for (unsigned i = 0; i < FLOODERS; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	g_test_message("%u other calls answered, longest %u ms, at most %u messages queued, RssAnon %u KiB before, %u KiB at most",
		m.calls, (unsigned) (m.longest / 1000), (unsigned) m.queued, (unsigned) before, (unsigned) m.rss_kib);
	/* Each was answered, and none so late that a client would have given up (25 s, as most do); how fast depends on the machine. */
	g_assert_cmpuint(m.calls, >=, 2);
	g_assert_cmpuint(m.queued, <, 4 * BUS_BACKLOG_MAX);
	/* AddressSanitizer keeps what is freed. */
	if (!under_asan())
		g_assert_cmpuint(m.rss_kib, <, before + 64 * 1024);
	WAIT_FOR(answers(&f));
	fixture_down(&f);
}

static void test_clients_that_flood_and_read(void)
{
	flooded(FLOOD_READS);
}

static void test_clients_that_flood_and_do_not_read(void)
{
	flooded(FLOOD_IGNORES);
}

static void test_clients_that_flood_and_want_no_answer(void)
{
	flooded(FLOOD_WANTS_NONE);
}

int main(int argc, char **argv)
{
	private_bus_need();
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/connection/absent-bus-is-told-and-waited-for", test_absent_bus_is_told_and_waited_for);
	g_test_add_func("/connection/address-that-is-none", test_address_that_is_none);
	g_test_add_func("/connection/system-and-user-bus", test_system_and_user_bus);
	g_test_add_func("/connection/name-that-is-taken-is-waited-for", test_name_that_is_taken_is_waited_for);
	g_test_add_func("/connection/service-comes-back-after-the-bus", test_service_comes_back_after_the_bus);
	g_test_add_func("/connection/last-signals-get-out", test_last_signals_get_out);
	g_test_add_func("/connection/idle-service-does-not-wake-up", test_idle_service_does_not_wake_up);
	g_test_add_func("/connection/clients-that-flood-and-read", test_clients_that_flood_and_read);
	g_test_add_func("/connection/clients-that-flood-and-do-not-read", test_clients_that_flood_and_do_not_read);
	g_test_add_func("/connection/clients-that-flood-and-want-no-answer", test_clients_that_flood_and_want_no_answer);
	return g_test_run();
}
