/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_BUS_INTERNAL_H
#define ROLLBACKD_BUS_BUS_INTERNAL_H

/* What the files of this room share. bus.c owns the connection; each face (manager, migration, domain) is a vtable in a file
 * of its own; turn.c keeps what has to be told at the end of this main-loop turn. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "bus/bus.h"
#include "bus/fair.h"
#include "bus/pending.h"
#include "bus/shown.h"
#include "rollbackd/names.h"

struct bus {
	enum bus_kind kind;
	char *address;
	const struct model *model;
	struct bus_events events;
	char trouble[200];          /* what was told last; "" all is well */
	bool state_told;

	sd_bus *conn;               /* NULL between two attempts */
	GSource *source;
	GSource *retry;
	unsigned retry_ms;
	sd_bus_slot *filter, *name_call, *name_acquired, *name_lost;
	bool refused;               /* trouble says why; the end of this connection adds nothing */
	bool serving;               /* we own the name; faces are up, signals may go out */
	sd_bus_slot *faces[6];

	GSource *turn;              /* ready when something waits to be told */
	bool manager_dirty;
	GHashTable *told;           /* report id -> struct told: one a live migration */
	const struct report *finishing; /* still shown while its end is told */

	struct shown *shown;
	GSource *domains_timer;

	struct pending pending;
	struct fair fair;

	/* What the fallback vtables resolved last: sd-bus reads or calls right after it asked find. */
	const struct report *shown_migration;
	struct store_domain shown_domain;
};

int manager_face_add(struct bus *b, sd_bus_slot **ret_);
int migration_face_add(struct bus *b, sd_bus_slot **ret_face, sd_bus_slot **ret_nodes);
int domain_face_add(struct bus *b, sd_bus_slot **ret_face, sd_bus_slot **ret_nodes);

/* The live report of that id; NULL none. */
const struct report *bus_find_live(const struct bus *b, const char *id);

#define MIGRATION_PATH_SIZE (sizeof(RBD_PATH_MIGRATIONS) + 1 + REPORT_ID_LEN)
#define DOMAIN_PATH_SIZE    (sizeof(RBD_PATH_DOMAINS) + 1 + REPORT_UUID_LEN)
void migration_path(const char *id, char ret_[MIGRATION_PATH_SIZE]);
void domain_path(const char *uuid, char ret_[DOMAIN_PATH_SIZE]);

/* turn.c */
void turn_init(struct bus *b);
void turn_done(struct bus *b);
void turn_serve(struct bus *b); /* the faces are up: what is live now is known, not news */
void turn_soon(struct bus *b);

/* The store has changed: tells what became of the domains in a little while. */
void domains_later(struct bus *b);

#endif
