/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.rollbackd1.Manager. Each handler: unpack, resolve, one call, map the error. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus-internal.h"
#include "bus/filter.h"
#include "bus/values.h"
#include "rollbackd/names.h"
#include "store/report-json.h"

#define CONNECTIONS_MAX 64   /* shown of them; a host has one or two */
#define COUNTERS_MAX    64
#define LIST_DEFAULT    100
#define LIST_MAX        1000 /* about 600 bytes each: well under 1 MB an answer */
#define ID_PREFIX_MIN   4

static int get_version(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	(void) conn, (void) path, (void) iface, (void) property, (void) userdata, (void) error;
	return sd_bus_message_append(reply, "s", ROLLBACKD_VERSION);
}

static int get_schema_version(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	char text[24];

	(void) conn, (void) path, (void) iface, (void) property, (void) userdata, (void) error;
	snprintf(text, sizeof(text), "%d.%d", RBD_SCHEMA_MAJOR, RBD_SCHEMA_MINOR);
	return sd_bus_message_append(reply, "s", text);
}

static int get_text(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct bus *b = userdata;
	const struct model *m = b->model;

	(void) conn, (void) path, (void) iface, (void) error;
	if (strcmp(property, "Backend") == 0)
		return bus_append_text(reply, m->backend);
	if (strcmp(property, "BackendReason") == 0)
		return bus_append_text(reply, m->backend_reason);
	if (strcmp(property, "Act") == 0)
		return bus_append_text(reply, m->act);
	return bus_append_text(reply, store_trouble(m->store));
}

