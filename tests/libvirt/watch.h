/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * What the drive waits for: the events of both sides as short lines, in order of arrival.
 *
 *   src guest1 STOP                 a QMP event
 *   src guest1 MIGRATION active     a QMP MIGRATION event, with its status
 *   src guest1 iteration 2
 *   dst guest1 RESUMED/MIGRATED     a lifecycle event
 */

#include <stdbool.h>
#include <stddef.h>

#include <libvirt/libvirt.h>

/* Start the event loop's thread; once, before any connection is opened. */
int watch_start(void);

/* Subscribe to everything of a connection whose events are to begin with `side` (a string that stays). */
int watch_connection(virConnectPtr conn, const char *side);

/* How many lines there are: a place to search from. */
size_t watch_now(void);

/* Wait until a line after place `from` is `line`. False if it has not come in `timeout_ms`. */
bool watch_wait(size_t from, const char *line, int timeout_ms);

/* Has it come already? */
bool watch_seen(size_t from, const char *line);
