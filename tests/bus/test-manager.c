/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.rollbackd1.Manager: lists, reports, and what a client may ask for at most. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

/* Three reports of two domains, and 1000 s between them. */
static void put_three(struct fixture *f)
{
	put_report(f, "aaaa000000000001", UUID_A, "guest", SIDE_SOURCE, OUTCOME_CANCELLED, 1000000000);
	put_report(f, "aaaa000000000002", UUID_B, "other", SIDE_DESTINATION, OUTCOME_FAILED, 2000000000);
	put_report(f, "bbbb000000000003", UUID_A, "guest", SIDE_SOURCE, OUTCOME_COMPLETED, 3000000000);
}

/* The ids listed, first 4 and last digit, then the total: "aaaa1 bbbb3 2". */
static char *ids_of(sd_bus_message *reply)
{
	GString *ids = g_string_new(NULL);
	uint32_t total;

	g_assert_false(sd_bus_message_is_method_error(reply, NULL));
	g_assert_cmpint(sd_bus_message_enter_container(reply, 'a', "a{sv}"), >, 0);
	while (sd_bus_message_enter_container(reply, 'a', "{sv}") > 0) {
		const char *key, *id;

		g_assert_cmpint(sd_bus_message_enter_container(reply, 'e', "sv"), >, 0);
		g_assert_cmpint(sd_bus_message_read(reply, "s", &key), >, 0);
		g_assert_cmpstr(key, ==, "Id");
		g_assert_cmpint(sd_bus_message_read(reply, "v", "s", &id), >, 0);
		g_string_append_printf(ids, "%.4s%c ", id, id[15]);
		sd_bus_message_exit_container(reply);
		while (sd_bus_message_skip(reply, "{sv}") > 0)
			;
		g_assert_cmpint(sd_bus_message_exit_container(reply), >=, 0);
	}
	g_assert_cmpint(sd_bus_message_exit_container(reply), >=, 0);
	g_assert_cmpint(sd_bus_message_read(reply, "u", &total), >, 0);
	g_string_append_printf(ids, "%u", total);
	sd_bus_message_unref(reply);
	return g_string_free(ids, FALSE);
}

#define ASSERT_LISTED(expected, f, ...)                                                \
	do {                                                                           \
		char *ids_ = ids_of(call_manager(f, "ListReports", "a{sv}uu", __VA_ARGS__)); \
		g_assert_cmpstr(ids_, ==, expected);                                   \
		g_free(ids_);                                                          \
	} while (0)

static void test_list_filters(void)
{
	struct fixture f;

	fixture_up(&f);
	ASSERT_LISTED("0", &f, 0, 0, 0);
	put_three(&f);
	ASSERT_LISTED("bbbb3 aaaa2 aaaa1 3", &f, 0, 0, 0);
	ASSERT_LISTED("bbbb3 aaaa1 2", &f, 1, "Domain", "s", UUID_A, 0, 0);
	ASSERT_LISTED("aaaa2 1", &f, 1, "Domain", "s", "other", 0, 0);
	ASSERT_LISTED("0", &f, 1, "Domain", "s", "nobody", 0, 0);
	ASSERT_LISTED("bbbb3 aaaa2 2", &f, 1, "SinceUSec", "t", (uint64_t) 2000000000, 0, 0);
	ASSERT_LISTED("aaaa2 1", &f, 2, "SinceUSec", "t", (uint64_t) 1500000000, "UntilUSec", "t", (uint64_t) 2500000000, 0, 0);
	ASSERT_LISTED("aaaa2 aaaa1 2", &f, 1, "Outcomes", "as", 2, "cancelled", "failed", 0, 0);
	ASSERT_LISTED("aaaa2 1", &f, 1, "Sides", "as", 1, "destination", 0, 0);
	ASSERT_LISTED("bbbb3 aaaa2 aaaa1 3", &f, 1, "Sides", "as", 0, 0, 0);
	ASSERT_LISTED("aaaa1 1", &f, 2, "Domain", "s", "guest", "Outcomes", "as", 1, "cancelled", 0, 0);
	fixture_down(&f);
}

static void test_list_pages(void)
{
	struct fixture f;

	fixture_up(&f);
	put_three(&f);
	ASSERT_LISTED("bbbb3 aaaa2 3", &f, 0, 0, 2);
	ASSERT_LISTED("aaaa1 3", &f, 0, 2, 2);
	ASSERT_LISTED("3", &f, 0, 3, 2);
	ASSERT_LISTED("3", &f, 0, UINT32_MAX, 1000);
	for (unsigned i = 0; i < 1100; i++) {
		char id[17];

		snprintf(id, sizeof(id), "cccc%012u", i * 10);
		put_report(&f, id, UUID_B, "other", SIDE_SOURCE, OUTCOME_FAILED, 5000000000 + i);
	}
	for (unsigned limit = 0; limit <= 1000; limit += 1000) {
		char *ids = ids_of(call_manager(&f, "ListReports", "a{sv}uu", 0, 0, limit));

		/* Each id is "cccc0 ". */
		g_assert_cmpuint(strlen(ids), ==, (limit ? limit : 100) * 6 + strlen("1103"));
		g_free(ids);
	}
	fixture_down(&f);
}