static int append_connection(sd_bus_message *reply, const struct model_connection *c)
{
	char version[BUS_VERSION_SIZE];
	int r;

	r = sd_bus_message_open_container(reply, 'a', "{sv}");
	if (r >= 0)
		r = bus_append_entry_text(reply, "Uri", c->uri);
	if (r >= 0)
		r = bus_append_entry_text(reply, "State", c->state);
	if (r >= 0)
		r = bus_append_entry_text(reply, "Detail", c->detail);
	if (r >= 0)
		r = bus_append_entry_bool(reply, "QmpEvents", c->qmp_events);
	if (r >= 0)
		r = bus_append_entry_text(reply, "LibvirtVersion", bus_format_version(c->libvirt_version, version));
	if (r >= 0)
		r = bus_append_entry_u32(reply, "Domains", c->domains);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_connections(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct bus *b = userdata;
	struct model_connection list[CONNECTIONS_MAX];
	unsigned n = b->model->connections(b->model->userdata, list, CONNECTIONS_MAX);
	int r;

	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	r = sd_bus_message_open_container(reply, 'a', "a{sv}");
	for (unsigned i = 0; r >= 0 && i < n && i < CONNECTIONS_MAX; i++)
		r = append_connection(reply, &list[i]);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_counters(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct bus *b = userdata;
	struct model_counter list[COUNTERS_MAX];
	unsigned n = b->model->counters(b->model->userdata, list, COUNTERS_MAX);
	int r;

	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	r = sd_bus_message_open_container(reply, 'a', "{st}");
	for (unsigned i = 0; r >= 0 && i < n && i < COUNTERS_MAX; i++)
		r = sd_bus_message_append(reply, "{st}", list[i].name, list[i].value);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int append_words(sd_bus_message *reply, const struct summary *s)
{
	const struct {
		const char *key, *value;
	} words[] = {
		{ "Id", s->id },
		{ "Uuid", s->uuid },
		{ "Name", s->name },
		{ "Uri", s->uri },
		{ "Side", side_to_string(s->side) },
		{ "Operation", operation_to_string(s->operation) },
		{ "Driver", driver_to_string(s->driver) },
		{ "Outcome", outcome_to_string(s->outcome) },
		{ "Cause", cause_to_string(s->cause) },
	};
	int r = 0;

	for (size_t i = 0; r >= 0 && i < sizeof(words) / sizeof(words[0]); i++)
		r = bus_append_entry_text(reply, words[i].key, words[i].value);
	return r;
}

static int append_summary(sd_bus_message *reply, const struct summary *s)
{
	int r;

	r = sd_bus_message_open_container(reply, 'a', "{sv}");
	if (r >= 0)
		r = append_words(reply, s);
	if (r >= 0)
		r = bus_append_entry_bool(reply, "Paused", s->paused);
	if (r >= 0)
		r = bus_append_entry_u64(reply, "BeganUSec", s->began_usec > 0 ? (uint64_t) s->began_usec : 0);
	if (r >= 0 && s->total_known)
		r = bus_append_entry_u64(reply, "TotalUSec", s->total_usec);
	if (r >= 0 && s->blackout_known)
		r = bus_append_entry_u64(reply, "BlackoutUSec", s->blackout_usec);
	if (r >= 0 && s->blackout_known)
		r = bus_append_entry_bool(reply, "BlackoutLowerBound", s->blackout_lower_bound);
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int reply_list(sd_bus_message *m, const struct summary **list, uint32_t n, uint32_t total)
{
	sd_bus_message *reply = NULL;
	int r;

	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "a{sv}");
	for (uint32_t i = 0; r >= 0 && i < n; i++)
		r = append_summary(reply, list[i]);
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	if (r >= 0)
		r = sd_bus_message_append(reply, "u", total);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

static int list_reports(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *b = userdata;
	const struct summary *list[LIST_MAX];
	struct store_filter filter;
	uint32_t offset, limit, n = 0, total;
	int r;

	r = filter_read(m, &filter, error);
	if (r >= 0)
		r = sd_bus_message_read(m, "uu", &offset, &limit);
	if (r < 0)
		return r;
	if (limit > LIST_MAX)
		return sd_bus_error_setf(error, RBD_ERROR_INVALID_ARGUMENT, "limit is %u; expected at most %d", limit, LIST_MAX);
	total = store_list(b->model->store, &filter, offset, list, limit ? limit : LIST_DEFAULT, &n);
	return reply_list(m, list, n, total);
}

static bool is_id_prefix(const char *id)
{
	size_t n = strspn(id, "0123456789abcdef");

	return n >= ID_PREFIX_MIN && n <= REPORT_ID_LEN && !id[n];
}

/* What an id or prefix means among live and finished reports together. An id is the same migration in both. */
static int resolve(struct bus *b, const char *id, const struct report **ret_live, char ret_id[REPORT_ID_LEN + 1])
{
	const struct report *live = NULL, *r;
	const struct summary *finished = NULL;
	int found;

	for (unsigned i = 0; (r = b->model->live_nth(b->model->userdata, i)); i++) {
		if (strncmp(r->id, id, strlen(id)) != 0)
			continue;
		if (live)
			return -ENOTUNIQ;
		live = r;
	}
	found = store_find(b->model->store, id, &finished);
	if (found < 0 && found != -ENOENT)
		return found;
	if (found < 0 && !live)
		return -ENOENT;
	if (found >= 0 && live && strcmp(finished->id, live->id) != 0)
		return -ENOTUNIQ;
	*ret_live = found >= 0 ? NULL : live;
	memcpy(ret_id, found >= 0 ? finished->id : live->id, REPORT_ID_LEN + 1);
	return 0;
}

static int map_read_error(int r, const char *id, sd_bus_error *error)
{
	char quoted[BUS_QUOTE_SIZE];

	switch (r) {
	case -ENOENT:
		return sd_bus_error_setf(error, RBD_ERROR_NO_SUCH_REPORT, "There is no report %s", bus_quote(id, quoted));
	case -ENOTUNIQ:
		return sd_bus_error_setf(error, RBD_ERROR_AMBIGUOUS, "The ids of several reports begin with %s", bus_quote(id, quoted));
	case -EAGAIN:
		return sd_bus_error_setf(error, RBD_ERROR_LIMIT_EXCEEDED, "Too many reports are being read; ask again later");
	case -EINVAL:
		return sd_bus_error_setf(error, RBD_ERROR_INVALID_ARGUMENT,
			"%s is no report id; expected %d to %d of the digits 0-9 and a-f", bus_quote(id, quoted), ID_PREFIX_MIN, REPORT_ID_LEN);
	default:
		return sd_bus_error_setf(error, SD_BUS_ERROR_IO_ERROR, "The report %s cannot be read: %s", bus_quote(id, quoted), strerror(-r));
	}
}

static int reply_json(sd_bus_message *m, const char *json)
{
	sd_bus_message *reply = NULL;
	int r;

	r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = bus_append_text(reply, json);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	sd_bus_message_unref(reply);
	return r;
}

static void on_read(int r, const char *json, void *userdata)
{
	struct pending_call *call = userdata;
	sd_bus_message *m = pending_message(call);
	sd_bus_error error = SD_BUS_ERROR_NULL;
	const char *id = "";

	/* The connection's end is found out by its source: nothing to do about an answer that cannot be sent. */
	if (m && r >= 0) {
		reply_json(m, json);
	} else if (m) {
		sd_bus_message_rewind(m, true);
		sd_bus_message_read(m, "s", &id);
		map_read_error(r, id, &error);
		sd_bus_reply_method_error(m, &error);
		sd_bus_error_free(&error);
	}
	pending_drop(call);
}

static int reply_live(sd_bus_message *m, const struct report *live)
{
	char *json = report_to_text(live);
	int r = json ? reply_json(m, json) : -ENOMEM;

	free(json);
	return r;
}

static int get_report(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *b = userdata;
	const struct report *live = NULL;
	struct pending_call *call;
	char whole[REPORT_ID_LEN + 1];
	const char *id;
	int r;

	r = sd_bus_message_read(m, "s", &id);
	if (r < 0)
		return r;
	r = is_id_prefix(id) ? resolve(b, id, &live, whole) : -EINVAL;
	if (r < 0)
		return map_read_error(r, id, error);
	if (live)
		return reply_live(m, live);
	r = pending_add(&b->pending, m, &call, error);
	if (r < 0)
		return r;
	store_read(b->model->store, whole, on_read, call);
	return 1;
}

#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", get_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("SchemaVersion", "s", get_schema_version, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Backend", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("BackendReason", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Act", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Connections", "aa{sv}", get_connections, 0, CHANGES),
	SD_BUS_PROPERTY("Counters", "a{st}", get_counters, 0, SD_BUS_VTABLE_PROPERTY_EMITS_INVALIDATION),
	SD_BUS_PROPERTY("StoreTrouble", "s", get_text, 0, CHANGES),
	SD_BUS_METHOD_WITH_ARGS("ListReports", SD_BUS_ARGS("a{sv}", filter, "u", offset, "u", limit),
		SD_BUS_RESULT("aa{sv}", reports, "u", total), list_reports, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD_WITH_ARGS("GetReport", SD_BUS_ARGS("s", id), SD_BUS_RESULT("s", json), get_report, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("MigrationStarted", SD_BUS_ARGS("o", migration, "s", id, "s", uuid), 0),
	SD_BUS_SIGNAL_WITH_ARGS("MigrationFinished", SD_BUS_ARGS("s", id, "s", uuid, "s", side, "s", outcome), 0),
	SD_BUS_VTABLE_END,
};

int manager_face_add(struct bus *b, sd_bus_slot **ret_)
{
	return sd_bus_add_object_vtable(b->conn, ret_, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, vtable, b);
}
