/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.rollbackd1.Migration: a fallback vtable, so that nothing is kept for an object but what the model has of it. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus-internal.h"
#include "bus/values.h"
#include "core/migration.h"
#include "rollbackd/names.h"
#include "store/report-json.h"

void migration_path(const char *id, char ret_[MIGRATION_PATH_SIZE])
{
	snprintf(ret_, MIGRATION_PATH_SIZE, "%s/%s", RBD_PATH_MIGRATIONS, id);
}

const struct report *bus_find_live(const struct bus *b, const char *id)
{
	if (b->finishing && strcmp(b->finishing->id, id) == 0)
		return b->finishing;
	return b->model->live_find(b->model->userdata, id);
}

static const struct report *shown(void *userdata)
{
	return ((const struct bus *) userdata)->shown_migration;
}

static int get_text(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct report *r = shown(userdata);
	const struct {
		const char *property, *value;
	} texts[] = {
		{ "Id", r->id },
		{ "Uuid", r->uuid },
		{ "Name", r->name },
		{ "Uri", r->uri },
		{ "Side", side_to_string(r->side) },
		{ "Operation", operation_to_string(r->operation) },
		{ "Driver", driver_to_string(r->driver) },
		{ "State", mig_state_to_string(r->state) },
		{ "Outcome", outcome_to_string(r->outcome) },
		{ "Phase", phase_to_string(migration_phase(r)) },
	};

	(void) conn, (void) path, (void) iface, (void) error;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(property, texts[i].property) == 0)
			return bus_append_text(reply, texts[i].value);
	return -ENOENT;
}

static int get_iterations(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	return sd_bus_message_append(reply, "u", shown(userdata)->iterations);
}

static int get_began(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	int64_t began = report_began_usec(shown(userdata));

	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	return sd_bus_message_append(reply, "t", began > 0 ? (uint64_t) began : 0);
}

static int get_marks(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct report *report = shown(userdata);
	int r;

	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	r = sd_bus_message_open_container(reply, 'a', "{s(ts)}");
	for (int i = 0; r >= 0 && i < MARK_MAX; i++) {
		const struct mark *m = &report->marks[i];

		if (mark_is_set(m))
			r = sd_bus_message_append(reply, "{s(ts)}", mark_to_string((enum mark_id) i),
				(uint64_t) report_real_usec(report, m->at), stamp_source_to_string(m->source));
	}
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_notes(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct report *report = shown(userdata);
	int r;

	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	r = sd_bus_message_open_container(reply, 'a', "s");
	for (int i = 0; r >= 0 && i < NOTE_MAX; i++)
		if (report_has_note(report, (enum note) i))
			r = sd_bus_message_append(reply, "s", note_to_string((enum note) i));
	return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int map_progress_error(int r, sd_bus_error *error)
{
	switch (r) {
	case -EBUSY:
		return sd_bus_error_setf(error, RBD_ERROR_BUSY, "A question to libvirt about this domain is under way; ask again later");
	case -EAGAIN:
		return sd_bus_error_setf(error, RBD_ERROR_BUSY, "The guest does not run; its monitor is left alone meanwhile");
	case -ENOENT:
		return sd_bus_error_setf(error, RBD_ERROR_NO_SUCH_REPORT, "The migration has ended");
	default:
		return sd_bus_error_setf(error, SD_BUS_ERROR_FAILED, "libvirt gave no answer about this migration: %s", strerror(-r));
	}
}

static void on_progress(int r, const struct model_progress *p, void *userdata)
{
	struct pending_call *call = userdata;
	sd_bus_message *m = pending_message(call);
	sd_bus_error error = SD_BUS_ERROR_NULL;

	if (m && r >= 0) {
		sd_bus_reply_method_return(m, "tttt", p->processed_bytes, p->remaining_bytes, p->total_bytes, p->age_usec);
	} else if (m) {
		map_progress_error(r, &error);
		sd_bus_reply_method_error(m, &error);
		sd_bus_error_free(&error);
	}
	pending_drop(call);
}

static int get_progress(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct bus *b = userdata;
	struct pending_call *call;
	int r;

	r = pending_add(&b->pending, m, &call, error);
	if (r < 0)
		return r;
	r = b->model->progress(b->model->userdata, b->shown_migration->id, on_progress, call);
	if (r < 0) {
		pending_drop(call);
		return map_progress_error(r, error);
	}
	return 1;
}

#define CONST   SD_BUS_VTABLE_PROPERTY_CONST
#define CHANGES SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Id", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Uuid", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Name", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Uri", "s", get_text, 0, CONST),
	SD_BUS_PROPERTY("Side", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Operation", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Driver", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("State", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Outcome", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Phase", "s", get_text, 0, CHANGES),
	SD_BUS_PROPERTY("Iterations", "u", get_iterations, 0, CHANGES),
	SD_BUS_PROPERTY("BeganUSec", "t", get_began, 0, CHANGES),
	SD_BUS_PROPERTY("Marks", "a{s(ts)}", get_marks, 0, CHANGES),
	SD_BUS_PROPERTY("Notes", "as", get_notes, 0, CHANGES),
	SD_BUS_METHOD_WITH_ARGS("GetProgress", SD_BUS_NO_ARGS,
		SD_BUS_RESULT("t", processed_bytes, "t", remaining_bytes, "t", total_bytes, "t", age_usec), get_progress,
		SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL_WITH_ARGS("PhaseChanged", SD_BUS_ARGS("s", state, "s", phase), 0),
	SD_BUS_SIGNAL_WITH_ARGS("Finished", SD_BUS_ARGS("s", outcome), 0),
	SD_BUS_VTABLE_END,
};

static int find(sd_bus *conn, const char *path, const char *iface, void *userdata, void **ret_found, sd_bus_error *error)
{
	struct bus *b = userdata;
	const size_t prefix = strlen(RBD_PATH_MIGRATIONS "/");

	(void) conn, (void) iface, (void) error;
	if (strncmp(path, RBD_PATH_MIGRATIONS "/", prefix) != 0 || !report_id_is_valid(path + prefix))
		return 0;
	b->shown_migration = bus_find_live(b, path + prefix);
	*ret_found = b;
	return b->shown_migration != NULL;
}

static int enumerate(sd_bus *conn, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error)
{
	const struct bus *b = userdata;
	char path[MIGRATION_PATH_SIZE];
	const struct report *r;
	unsigned n = 0;
	char **nodes;

	(void) conn, (void) prefix, (void) error;
	while (b->model->live_nth(b->model->userdata, n))
		n++;
	nodes = calloc(n + 1, sizeof(*nodes));
	for (unsigned i = 0; nodes && i < n && (r = b->model->live_nth(b->model->userdata, i)); i++) {
		migration_path(r->id, path);
		nodes[i] = strdup(path);
		if (!nodes[i])
			break;
	}
	if (!nodes)
		return -ENOMEM;
	*ret_nodes = nodes;
	return 0;
}

int migration_face_add(struct bus *b, sd_bus_slot **ret_face, sd_bus_slot **ret_nodes)
{
	int r;

	r = sd_bus_add_fallback_vtable(b->conn, ret_face, RBD_PATH_MIGRATIONS, RBD_IFACE_MIGRATION, vtable, find, b);
	return r < 0 ? r : sd_bus_add_node_enumerator(b->conn, ret_nodes, RBD_PATH_MIGRATIONS, enumerate, b);
}
