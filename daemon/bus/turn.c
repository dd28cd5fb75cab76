/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What clients are told, and when. A migration that begins or ends is told at once; what changes in between is told once at
 * the next turn of the main loop, however many events made it change. */

#include <stdlib.h>
#include <string.h>

#include "bus/bus-internal.h"
#include "core/migration.h"
#include "rollbackd/names.h"

/* What PhaseChanged said last of a live migration. */
struct told {
	char id[REPORT_ID_LEN + 1];
	enum mig_state state;
	enum phase_id phase;
	bool dirty;
};

static struct told *remember(struct bus *b, const struct report *r)
{
	struct told *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	memcpy(t->id, r->id, sizeof(t->id));
	t->state = r->state;
	t->phase = migration_phase(r);
	g_hash_table_replace(b->told, t->id, t);
	return t;
}

static void tell_change(struct bus *b, struct told *t, const struct report *r)
{
	char path[MIGRATION_PATH_SIZE];
	enum phase_id phase = migration_phase(r);
	const char *word = phase_to_string(phase);

	t->dirty = false;
	migration_path(r->id, path);
	sd_bus_emit_properties_changed_strv(b->conn, path, RBD_IFACE_MIGRATION, NULL);
	if (t->state == r->state && t->phase == phase)
		return;
	t->state = r->state;
	t->phase = phase;
	sd_bus_emit_signal(b->conn, path, RBD_IFACE_MIGRATION, "PhaseChanged", "ss", mig_state_to_string(r->state), word ? word : "");
}

static gboolean on_turn(gpointer userdata)
{
	struct bus *b = userdata;
	const struct report *r;
	GHashTableIter i;
	struct told *t;

	g_source_set_ready_time(b->turn, -1);
	if (!b->serving)
		return G_SOURCE_CONTINUE;
	g_hash_table_iter_init(&i, b->told);
	while (g_hash_table_iter_next(&i, NULL, (void **) &t)) {
		r = t->dirty ? bus_find_live(b, t->id) : NULL;
		if (r)
			tell_change(b, t, r);
	}
	if (b->manager_dirty)
		sd_bus_emit_properties_changed_strv(b->conn, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, NULL);
	b->manager_dirty = false;
	return G_SOURCE_CONTINUE;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer userdata)
{
	(void) source;
	return callback(userdata);
}

static GSourceFuncs functions = { .dispatch = dispatch };

void turn_init(struct bus *b)
{
	b->told = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, free);
	b->turn = g_source_new(&functions, sizeof(GSource));
	g_source_set_name(b->turn, "D-Bus signals");
	g_source_set_callback(b->turn, on_turn, b, NULL);
	g_source_attach(b->turn, NULL);
}

void turn_done(struct bus *b)
{
	g_source_destroy(b->turn);
	g_source_unref(b->turn);
	g_hash_table_unref(b->told);
}

void turn_serve(struct bus *b)
{
	const struct report *r;

	g_hash_table_remove_all(b->told);
	b->manager_dirty = false;
	for (unsigned i = 0; (r = b->model->live_nth(b->model->userdata, i)); i++)
		remember(b, r);
}

void turn_soon(struct bus *b)
{
	g_source_set_ready_time(b->turn, 0);
}

void bus_migration_added(struct bus *b, const struct report *r)
{
	char path[MIGRATION_PATH_SIZE];

	if (!b->serving || !remember(b, r))
		return;
	migration_path(r->id, path);
	sd_bus_emit_object_added(b->conn, path);
	sd_bus_emit_signal(b->conn, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "MigrationStarted", "oss", path, r->id, r->uuid);
}

void bus_migration_changed(struct bus *b, const struct report *r)
{
	struct told *t;

	if (!b->serving)
		return;
	t = g_hash_table_lookup(b->told, r->id);
	if (!t)
		return;
	t->dirty = true;
	turn_soon(b);
}

void bus_migration_finished(struct bus *b, const struct report *r)
{
	const char *outcome = outcome_to_string(r->outcome);
	char path[MIGRATION_PATH_SIZE];
	struct told *t;

	domains_later(b);
	if (!b->serving)
		return;
	b->finishing = r;
	t = g_hash_table_lookup(b->told, r->id);
	if (t)
		tell_change(b, t, r);
	migration_path(r->id, path);
	sd_bus_emit_signal(b->conn, path, RBD_IFACE_MIGRATION, "Finished", "s", outcome);
	sd_bus_emit_signal(b->conn, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "MigrationFinished", "ssss", r->id, r->uuid,
		side_to_string(r->side), outcome);
	sd_bus_emit_object_removed(b->conn, path);
	g_hash_table_remove(b->told, r->id);
	b->finishing = NULL;
}

void bus_manager_changed(struct bus *b)
{
	if (!b->serving)
		return;
	b->manager_dirty = true;
	turn_soon(b);
}
