/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_SCHEMA_H
#define ROLLBACKD_TESTS_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>

#include <json-c/json.h>

/* The part of JSON Schema 2020-12 that docs/report.schema.json uses. A keyword it does not know is a failure, so that
 * no rule can be written there and go unchecked; and so is a key that "properties" does not name, which the schema itself
 * allows for newer minor versions. False: one line in error. */
bool schema_check(struct json_object *schema, struct json_object *value, char *error, size_t size);

#endif
