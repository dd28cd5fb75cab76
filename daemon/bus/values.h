/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_VALUES_H
#define ROLLBACKD_BUS_VALUES_H

/* Putting values into messages. All return 0 or more, or a negative errno of sd-bus. */

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

/* A string, whatever its bytes: what D-Bus does not carry becomes '?', NULL becomes "". One odd name from outside must not
 * spoil a whole answer. */
int bus_append_text(sd_bus_message *m, const char *text);

/* Entries of an open a{sv}. */
int bus_append_entry_text(sd_bus_message *m, const char *key, const char *text);
int bus_append_entry_bool(sd_bus_message *m, const char *key, bool value);
int bus_append_entry_u32(sd_bus_message *m, const char *key, uint32_t value);
int bus_append_entry_u64(sd_bus_message *m, const char *key, uint64_t value);

#define BUS_VERSION_SIZE 40
/* major*1000000 + minor*1000 + micro as "9.0.0"; 0 as "". */
const char *bus_format_version(uint32_t version, char buffer[BUS_VERSION_SIZE]);

#define BUS_QUOTE_SIZE 48
/* The beginning of a client's text, fit to be shown in an error: printable ASCII, quoted. */
const char *bus_quote(const char *text, char buffer[BUS_QUOTE_SIZE]);

#endif
