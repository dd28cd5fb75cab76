/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_SHOWN_H
#define ROLLBACKD_BUS_SHOWN_H

/* What clients were told last of the domains that have a report: what has changed since is found by comparing with the
 * store. Main thread. */

#include "core/report.h"
#include "store/store.h"

/* Most domains shown as objects: bounds the answer of GetManagedObjects, what it costs to make, and this memory (64 bytes
 * each). ListReports finds the others. */
#define SHOWN_MAX 4096

struct shown;

struct shown *shown_new(void); /* nothing told; NULL when out of memory */
struct shown *shown_free(struct shown *s);

enum shown_change { SHOWN_ADDED, SHOWN_REMOVED, SHOWN_CHANGED };

/* Takes the store's domains as told, and tells the differences when changed is given. -ENOMEM: nothing was done. */
int shown_update(struct shown *s, struct store *store,
	void (*changed)(enum shown_change what, const char *uuid, void *userdata), void *userdata);

#endif
