/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_JSON_H
#define ROLLBACKCTL_JSON_H

/* Reading JSON that may lack anything: a missing key, or one of another type, is the same as null. */

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

struct json_object *json_at(struct json_object *o, const char *key);     /* borrowed; NULL when missing or null */
const char *json_text(struct json_object *o, const char *key);           /* borrowed; NULL when missing */
const char *json_text_or(struct json_object *o, const char *key, const char *otherwise);
bool json_count(struct json_object *o, const char *key, uint64_t *ret_); /* a whole number >= 0 */
bool json_int(struct json_object *o, const char *key, int64_t *ret_);
bool json_true(struct json_object *o, const char *key);
size_t json_length(struct json_object *array);                           /* 0 for what is no array */

static inline void json_putp(struct json_object **o)
{
	json_object_put(*o);
}
#define _cleanup_json_ __attribute__((cleanup(json_putp)))

void json_add_text(struct json_object *o, const char *key, const char *value); /* NULL: null */
void json_add_count(struct json_object *o, const char *key, uint64_t value);
void json_add_bool(struct json_object *o, const char *key, bool value);
void json_add_count_or_null(struct json_object *o, const char *key, bool known, uint64_t value);

/* RFC 3339 in UTC with microseconds, as in reports. */
void json_add_date(struct json_object *o, const char *key, int64_t real_usec);

#endif
