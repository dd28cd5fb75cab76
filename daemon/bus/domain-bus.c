/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* org.rollbackd1.Domain: what the store has of each domain, as objects. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bus/bus-internal.h"
#include "bus/values.h"
#include "rollbackd/names.h"

/* Long enough that an evacuation's rollbacks are counted in one go, short enough that nobody waits for it. */
#define DOMAINS_DELAY_MS 100

static void swap(char *text, char from, char to)
{
	for (; *text; text++)
		if (*text == from)
			*text = to;
}

void domain_path(const char *uuid, char ret_[DOMAIN_PATH_SIZE])
{
	snprintf(ret_, DOMAIN_PATH_SIZE, "%s/%s", RBD_PATH_DOMAINS, uuid);
	swap(ret_ + strlen(RBD_PATH_DOMAINS), '-', '_');
}

static int get_text(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct store_domain *d = &((const struct bus *) userdata)->shown_domain;

	(void) conn, (void) path, (void) iface, (void) error;
	if (strcmp(property, "Uuid") == 0)
		return bus_append_text(reply, d->uuid);
	if (strcmp(property, "Name") == 0)
		return bus_append_text(reply, d->name);
	if (strcmp(property, "LastReport") == 0)
		return bus_append_text(reply, d->last_id);
	return bus_append_text(reply, outcome_to_string(d->last_outcome));
}

static int get_reports(sd_bus *conn, const char *path, const char *iface, const char *property, sd_bus_message *reply,
	void *userdata, sd_bus_error *error)
{
	const struct store_domain *d = &((const struct bus *) userdata)->shown_domain;

	(void) conn, (void) path, (void) iface, (void) property, (void) error;
	return sd_bus_message_append(reply, "u", d->reports);
}

static const sd_bus_vtable vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Uuid", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Name", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Reports", "u", get_reports, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("LastReport", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("LastOutcome", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_VTABLE_END,
};

static void tell(enum shown_change what, const char *uuid, void *userdata)
{
	struct bus *b = userdata;
	char path[DOMAIN_PATH_SIZE];

	domain_path(uuid, path);
	switch (what) {
	case SHOWN_ADDED:
		sd_bus_emit_object_added(b->conn, path);
		break;
	case SHOWN_CHANGED:
		sd_bus_emit_properties_changed_strv(b->conn, path, RBD_IFACE_DOMAIN, NULL);
		break;
	case SHOWN_REMOVED:
		/* Named one by one: sd-bus would look for the object, which is gone. */
		sd_bus_emit_interfaces_removed(b->conn, path, "org.freedesktop.DBus.Peer", "org.freedesktop.DBus.Introspectable",
			"org.freedesktop.DBus.Properties", RBD_IFACE_DOMAIN, NULL);
		break;
	}
}

static gboolean on_timer(gpointer userdata)
{
	struct bus *b = userdata;

	g_source_unref(b->domains_timer);
	b->domains_timer = NULL;
	if (b->serving)
		shown_update(b->shown, b->model->store, tell, b);
	return G_SOURCE_REMOVE;
}

void domains_later(struct bus *b)
{
	if (b->domains_timer || !b->serving)
		return;
	b->domains_timer = g_timeout_source_new(DOMAINS_DELAY_MS);
	g_source_set_callback(b->domains_timer, on_timer, b, NULL);
	g_source_attach(b->domains_timer, NULL);
}

static int find(sd_bus *conn, const char *path, const char *iface, void *userdata, void **ret_found, sd_bus_error *error)
{
	struct bus *b = userdata;
	const size_t prefix = strlen(RBD_PATH_DOMAINS "/");
	char uuid[REPORT_UUID_LEN + 1];

	(void) conn, (void) iface, (void) error;
	if (strncmp(path, RBD_PATH_DOMAINS "/", prefix) != 0 || strlen(path + prefix) != REPORT_UUID_LEN)
		return 0;
	memcpy(uuid, path + prefix, sizeof(uuid));
	swap(uuid, '_', '-');
	*ret_found = b;
	return report_uuid_is_valid(uuid) && store_domain_find(b->model->store, uuid, &b->shown_domain);
}

static int enumerate(sd_bus *conn, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error)
{
	struct bus *b = userdata;
	char path[DOMAIN_PATH_SIZE];
	struct store_domain d;
	unsigned n = 0;
	char **nodes;

	(void) conn, (void) prefix, (void) error;
	while (n < SHOWN_MAX && store_domain_nth(b->model->store, n, &d))
		n++;
	nodes = calloc(n + 1, sizeof(*nodes));
	for (unsigned i = 0; nodes && i < n && store_domain_nth(b->model->store, i, &d); i++) {
		domain_path(d.uuid, path);
		nodes[i] = strdup(path);
		if (!nodes[i])
			break;
	}
	if (!nodes)
		return -ENOMEM;
	*ret_nodes = nodes;
	return 0;
}

int domain_face_add(struct bus *b, sd_bus_slot **ret_face, sd_bus_slot **ret_nodes)
{
	int r;

	r = sd_bus_add_fallback_vtable(b->conn, ret_face, RBD_PATH_DOMAINS, RBD_IFACE_DOMAIN, vtable, find, b);
	return r < 0 ? r : sd_bus_add_node_enumerator(b->conn, ret_nodes, RBD_PATH_DOMAINS, enumerate, b);
}
