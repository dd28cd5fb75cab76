/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_PROPERTIES_H
#define ROLLBACKCTL_PROPERTIES_H

/* Properties of an interface as JSON values: what a verb does not know is carried along, not lost. */

#include "bus.h"

/* Reads a{sv} (basic types, and arrays, structs and dictionaries of them) at the message's position. 0 or a negative errno. */
int properties_read(sd_bus_message *m, struct json_object **ret_);

/* Properties.GetAll; exit code. */
int properties_get_all(struct ctl *c, sd_bus *bus, const char *path, const char *interface, struct json_object **ret_);

#endif
