/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_GSOURCE_H
#define ROLLBACKD_BUS_GSOURCE_H

#include <glib.h>
#include <systemd/sd-bus.h>

/* Answers and signals not yet taken by the bus daemon: beyond that many, no more questions are read. */
#define BUS_BACKLOG_MAX 64

/* Runs a bus connection from the default GLib main context. Wakes up only when the socket or one of sd-bus's own timeouts
 * asks for it. lost is called from the loop, once, when the connection is over (r: negative errno); the source has
 * nothing more to do then and is the caller's to free. Takes a reference of the bus. */
GSource *bus_source_new(sd_bus *bus, void (*lost)(int r, void *userdata), void *userdata);

/* Detaches and lets go of it; returns NULL. NULL is fine. */
GSource *bus_source_free(GSource *source);

#endif