static void test_list_shows_what_is_known(void)
{
	struct fixture f;
	sd_bus_message *reply;
	char *text;

	fixture_up(&f);
	put_report(&f, ID_2, UUID_A, "guest", SIDE_SOURCE, OUTCOME_CANCELLED, 1000000000);
	reply = call_manager(&f, "ListReports", "a{sv}uu", 0, 0, 0);
	text = message_text(reply);
	g_assert_cmpstr(text, ==, "[[\"Id\" <\"" ID_2 "\"> \"Uuid\" <\"" UUID_A "\"> \"Name\" <\"guest\"> \"Uri\" <\"qemu:///system\"> "
		"\"Side\" <\"source\"> \"Operation\" <\"migration\"> \"Driver\" <\"p2p\"> \"Outcome\" <\"cancelled\"> \"Cause\" <\"cancel\"> "
		"\"Paused\" <true> \"BeganUSec\" <1000000000> \"TotalUSec\" <4000> \"BlackoutUSec\" <2000> \"BlackoutLowerBound\" <true>]] 1");
	g_free(text);
	sd_bus_message_unref(reply);
	fixture_down(&f);
}

#define REFUSED(f, ...) assert_error(call_manager(f, "ListReports", "a{sv}uu", __VA_ARGS__), RBD_ERROR_INVALID_ARGUMENT)

static sd_bus_message *list_with_words(struct fixture *f, unsigned n)
{
	const char **words = g_new0(const char *, n + 1);
	sd_bus_message *m, *reply;

	for (unsigned i = 0; i < n; i++)
		words[i] = "failed";
	g_assert_cmpint(sd_bus_message_new_method_call(f->client, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "ListReports"), >=, 0);
	sd_bus_message_open_container(m, 'a', "{sv}");
	sd_bus_message_open_container(m, 'e', "sv");
	sd_bus_message_append(m, "s", "Outcomes");
	sd_bus_message_open_container(m, 'v', "as");
	sd_bus_message_append_strv(m, (char **) words);
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
	sd_bus_message_close_container(m);
	sd_bus_message_append(m, "uu", 0, 0);
	reply = call_message(f->client, m);
	g_free(words);
	return reply;
}

static void test_list_refuses_what_it_does_not_know(void)
{
	struct fixture f;
	char longest[258];

	fixture_up(&f);
	put_three(&f);
	REFUSED(&f, 1, "Colour", "s", "blue", 0, 0);
	REFUSED(&f, 1, "\x1b[31mX\n", "s", "blue", 0, 0);
	REFUSED(&f, 1, "Domain", "u", 3, 0, 0);
	REFUSED(&f, 1, "Domain", "s", "", 0, 0);
	REFUSED(&f, 2, "Domain", "s", "a", "Domain", "s", "b", 0, 0);
	REFUSED(&f, 1, "SinceUSec", "x", (int64_t) -1, 0, 0);
	REFUSED(&f, 1, "SinceUSec", "t", UINT64_MAX, 0, 0);
	REFUSED(&f, 1, "Outcomes", "as", 1, "exploded", 0, 0);
	REFUSED(&f, 1, "Sides", "as", 2, "source", "sauce", 0, 0);
	REFUSED(&f, 0, 0, 1001);
	memset(longest, 'x', sizeof(longest));
	longest[257] = '\0';
	REFUSED(&f, 1, "Domain", "s", longest, 0, 0);
	longest[256] = '\0';
	ASSERT_LISTED("0", &f, 1, "Domain", "s", longest, 0, 0);
	sd_bus_message_unref(list_with_words(&f, 32));
	assert_error(list_with_words(&f, 33), RBD_ERROR_INVALID_ARGUMENT);
	assert_error(call_manager(&f, "ListReports", "s", "x"), SD_BUS_ERROR_INVALID_ARGS);
	fixture_down(&f);
}

static void assert_report(struct fixture *f, const char *id, const char *whole_id)
{
	sd_bus_message *reply = call_manager(f, "GetReport", "s", id);
	const char *json;
	char *part = g_strdup_printf("\"id\":\"%s\"", whole_id);

	g_assert_false(sd_bus_message_is_method_error(reply, NULL));
	g_assert_cmpint(sd_bus_message_read(reply, "s", &json), >, 0);
	g_assert_nonnull(strstr(json, part));
	g_free(part);
	sd_bus_message_unref(reply);
}

