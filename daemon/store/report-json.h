/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_REPORT_JSON_H
#define ROLLBACKD_STORE_REPORT_JSON_H

#include <json-c/json.h>

#include "core/report.h"

/* A report as JSON: docs/report.schema.json says what each key means, tests/unit/golden/ shows whole ones. The text is
 * the contract with rollbackctl and with everybody's scripts. */

/* A new object, to be put by the caller; NULL when out of memory. Marks that are out of order are clamped in a copy
 * (core/phases.h): what is written always reads back. Bytes that are no UTF-8 become '?'. Any thread. */
struct json_object *report_to_json(const struct report *r);

/* The same as text, compact, one line without the newline; free() it. NULL when out of memory. */
char *report_to_text(const struct report *r);

/* Reads what report_to_json wrote. 0, or -EINVAL with a sentence in "error" (what was found, what was expected), or
 * -EPROTONOSUPPORT for a schema major version from the future. Unknown keys are ignored (a newer minor). ret_ is
 * untouched on failure. Derived values (phases, blackout) are not read: they follow from the marks. */
int report_from_json(struct json_object *o, struct report *ret_, char *error, size_t error_size);
int report_from_text(const char *text, size_t len, struct report *ret_, char *error, size_t error_size);

/* Brings a report into the form that report_to_json writes: marks in whole microseconds and in order, values within what
 * the reader takes. What is computed from it equals what the JSON says. */
void report_make_writable(struct report *r);

/* The date of the first thing known of this migration (its "began" key), us since the epoch; 0: nothing is known. */
int64_t report_began_usec(const struct report *r);

#endif
