/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/gsource.h"
#include "fixture.h"

static gboolean on_tick(gpointer userdata)
{
	*(bool *) userdata = true;
	return G_SOURCE_REMOVE;
}

void fixture_turn(void)
{
	bool ticked = false;
	guint id = g_timeout_add(50, on_tick, &ticked);

	g_main_context_iteration(NULL, TRUE);
	if (!ticked)
		g_source_remove(id);
}

void fixture_run(unsigned msec)
{
	gint64 end = g_get_monotonic_time() + msec * 1000;

	while (g_get_monotonic_time() < end)
		fixture_turn();
}

static void on_state(void *userdata, const char *trouble)
{
	struct fixture *f = userdata;

	f->states++;
	g_free(f->trouble);
	f->trouble = g_strdup(trouble);
}

static void on_client_lost(int r, void *userdata)
{
	(void) r;
	(void) userdata;
}

sd_bus *client_new(const struct fixture *f, GSource **ret_source)
{
	sd_bus *client;

	g_assert_cmpint(sd_bus_new(&client), >=, 0);
	g_assert_cmpint(sd_bus_set_address(client, f->daemon.address), >=, 0);
	g_assert_cmpint(sd_bus_set_bus_client(client, true), >=, 0);
	g_assert_cmpint(sd_bus_start(client), >=, 0);
	*ret_source = bus_source_new(client, on_client_lost, NULL);
	return client;
}

void client_free(sd_bus *client, GSource *source)
{
	bus_source_free(source);
	sd_bus_close_unref(client);
}

static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct fixture *f = userdata;

	(void) error;
	g_ptr_array_add(f->signals, sd_bus_message_ref(m));
	return 0;
}

static void message_unref(void *m)
{
	sd_bus_message_unref(m);
}

void fixture_prepare(struct fixture *f)
{
	*f = (struct fixture) { .signals = g_ptr_array_new_with_free_func(message_unref) };
	private_bus_init(&f->daemon);
	f->store = fake_store_new();
	fake_model_init(&f->model, f->store);
}

void fixture_serve(struct fixture *f)
{
	const struct bus_events events = { .state = on_state, .userdata = f };

	g_assert_cmpint(bus_new(BUS_ADDRESS, f->daemon.address, &f->model.model, &events, &f->bus), ==, 0);
}

void fixture_connect(struct fixture *f)
{
	f->client = client_new(f, &f->client_source);
	g_assert_cmpint(sd_bus_add_match_async(f->client, NULL, "type='signal',path_namespace='" RBD_PATH_MANAGER "'", on_signal,
		NULL, f), >=, 0);
	/* The answer to any call comes after the one to AddMatch. */
	sd_bus_message_unref(call_as(f->client, "/org/freedesktop/DBus", "org.freedesktop.DBus.Peer", "Ping", NULL));
}

void fixture_disconnect(struct fixture *f)
{
	client_free(f->client, f->client_source);
	f->client = NULL;
	f->client_source = NULL;
}

void fixture_up(struct fixture *f)
{
	fixture_prepare(f);
	private_bus_start(&f->daemon);
	fixture_serve(f);
	WAIT_FOR(f->states == 1 && !f->trouble);
	fixture_connect(f);
}

void fixture_down(struct fixture *f)
{
	f->bus = bus_free(f->bus);
	g_ptr_array_unref(f->signals);
	if (f->client)
		fixture_disconnect(f);
	fake_model_done(&f->model);
	fake_store_free(f->store);
	g_free(f->trouble);
	private_bus_done(&f->daemon);
}

static int on_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void) error;
	*(sd_bus_message **) userdata = sd_bus_message_ref(m);
	return 0;
}

sd_bus_message *call_message(sd_bus *client, sd_bus_message *m)
{
	sd_bus_message *reply = NULL;
	sd_bus_slot *slot = NULL;

	g_assert_cmpint(sd_bus_call_async(client, &slot, m, on_reply, &reply, 25 * G_USEC_PER_SEC), >=, 0);
	sd_bus_message_unref(m);
	WAIT_FOR(reply);
	sd_bus_slot_unref(slot);
	return reply;
}

void question_ask(struct question *q, sd_bus *client, const char *id)
{
	*q = (struct question) { 0 };
	g_assert_cmpint(sd_bus_call_method_async(client, &q->slot, RBD_BUS_NAME, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "GetReport",
		on_reply, &q->reply, "s", id), >=, 0);
}

void question_done(struct question *q)
{
	sd_bus_slot_unref(q->slot);
	sd_bus_message_unref(q->reply);
}

sd_bus_message *call_as(sd_bus *client, const char *path, const char *iface, const char *member, const char *types, ...)
{
	const char *to = strcmp(path, "/org/freedesktop/DBus") == 0 ? "org.freedesktop.DBus" : RBD_BUS_NAME;
	sd_bus_message *m;
	va_list ap;

	g_assert_cmpint(sd_bus_message_new_method_call(client, &m, to, path, iface, member), >=, 0);
	va_start(ap, types);
	if (types)
		g_assert_cmpint(sd_bus_message_appendv(m, types, ap), >=, 0);
	va_end(ap);
	return call_message(client, m);
}