#define REPORT_REFUSED(f, id, name) assert_error(call_manager(f, "GetReport", "s", id), name)

static void test_report_by_id_and_prefix(void)
{
	struct fixture f;

	fixture_up(&f);
	put_three(&f);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	fake_model_begin(&f.model, f.bus, "bbbb999999999999", UUID_B, "other");
	assert_report(&f, "aaaa000000000001", "aaaa000000000001");
	assert_report(&f, "aaaa000000000002", "aaaa000000000002");
	assert_report(&f, "bbbb0", "bbbb000000000003");
	assert_report(&f, ID_1, ID_1);
	assert_report(&f, "0011", ID_1);
	REPORT_REFUSED(&f, "aaaa", RBD_ERROR_AMBIGUOUS);
	/* One live, one finished. */
	REPORT_REFUSED(&f, "bbbb", RBD_ERROR_AMBIGUOUS);
	fake_model_begin(&f.model, f.bus, "0011999999999999", UUID_B, "other");
	REPORT_REFUSED(&f, "0011", RBD_ERROR_AMBIGUOUS);
	REPORT_REFUSED(&f, "dddd", RBD_ERROR_NO_SUCH_REPORT);
	REPORT_REFUSED(&f, "aaaa000000000009", RBD_ERROR_NO_SUCH_REPORT);
	fixture_down(&f);
}

static void test_report_refuses_garbage(void)
{
	static const char *const garbage[] = {
		"", "a", "aaa", "AAAA000000000001", "aaaa00000000000g", "aaaa0000000000011", "../../etc/passwd", "aaaa%n%n",
		"aaaa ", "\xc3\xa9\xc3\xa9\xc3\xa9", "aaaa\n0000",
	};
	struct fixture f;
	char *endless = g_strnfill(100000, 'a');

	fixture_up(&f);
	put_three(&f);
	for (unsigned i = 0; i < G_N_ELEMENTS(garbage); i++)
		REPORT_REFUSED(&f, garbage[i], RBD_ERROR_INVALID_ARGUMENT);
	REPORT_REFUSED(&f, endless, RBD_ERROR_INVALID_ARGUMENT);
	g_free(endless);
	fixture_down(&f);
}

static void test_report_that_cannot_be_read(void)
{
	static const struct {
		int result;
		const char *name;
	} cases[] = {
		{ -EIO, SD_BUS_ERROR_IO_ERROR },
		{ -ENOENT, RBD_ERROR_NO_SUCH_REPORT },
		{ -EAGAIN, RBD_ERROR_LIMIT_EXCEEDED },
	};
	struct fixture f;

	fixture_up(&f);
	put_three(&f);
	fake_store_hold(f.store, true);
	for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct question q;

		question_ask(&q, f.client, "aaaa000000000001");
		WAIT_FOR(fake_store_held(f.store) == 1);
		g_assert_null(q.reply);
		fake_store_release(f.store, cases[i].result);
		WAIT_FOR(q.reply);
		assert_error(g_steal_pointer(&q.reply), cases[i].name);
		question_done(&q);
	}
	fixture_down(&f);
}

static void test_waiting_reads_are_limited(void)
{
	enum { CLIENTS = 9, EACH = 9 };
	struct question q[CLIENTS][EACH];
	sd_bus *clients[CLIENTS];
	GSource *sources[CLIENTS];
	unsigned refused = 0;
	struct fixture f;

	fixture_up(&f);
	put_three(&f);
	fake_store_hold(f.store, true);
	for (unsigned c = 0; c < CLIENTS; c++) {
		clients[c] = client_new(&f, &sources[c]);
		for (unsigned i = 0; i < EACH; i++)
			question_ask(&q[c][i], clients[c], "aaaa000000000001");
		/* Eight of each wait; of the ninth client none does, for 64 do already. */
		WAIT_FOR(q[c][EACH - 1].reply);
		g_assert_cmpuint(fake_store_held(f.store), ==, MIN(8 * (c + 1), 64));
	}
	WAIT_FOR(q[CLIENTS - 1][0].reply);
	fixture_run(50);
	/* What needs no wait is answered meanwhile. */
	ASSERT_LISTED("bbbb3 aaaa2 aaaa1 3", &f, 0, 0, 0);
	fake_store_release(f.store, 0);
	for (unsigned c = 0; c < CLIENTS; c++)
		for (unsigned i = 0; i < EACH; i++) {
			WAIT_FOR(q[c][i].reply);
			if (sd_bus_message_is_method_error(q[c][i].reply, NULL)) {
				g_assert_true(sd_bus_message_is_method_error(q[c][i].reply, RBD_ERROR_LIMIT_EXCEEDED));
				refused++;
			}
			question_done(&q[c][i]);
		}
	g_assert_cmpuint(refused, ==, CLIENTS * EACH - 64);
	/* All is as before. */
	fake_store_hold(f.store, false);
	assert_report(&f, "bbbb0", "bbbb000000000003");
	for (unsigned c = 0; c < CLIENTS; c++)
		client_free(clients[c], sources[c]);
	fixture_down(&f);
}

