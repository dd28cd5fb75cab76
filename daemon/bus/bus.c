/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The connection's life: try, own the name, serve, lose it, try again. Objects go up only once the name is ours and come
 * down with the connection; the bus delivers calls after the news of the name, so no client meets an empty service.
 *
 * Connecting never waits: the socket is non-blocking, and authentication, Hello and RequestName are answered through the
 * loop. What can wait is connect(2) to a TCP address that needs resolving and starting the helper of a unixexec: address
 * (rollbackctl and tests use unix: paths), and the flush of bus_free(), for 100 ms at most. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "bus/bus-internal.h"
#include "bus/gsource.h"
#include "rollbackd/names.h"

#define RETRY_MIN_MS  1000
#define RETRY_MAX_MS  30000
#define FLUSH_MAX_USEC 100000
#define SOCKET_BYTES   (128 * 1024) /* all signals of a rollback's end fit in many times over */

static void retry_later(struct bus *b, unsigned ms);

__attribute__((format(printf, 2, 3))) static void set_trouble(struct bus *b, const char *format, ...)
{
	char text[sizeof(b->trouble)] = "";
	va_list ap;

	if (format) {
		va_start(ap, format);
		vsnprintf(text, sizeof(text), format, ap);
		va_end(ap);
	}
	if (b->state_told && strcmp(text, b->trouble) == 0)
		return;
	b->state_told = true;
	memcpy(b->trouble, text, sizeof(text));
	if (b->events.state)
		b->events.state(b->events.userdata, *text ? b->trouble : NULL);
}

static int add_faces(struct bus *b)
{
	int r;

	r = manager_face_add(b, &b->faces[0]);
	if (r >= 0)
		r = migration_face_add(b, &b->faces[1], &b->faces[2]);
	if (r >= 0)
		r = domain_face_add(b, &b->faces[3], &b->faces[4]);
	if (r >= 0)
		r = sd_bus_add_object_manager(b->conn, &b->faces[5], RBD_PATH_MANAGER);
	return r;
}

static void stop_serving(struct bus *b)
{
	b->serving = false;
	for (size_t i = 0; i < sizeof(b->faces) / sizeof(b->faces[0]); i++)
		b->faces[i] = sd_bus_slot_unref(b->faces[i]);
	pending_disconnect(&b->pending);
	if (b->domains_timer) {
		g_source_destroy(b->domains_timer);
		g_source_unref(b->domains_timer);
		b->domains_timer = NULL;
	}
}

static void disconnect(struct bus *b)
{
	stop_serving(b);
	b->filter = sd_bus_slot_unref(b->filter);
	b->name_call = sd_bus_slot_unref(b->name_call);
	b->name_acquired = sd_bus_slot_unref(b->name_acquired);
	b->name_lost = sd_bus_slot_unref(b->name_lost);
	b->source = bus_source_free(b->source);
	b->conn = sd_bus_close_unref(b->conn);
}

/* Not from within a callback of sd-bus: closing is enough there, the source finds out. */
static void on_lost(int r, void *userdata)
{
	struct bus *b = userdata;

	disconnect(b);
	if (!b->refused)
		set_trouble(b, "the connection to the bus is lost: %s", strerror(-r));
	retry_later(b, b->retry_ms);
}

static void refuse(struct bus *b, const char *why)
{
	b->refused = true;
	set_trouble(b, "the bus does not let us have the name %s: %s", RBD_BUS_NAME, why);
	sd_bus_close(b->conn);
}

static void serve(struct bus *b)
{
	int r;

	if (b->serving)
		return;
	r = add_faces(b);
	if (r < 0) {
		refuse(b, strerror(-r));
		return;
	}
	/* First the table, then the news: what is there when the service appears is read by clients, not signalled. */
	shown_update(b->shown, b->model->store, NULL, NULL);
	turn_serve(b);
	b->serving = true;
	b->retry_ms = RETRY_MIN_MS;
	set_trouble(b, NULL);
}

static int on_name_reply(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *b = userdata;
	const sd_bus_error *e = sd_bus_message_get_error(m);
	uint32_t result = 0;

	(void) error;
	if (e)
		refuse(b, e->message ? e->message : e->name);
	else if (sd_bus_message_read(m, "u", &result) < 0)
		refuse(b, "an answer without a result");
	else if (result == 2)
		set_trouble(b, "the name %s is taken by another process; serving begins when that ends", RBD_BUS_NAME);
	else
		serve(b);
	return 1;
}

static int on_name_acquired(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	const char *name;

	(void) error;
	if (sd_bus_message_read(m, "s", &name) >= 0 && strcmp(name, RBD_BUS_NAME) == 0)
		serve(userdata);
	return 0;
}

static int on_name_lost(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *b = userdata;
	const char *name;

	(void) error;
	if (sd_bus_message_read(m, "s", &name) >= 0 && strcmp(name, RBD_BUS_NAME) == 0) {
		stop_serving(b);
		set_trouble(b, "the name %s was taken away by another process", RBD_BUS_NAME);
	}
	return 0;
}

static bool is_large(sd_bus_message *m)
{
	static const char *const members[] = { "ListReports", "GetManagedObjects", "Introspect" };
	const char *member = sd_bus_message_get_member(m);

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (strcmp(member, members[i]) == 0)
			return true;
	return false;
}

static bool is_admitted(struct bus *b, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m);
	uint64_t queued;

	if (!is_large(m) || sd_bus_get_n_queued_write(b->conn, &queued) < 0 || queued == 0)
		return true;
	return queued < BUS_BACKLOG_MAX && fair_admit(&b->fair, sender ? sender : "", g_get_monotonic_time());
}