static void text_of(sd_bus_message *m, GString *text);

static bool basic_text(sd_bus_message *m, char type, GString *text)
{
	union {
		const char *s;
		uint32_t u;
		uint64_t t;
		int b;
	} value;

	if (!strchr("sogutb", type))
		return false;
	g_assert_cmpint(sd_bus_message_read_basic(m, type, &value), >, 0);
	if (type == 'u')
		g_string_append_printf(text, "%u", value.u);
	else if (type == 't')
		g_string_append_printf(text, "%" PRIu64, value.t);
	else if (type == 'b')
		g_string_append(text, value.b ? "true" : "false");
	else
		g_string_append_printf(text, "\"%s\"", value.s);
	return true;
}

static void container_text(sd_bus_message *m, char type, const char *contents, GString *text)
{
	const char *open = type == 'a' ? "[" : type == 'e' ? "" : type == 'v' ? "<" : "(";
	const char *close = type == 'a' ? "]" : type == 'e' ? "" : type == 'v' ? ">" : ")";

	g_assert_cmpint(sd_bus_message_enter_container(m, type, contents), >, 0);
	g_string_append(text, open);
	text_of(m, text);
	g_string_append(text, close);
	g_assert_cmpint(sd_bus_message_exit_container(m), >=, 0);
}

static void text_of(sd_bus_message *m, GString *text)
{
	const char *contents;
	bool first = true;
	char type;

	while (sd_bus_message_peek_type(m, &type, &contents) > 0) {
		if (!first)
			g_string_append_c(text, ' ');
		first = false;
		if (!basic_text(m, type, text))
			container_text(m, type, contents, text);
	}
}

char *message_text(sd_bus_message *m)
{
	GString *text = g_string_new(NULL);

	g_assert_cmpint(sd_bus_message_rewind(m, true), >=, 0);
	text_of(m, text);
	return g_string_free(text, FALSE);
}

char *get_property(struct fixture *f, const char *path, const char *iface, const char *property, const char *type)
{
	sd_bus_message *reply = call_as(f->client, path, "org.freedesktop.DBus.Properties", "Get", "ss", iface, property);
	const char *contents;
	char *text;

	g_assert_false(sd_bus_message_is_method_error(reply, NULL));
	g_assert_cmpint(sd_bus_message_peek_type(reply, NULL, &contents), >, 0);
	g_assert_cmpstr(contents, ==, type);
	text = message_text(reply);
	sd_bus_message_unref(reply);
	return text;
}

void assert_error(sd_bus_message *reply, const char *name)
{
	const sd_bus_error *e = sd_bus_message_get_error(reply);

	g_assert_nonnull(e);
	g_assert_cmpstr(e->name, ==, name);
	g_assert_nonnull(e->message);
	g_test_message("%s: %s", e->name, e->message);
	sd_bus_message_unref(reply);
}

sd_bus_message *find_signal(struct fixture *f, guint *at, const char *path, const char *member)
{
	for (; *at < f->signals->len; (*at)++) {
		sd_bus_message *m = g_ptr_array_index(f->signals, *at);

		if (strcmp(sd_bus_message_get_path(m), path) == 0 && strcmp(sd_bus_message_get_member(m), member) == 0) {
			(*at)++;
			return m;
		}
	}
	return NULL;
}

unsigned count_signals(struct fixture *f, const char *path, const char *member)
{
	unsigned n = 0;
	guint at = 0;

	while (find_signal(f, &at, path, member))
		n++;
	return n;
}

void forget_signals(struct fixture *f)
{
	g_ptr_array_set_size(f->signals, 0);
}

void put_report(struct fixture *f, const char *id, const char *uuid, const char *name, enum side side, enum outcome outcome,
	uint64_t began_usec)
{
	struct fake_live *l = fake_model_begin(&f->model, NULL, id, uuid, name);

	l->report.side = side;
	l->report.paused = true;
	l->report.cause = CAUSE_CANCEL;
	if (began_usec) {
		const enum mark_id order[] = { MARK_T0, MARK_TS, MARK_T1, MARK_T2, MARK_T3, MARK_TE };

		l->report.real_offset = 0;
		for (unsigned i = 0; i < G_N_ELEMENTS(order); i++)
			l->report.marks[order[i]] = (struct mark) {
				.at = (began_usec + i * 1000) * NSEC_PER_USEC, .resolution = NSEC_PER_USEC, .source = STAMP_QMP,
			};
	}
	l->report.state = MIG_RESUMED;
	l->report.outcome = outcome;
	store_put(f->store, &l->report);
	g_ptr_array_remove(f->model.live, l);
}