static void test_client_leaves_with_a_read_pending(void)
{
	GSource *source;
	struct question q;
	struct fixture f;
	sd_bus *client;

	fixture_up(&f);
	put_three(&f);
	fake_store_hold(f.store, true);
	client = client_new(&f, &source);
	question_ask(&q, client, "aaaa000000000001");
	WAIT_FOR(fake_store_held(f.store) == 1);
	question_done(&q);
	client_free(client, source);
	fixture_run(50);
	fake_store_hold(f.store, false);
	fake_store_release(f.store, 0);
	assert_report(&f, "bbbb0", "bbbb000000000003");
	fixture_down(&f);
}

static void test_service_ends_with_a_read_pending(void)
{
	struct question q;
	struct fixture f;

	fixture_up(&f);
	put_three(&f);
	fake_store_hold(f.store, true);
	question_ask(&q, f.client, "aaaa000000000001");
	WAIT_FOR(fake_store_held(f.store) == 1);
	f.bus = bus_free(f.bus);
	WAIT_FOR(q.reply);
	g_assert_true(sd_bus_message_is_method_error(q.reply, NULL));
	question_done(&q);
	fake_store_release(f.store, 0);
	fixture_down(&f);
}

static void assert_manager(struct fixture *f, const char *property, const char *type, const char *value)
{
	char *text = get_property(f, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, property, type);

	g_assert_cmpstr(text, ==, value);
	g_free(text);
}

static void test_manager_properties(void)
{
	struct fixture f;

	fixture_up(&f);
	fake_model_add_connection(&f.model, &(struct model_connection) {
		.uri = "qemu:///system", .state = "up", .detail = "", .qmp_events = true, .libvirt_version = 10000003, .domains = 5,
	});
	fake_model_add_connection(&f.model, &(struct model_connection) {
		.uri = "qemu:///session", .state = "down", .detail = "no socket", .libvirt_version = 0,
	});
	fake_model_set_counter(&f.model, "EventsUnknown", UINT64_MAX);
	fake_store_set_trouble(f.store, "disk full");
	assert_manager(&f, "Version", "s", "<\"" ROLLBACKD_VERSION "\">");
	assert_manager(&f, "SchemaVersion", "s", "<\"1.0\">");
	assert_manager(&f, "Backend", "s", "<\"none\">");
	assert_manager(&f, "Act", "s", "<\"no\">");
	assert_manager(&f, "StoreTrouble", "s", "<\"disk full\">");
	assert_manager(&f, "Counters", "a{st}", "<[\"EventsUnknown\" 18446744073709551615]>");
	assert_manager(&f, "Connections", "aa{sv}", "<[[\"Uri\" <\"qemu:///system\"> \"State\" <\"up\"> \"Detail\" <\"\"> "
		"\"QmpEvents\" <true> \"LibvirtVersion\" <\"10.0.3\"> \"Domains\" <5>] [\"Uri\" <\"qemu:///session\"> \"State\" <\"down\"> "
		"\"Detail\" <\"no socket\"> \"QmpEvents\" <false> \"LibvirtVersion\" <\"\"> \"Domains\" <0>]]>");
	fixture_down(&f);
}

int main(int argc, char **argv)
{
	private_bus_need();
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/manager/properties", test_manager_properties);
	g_test_add_func("/manager/list-filters", test_list_filters);
	g_test_add_func("/manager/list-pages", test_list_pages);
	g_test_add_func("/manager/list-shows-what-is-known", test_list_shows_what_is_known);
	g_test_add_func("/manager/list-refuses-what-it-does-not-know", test_list_refuses_what_it_does_not_know);
	g_test_add_func("/manager/report-by-id-and-prefix", test_report_by_id_and_prefix);
	g_test_add_func("/manager/report-refuses-garbage", test_report_refuses_garbage);
	g_test_add_func("/manager/report-that-cannot-be-read", test_report_that_cannot_be_read);
	g_test_add_func("/manager/waiting-reads-are-limited", test_waiting_reads_are_limited);
	g_test_add_func("/manager/client-leaves-with-a-read-pending", test_client_leaves_with_a_read_pending);
	g_test_add_func("/manager/service-ends-with-a-read-pending", test_service_ends_with_a_read_pending);
	return g_test_run();
}
