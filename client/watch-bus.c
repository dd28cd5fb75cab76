/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "properties.h"
#include "rollbackd/names.h"
#include "watch.h"

#define ITEMS_MAX 4096 /* what a broken daemon could make us keep */

const char *item_text(const struct item *it, const char *property)
{
	return json_text_or(it->properties, property, "");
}

struct item *watch_find(struct watch *w, const char *id)
{
	for (size_t i = 0; i < w->n; i++)
		if (strcmp(w->items[i]->id, id) == 0)
			return w->items[i];
	return NULL;
}

void watch_forget(struct watch *w, struct item *it)
{
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i] == it)
			w->items[i] = w->items[--w->n];
	sd_bus_slot_unref(it->question);
	json_object_put(it->properties);
	free(it->id);
	free(it);
}

/* The id within a migration's path, or NULL. */
static const char *id_of_path(const char *path)
{
	size_t n = strlen(RBD_PATH_MIGRATIONS);

	return path && strncmp(path, RBD_PATH_MIGRATIONS "/", n + 1) == 0 && path[n + 1] ? path + n + 1 : NULL;
}

/* Marks come as { "T0": [date, source] }; tells those of "now" that "before" has not, or has otherwise. */
static void tell_new_marks(struct watch *w, struct item *it, struct json_object *before, struct json_object *now)
{
	if (!json_object_is_type(now, json_type_object))
		return;
	json_object_object_foreach(now, name, mark) {
		struct json_object *old = json_at(before, name), *at, *source;

		if (json_length(mark) != 2 || (old && json_object_equal(old, mark)))
			continue;
		at = json_object_array_get_idx(mark, 0);
		source = json_object_array_get_idx(mark, 1);
		watch_tell_mark(w, it, name, json_object_get_uint64(at), json_object_get_string(source));
	}
}

static bool differs(struct json_object *before, struct json_object *changed, const char *key)
{
	struct json_object *now = json_at(changed, key);

	return now && !json_object_equal(json_at(before, key), now);
}

/* Takes changed. */
static void merge(struct watch *w, struct item *it, struct json_object *changed)
{
	struct json_object *before = it->properties;
	bool state = differs(before, changed, "State") || differs(before, changed, "Phase");
	bool kind = differs(before, changed, "Operation");
	struct json_object *old_marks = json_object_get(json_at(before, "Marks"));

	json_object_object_foreach(changed, key, value)
		json_object_object_add(before, key, json_object_get(value));
	if (kind)
		watch_tell_kind(w, it);
	tell_new_marks(w, it, old_marks, json_at(changed, "Marks"));
	if (state)
		watch_tell_state(w, it);
	json_object_put(old_marks);
	json_object_put(changed);
}

/* News about a migration, known or not. Takes properties. */
static void take_in(struct watch *w, const char *id, struct json_object *properties, bool late)
{
	struct item *it = watch_find(w, id);

	if (it) {
		it->seen = true;
		it->doubtful = false;
		it->up_since = 0;
		merge(w, it, properties);
		return;
	}
	if (w->n >= ITEMS_MAX) {
		json_object_put(properties);
		return;
	}
	it = xcalloc(1, sizeof *it);
	*it = (struct item) { .w = w, .id = xstrdup(id), .properties = properties, .seen = true };
	w->items = xrealloc(w->items, w->n + 1, sizeof *w->items);
	w->items[w->n++] = it;
	watch_tell_began(w, it, late);
	tell_new_marks(w, it, NULL, json_at(properties, "Marks"));
}

/* The daemon or the bus went away before the answer. */
bool watch_is_loss(sd_bus_message *reply)
{
	return sd_bus_message_is_method_error(reply, NULL) &&
	       (bus_error_is_absence(sd_bus_message_get_error(reply)) || sd_bus_message_is_method_error(reply, SD_BUS_ERROR_NO_REPLY) ||
		sd_bus_message_is_method_error(reply, SD_BUS_ERROR_DISCONNECTED));
}

/* a{sa{sv}} at the message's position: the Migration interface's properties, or NULL when there are none. */
static int read_interfaces(sd_bus_message *m, struct json_object **ret_)
{
	const char *interface;
	int r = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");

	*ret_ = NULL;
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
		r = sd_bus_message_read(m, "s", &interface);
		if (r >= 0 && strcmp(interface, RBD_IFACE_MIGRATION) == 0 && !*ret_)
			r = properties_read(m, ret_);
		else if (r >= 0)
			r = sd_bus_message_skip(m, "a{sv}");
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static void read_object(struct watch *w, sd_bus_message *m, bool late, int *r)
{
	struct json_object *properties = NULL;
	const char *path;

	*r = sd_bus_message_read(m, "o", &path);
	if (*r >= 0)
		*r = read_interfaces(m, &properties);
	if (properties && id_of_path(path))
		take_in(w, id_of_path(path), properties, late);
	else
		json_object_put(properties);
}

/* Those that were known and are not listed ended while nobody listened, or are yet to be taken over. */
static void end_unlisted(struct watch *w)
{
	for (size_t i = 0; i < w->n; i++)
		if (!w->items[i]->seen && !w->items[i]->ending)
			watch_ask_for_report(w, w->items[i]->id, "");
}

static int on_listing(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct watch *w = userdata;
	int r;

	(void) error;
	if (sd_bus_message_is_method_error(m, NULL)) {
		if (watch_is_loss(m)) {
			watch_tell_waiting(w, WAIT_DAEMON);
			return 0;
		}
		return sd_event_exit(w->event, bus_explain(w->c, sd_bus_message_get_error(m), -EIO));
	}
	watch_tell_waiting(w, WAIT_NONE);
	r = sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}");
	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}")) > 0) {
		read_object(w, m, true, &r);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r < 0)
		return sd_event_exit(w->event, bus_bad_answer(w->c, r));
	end_unlisted(w);
	return 0;
}