/* Sees each message before its handler. Whatever is asked here is asked for the answer: a call that wants none is not worth
 * computing one, and it is the call that the bus daemon's limit on pending answers does not count, so a client could queue
 * hundreds of thousands of them before everybody else's. */
static int on_any_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *b = userdata;

	(void) error;
	if (sd_bus_message_is_method_call(m, NULL, NULL) <= 0)
		return 0;
	if (!sd_bus_message_get_expect_reply(m))
		return 1;
	if (is_admitted(b, m))
		return 0;
	sd_bus_reply_method_errorf(m, RBD_ERROR_LIMIT_EXCEEDED, "The bus is behind with taking answers; ask again later");
	return 1;
}

/* What lies in the socket counts as taken for sd-bus. Its 8 MiB would hide for seconds that the bus daemon is behind. */
static void limit_socket(sd_bus *conn)
{
	int fd = sd_bus_get_fd(conn), size = SOCKET_BYTES;

	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

static int open_conn(struct bus *b, sd_bus **ret_)
{
	sd_bus *conn = NULL;
	int r;

	switch (b->kind) {
	case BUS_SYSTEM:
		return sd_bus_open_system_with_description(ret_, "rollbackd");
	case BUS_USER:
		return sd_bus_open_user_with_description(ret_, "rollbackd");
	case BUS_ADDRESS:
		break;
	}
	r = sd_bus_new(&conn);
	if (r >= 0)
		r = sd_bus_set_address(conn, b->address);
	if (r >= 0)
		r = sd_bus_set_bus_client(conn, true);
	if (r >= 0)
		r = sd_bus_start(conn);
	if (r < 0) {
		sd_bus_close_unref(conn);
		return r;
	}
	*ret_ = conn;
	return 0;
}

static int match_name(struct bus *b, sd_bus_slot **ret_, const char *member, sd_bus_message_handler_t handler)
{
	return sd_bus_match_signal_async(b->conn, ret_, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus",
		member, handler, NULL, b);
}

static int connect_bus(struct bus *b)
{
	int r;

	r = open_conn(b, &b->conn);
	if (r >= 0)
		r = sd_bus_add_filter(b->conn, &b->filter, on_any_message, b);
	if (r >= 0)
		r = match_name(b, &b->name_acquired, "NameAcquired", on_name_acquired);
	if (r >= 0)
		r = match_name(b, &b->name_lost, "NameLost", on_name_lost);
	if (r >= 0)
		r = sd_bus_request_name_async(b->conn, &b->name_call, RBD_BUS_NAME, SD_BUS_NAME_QUEUE, on_name_reply, b);
	if (r < 0)
		return r;
	limit_socket(b->conn);
	b->source = bus_source_new(b->conn, on_lost, b);
	return 0;
}

static gboolean on_retry(gpointer userdata)
{
	struct bus *b = userdata;
	int r;

	g_source_unref(b->retry);
	b->retry = NULL;
	b->refused = false;
	b->retry_ms = b->retry_ms * 2 < RETRY_MAX_MS ? b->retry_ms * 2 : RETRY_MAX_MS;
	r = connect_bus(b);
	if (r < 0) {
		disconnect(b);
		set_trouble(b, "no connection to the bus: %s", r == -ENOMEDIUM ? "its address is not known" : strerror(-r));
		retry_later(b, b->retry_ms);
	}
	return G_SOURCE_REMOVE;
}

static void retry_later(struct bus *b, unsigned ms)
{
	b->retry = g_timeout_source_new(ms);
	g_source_set_callback(b->retry, on_retry, b, NULL);
	g_source_attach(b->retry, NULL);
}

int bus_new(enum bus_kind kind, const char *address, const struct model *model, const struct bus_events *events, struct bus **ret_)
{
	struct bus *b = calloc(1, sizeof(*b));

	if (!b)
		return -ENOMEM;
	b->kind = kind;
	b->model = model;
	b->events = events ? *events : (struct bus_events) { 0 };
	b->retry_ms = RETRY_MIN_MS / 2;
	b->shown = shown_new();
	b->address = address ? strdup(address) : NULL;
	if (!b->shown || (address && !b->address)) {
		shown_free(b->shown);
		free(b->address);
		free(b);
		return -ENOMEM;
	}
	turn_init(b);
	retry_later(b, 0);
	*ret_ = b;
	return 0;
}

/* The last signals should get out, but no bus daemon that hangs may keep us from ending. */
static void flush(sd_bus *conn)
{
	gint64 now = g_get_monotonic_time(), end = now + FLUSH_MAX_USEC;
	uint64_t n;

	while (now < end && sd_bus_get_n_queued_write(conn, &n) >= 0 && n > 0 && sd_bus_process(conn, NULL) >= 0) {
		if (sd_bus_get_n_queued_write(conn, &n) < 0 || n == 0)
			break;
		sd_bus_wait(conn, (uint64_t) (end - now));
		now = g_get_monotonic_time();
	}
}

struct bus *bus_free(struct bus *b)
{
	if (!b)
		return NULL;
	b->events = (struct bus_events) { 0 };
	stop_serving(b);
	if (b->conn && sd_bus_is_ready(b->conn) > 0)
		flush(b->conn);
	disconnect(b);
	if (b->retry) {
		g_source_destroy(b->retry);
		g_source_unref(b->retry);
	}
	turn_done(b);
	shown_free(b->shown);
	free(b->address);
	free(b);
	return NULL;
}
