/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <time.h>

#include "json.h"

struct json_object *json_at(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (!json_object_is_type(o, json_type_object) || !json_object_object_get_ex(o, key, &v))
		return NULL;
	return v;
}

const char *json_text(struct json_object *o, const char *key)
{
	struct json_object *v = json_at(o, key);

	return json_object_is_type(v, json_type_string) ? json_object_get_string(v) : NULL;
}

const char *json_text_or(struct json_object *o, const char *key, const char *otherwise)
{
	const char *text = json_text(o, key);

	return text && *text ? text : otherwise;
}

bool json_int(struct json_object *o, const char *key, int64_t *ret_)
{
	struct json_object *v = json_at(o, key);

	if (!json_object_is_type(v, json_type_int))
		return false;
	*ret_ = json_object_get_int64(v);
	return true;
}

bool json_count(struct json_object *o, const char *key, uint64_t *ret_)
{
	struct json_object *v = json_at(o, key);

	if (!json_object_is_type(v, json_type_int) || json_object_get_int64(v) < 0)
		return false;
	*ret_ = json_object_get_uint64(v);
	return true;
}

bool json_true(struct json_object *o, const char *key)
{
	struct json_object *v = json_at(o, key);

	return json_object_is_type(v, json_type_boolean) && json_object_get_boolean(v);
}

size_t json_length(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

void json_add_text(struct json_object *o, const char *key, const char *value)
{
	json_object_object_add(o, key, value ? json_object_new_string(value) : NULL);
}

void json_add_count(struct json_object *o, const char *key, uint64_t value)
{
	json_object_object_add(o, key, json_object_new_uint64(value));
}

void json_add_count_or_null(struct json_object *o, const char *key, bool known, uint64_t value)
{
	json_object_object_add(o, key, known ? json_object_new_uint64(value) : NULL);
}

void json_add_bool(struct json_object *o, const char *key, bool value)
{
	json_object_object_add(o, key, json_object_new_boolean(value));
}

void json_add_date(struct json_object *o, const char *key, int64_t real_usec)
{
	time_t t = (time_t) (real_usec / 1000000 - (real_usec % 1000000 < 0));
	int fraction = (int) ((real_usec % 1000000 + 1000000) % 1000000);
	char day[40], date[64];
	struct tm tm;

	if (!gmtime_r(&t, &tm) || strftime(day, sizeof day, "%Y-%m-%dT%H:%M:%S", &tm) == 0) {
		json_object_object_add(o, key, NULL);
		return;
	}
	snprintf(date, sizeof date, "%s.%06dZ", day, fraction);
	json_add_text(o, key, date);
}