static int list(struct watch *w)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(w->bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects");

	for (size_t i = 0; i < w->n; i++) {
		w->items[i]->seen = false;
		w->items[i]->ending = false; /* whoever was asked for the report is gone */
		w->items[i]->up_since = 0;
	}
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	return r < 0 ? r : sd_bus_call_async(w->bus, NULL, m, on_listing, w, BUS_TIMEOUT_USEC);
}

static int on_owner(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct watch *w = userdata;
	const char *name, *before, *now;

	(void) error;
	if (sd_bus_message_read(m, "sss", &name, &before, &now) < 0)
		return 0;
	if (*now)
		list(w);
	else
		watch_tell_waiting(w, WAIT_DAEMON);
	return 0;
}

static void on_changed(struct watch *w, sd_bus_message *m)
{
	const char *interface, *id = id_of_path(sd_bus_message_get_path(m));
	struct item *it = id ? watch_find(w, id) : NULL;
	struct json_object *changed;

	if (!it || sd_bus_message_read(m, "s", &interface) < 0 || strcmp(interface, RBD_IFACE_MIGRATION) != 0)
		return;
	if (properties_read(m, &changed) >= 0)
		merge(w, it, changed);
}

static void on_finished(struct watch *w, sd_bus_message *m)
{
	const char *id, *uuid, *side, *outcome;

	if (sd_bus_message_read(m, "ssss", &id, &uuid, &side, &outcome) >= 0)
		watch_ask_for_report(w, id, outcome);
}

static int on_signal(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct watch *w = userdata;
	const char *path;
	int r;

	(void) error;
	if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.ObjectManager", "InterfacesAdded")) {
		read_object(w, m, false, &r);
	} else if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.Properties", "PropertiesChanged")) {
		on_changed(w, m);
	} else if (sd_bus_message_is_signal(m, RBD_IFACE_MANAGER, "MigrationFinished")) {
		on_finished(w, m);
	} else if (sd_bus_message_is_signal(m, "org.freedesktop.DBus.ObjectManager", "InterfacesRemoved")) {
		struct item *it = sd_bus_message_read(m, "o", &path) >= 0 && id_of_path(path) ? watch_find(w, id_of_path(path)) : NULL;

		if (it && !it->ending)
			watch_ask_for_report(w, it->id, "");
	}
	return 0;
}

static int on_disconnected(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void) m, (void) error;
	watch_lost_bus(userdata);
	return 0;
}

int watch_connect(struct watch *w)
{
	int r = bus_open_quietly(w->c, &w->bus);

	if (r < 0)
		return r;
	r = sd_bus_attach_event(w->bus, w->event, 0);
	if (r >= 0)
		r = sd_bus_match_signal(w->bus, NULL, "org.freedesktop.DBus.Local", NULL, "org.freedesktop.DBus.Local", "Disconnected",
					on_disconnected, w);
	if (r >= 0)
		r = sd_bus_add_match(w->bus, NULL, "type='signal',sender='" RBD_BUS_NAME "'", on_signal, w);
	if (r >= 0)
		r = sd_bus_add_match(w->bus, NULL, "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='" RBD_BUS_NAME "'",
				     on_owner, w);
	if (r >= 0)
		r = list(w);
	if (r < 0)
		watch_disconnect(w);
	return r < 0 ? r : 0;
}

void watch_disconnect(struct watch *w)
{
	if (!w->bus)
		return;
	for (size_t i = 0; i < w->n; i++)
		w->items[i]->question = sd_bus_slot_unref(w->items[i]->question);
	sd_bus_detach_event(w->bus);
	w->bus = sd_bus_close_unref(w->bus);
}

static int on_progress(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct item *it = userdata;
	uint64_t processed, remaining, total, age;

	(void) error;
	it->question = sd_bus_slot_unref(it->question);
	if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "tttt", &processed, &remaining, &total, &age) < 0)
		return 0; /* busy, or over by now: the bar stays as it is */
	it->processed = processed;
	it->remaining = remaining;
	it->total = total;
	it->progress_known = true;
	watch_tell_progress(it->w, it);
	return 0;
}

void watch_ask_progress(struct watch *w)
{
	for (size_t i = 0; w->bus && i < w->n; i++) {
		struct item *it = w->items[i];
		_cleanup_free_ char *path = xprintf(RBD_PATH_MIGRATIONS "/%s", it->id);

		if (!it->question && !it->ending && strcmp(item_text(it, "State"), "precopy") == 0)
			sd_bus_call_method_async(w->bus, &it->question, RBD_BUS_NAME, path, RBD_IFACE_MIGRATION, "GetProgress", on_progress,
						 it, NULL);
	}
}
