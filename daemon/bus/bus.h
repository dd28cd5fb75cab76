/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_BUS_H
#define ROLLBACKD_BUS_BUS_H

#include "bus/model.h"

/* The D-Bus service: docs/org.rollbackd1.xml is the contract. Connects in the background, attaches to the default GLib
 * main context, asks for the name, reconnects with back-off when the bus goes away. */

struct bus;

enum bus_kind { BUS_SYSTEM, BUS_USER, BUS_ADDRESS };

struct bus_events {
	/* A sentence when the bus was lost, the name is taken, or NULL when all is well (again). Main thread. */
	void (*state)(void *userdata, const char *trouble);
	void *userdata;
};

/* model must outlive the bus. address only for BUS_ADDRESS. -ENOMEM only: an absent bus is told through events. */
int bus_new(enum bus_kind kind, const char *address, const struct model *model, const struct bus_events *events, struct bus **ret_);
struct bus *bus_free(struct bus *b); /* flushes within 100 ms; returns NULL */

/* Told by the manager. r is the live report; "changed": PropertiesChanged and PhaseChanged go out, at most one set a
 * main-loop turn and migration (merged). */
void bus_migration_added(struct bus *b, const struct report *r);
void bus_migration_changed(struct bus *b, const struct report *r);
void bus_migration_finished(struct bus *b, const struct report *r); /* Finished, MigrationFinished, InterfacesRemoved */
void bus_manager_changed(struct bus *b); /* connections or counters of interest changed */

#endif
