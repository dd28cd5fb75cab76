/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_QMP_H
#define ROLLBACKD_HOST_QMP_H

#include "core/event.h"

/* The QMP events that are asked for, as a regular expression for libvirt's filter. */
#define QMP_EVENTS_REGEX "^(STOP|RESUME|MIGRATION|MIGRATION_PASS)$"

/* Sets kind and details of ev from a QMP event's name and its data as JSON text (may be NULL). What cannot be understood
 * becomes EVENT_QMP_UNKNOWN. 0, or -ENOENT for an event that is none of ours. Any thread. */
int qmp_decode(const char *name, const char *details, struct event *ev);

#endif
