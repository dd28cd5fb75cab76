/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* How a migration that is watched ends: by MigrationFinished, or by a report that has an outcome. That rollbackd has no such
 * report proves nothing while it connects to libvirt: what was under way before a restart is taken over only then. */

#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "properties.h"
#include "rollbackd/names.h"
#include "watch.h"

#define SEC_USEC UINT64_C(1000000)
#define LOST_AFTER_USEC (5 * SEC_USEC) /* from the connection being seen up, so that the guests can be listed */

/* What is asked about one migration: its item may be gone by the time of the answer. */
struct question {
	struct watch *w;
	char *id, *outcome; /* outcome "": nothing told that it ended */
};

static void question_free(void *p)
{
	struct question *q = p;

	free(q->id);
	free(q->outcome);
	free(q);
}

/* Takes call. False when it could not be sent. */
static bool ask(struct watch *w, sd_bus_message *call, sd_bus_message_handler_t on_answer, const char *id, const char *outcome)
{
	struct question *q = xcalloc(1, sizeof *q);
	sd_bus_slot *slot = NULL;
	int r = sd_bus_message_set_auto_start(call, 0);

	*q = (struct question) { .w = w, .id = xstrdup(id), .outcome = xstrdup(outcome) };
	if (r >= 0)
		r = sd_bus_call_async(w->bus, &slot, call, on_answer, q, BUS_TIMEOUT_USEC);
	sd_bus_message_unref(call);
	if (r < 0) {
		question_free(q);
		return false;
	}
	sd_bus_slot_set_destroy_callback(slot, question_free);
	sd_bus_slot_set_floating(slot, 1);
	sd_bus_slot_unref(slot);
	return true;
}

static uint64_t now_usec(struct watch *w)
{
	uint64_t usec = 0;

	sd_event_now(w->event, CLOCK_MONOTONIC, &usec);
	return usec;
}

static void ask_later(struct watch *w, struct item *it)
{
	it->ending = false;
	it->doubtful = true;
	sd_event_source_set_time(w->doubt, now_usec(w) + SEC_USEC);
	sd_event_source_set_enabled(w->doubt, SD_EVENT_ONESHOT);
}

static void lose(struct watch *w, struct item *it)
{
	watch_tell_finished(w, it->id, "lost", it, NULL);
	watch_forget(w, it);
	if (w->once)
		sd_event_exit(w->event, ctl_fail(w->c, CTL_FAILED, "lost track of the migration: rollbackd has no report of it"));
}

/* Is the connection at uri up? One that rollbackd does not have any more cannot come up, which is as good. */
static bool is_up(struct json_object *connections, const char *uri)
{
	for (size_t i = 0; i < json_length(connections); i++) {
		struct json_object *one = json_object_array_get_idx(connections, i);

		if (strcmp(json_text_or(one, "Uri", ""), uri) == 0)
			return strcmp(json_text_or(one, "State", ""), "up") == 0;
	}
	return true;
}

static int on_connections(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct question *q = userdata;
	struct item *it = watch_find(q->w, q->id);
	_cleanup_json_ struct json_object *manager = NULL;
	uint64_t now = now_usec(q->w);

	(void) error;
	if (!it)
		return 0;
	if (sd_bus_message_is_method_error(reply, NULL) || properties_read(reply, &manager) < 0 ||
	    !is_up(json_at(manager, "Connections"), item_text(it, "Uri")))
		it->up_since = 0;
	else if (!it->up_since)
		it->up_since = now;
	else if (now - it->up_since >= LOST_AFTER_USEC) {
		lose(q->w, it);
		return 0;
	}
	ask_later(q->w, it);
	return 0;
}

static void ask_for_connections(struct watch *w, struct item *it)
{
	sd_bus_message *m = NULL;

	if (sd_bus_message_new_method_call(w->bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, "org.freedesktop.DBus.Properties", "GetAll") < 0 ||
	    sd_bus_message_append(m, "s", RBD_IFACE_MANAGER) < 0) {
		sd_bus_message_unref(m);
		ask_later(w, it);
	} else if (!ask(w, m, on_connections, it->id, "")) {
		ask_later(w, it);
	}
}

static struct json_object *parse_reply(sd_bus_message *reply)
{
	struct json_object *o;
	const char *text;

	if (sd_bus_message_is_method_error(reply, NULL) || sd_bus_message_read(reply, "s", &text) < 0)
		return NULL;
	o = json_tokener_parse(text);
	/* One without an outcome is of a migration under way. */
	if (!json_object_is_type(o, json_type_object) || strcmp(json_text_or(o, "outcome", "none"), "none") == 0) {
		json_object_put(o);
		return NULL;
	}
	return o;
}

static int on_report(sd_bus_message *reply, void *userdata, sd_bus_error *error)
{
	struct question *q = userdata;
	struct item *it = watch_find(q->w, q->id);
	_cleanup_json_ struct json_object *report = parse_reply(reply);

	(void) error;
	if (it && watch_is_loss(reply)) {
		it->ending = false; /* asked again once rollbackd is back */
		return 0;
	}
	if (!report && !*q->outcome) {
		if (it && sd_bus_message_is_method_error(reply, RBD_ERROR_NO_SUCH_REPORT))
			ask_for_connections(q->w, it);
		else if (it)
			ask_later(q->w, it);
		return 0;
	}
	watch_tell_finished(q->w, q->id, q->outcome, it, report);
	if (it)
		watch_forget(q->w, it);
	if (q->w->once)
		sd_event_exit(q->w->event, CTL_OK);
	return 0;
}

void watch_ask_for_report(struct watch *w, const char *id, const char *outcome)
{
	struct item *it = watch_find(w, id);
	sd_bus_message *m = NULL;
	bool asked;

	if (it) {
		it->ending = true;
		it->doubtful = false;
	}
	if (sd_bus_message_new_method_call(w->bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "GetReport") < 0 ||
	    sd_bus_message_append(m, "s", id) < 0) {
		sd_bus_message_unref(m);
		asked = false;
	} else {
		asked = ask(w, m, on_report, id, outcome);
	}
	if (it && !asked)
		ask_later(w, it);
}

int watch_on_doubt(sd_event_source *s, uint64_t usec, void *userdata)
{
	struct watch *w = userdata;

	(void) s, (void) usec;
	if (!w->bus || w->told != WAIT_NONE)
		return 0; /* the next listing takes care of all */
	for (size_t i = 0; i < w->n; i++)
		if (w->items[i]->doubtful && !w->items[i]->ending)
			watch_ask_for_report(w, w->items[i]->id, "");
	return 0;
}
