/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "store/json-make.h"
#include "store/text.h"

/* No text of a report is longer (core/report.h). */
#define TEXT_MAX 256

static struct json_object *check(struct make *m, struct json_object *o)
{
	if (!o)
		m->failed = true;
	return o;
}

struct json_object *make_object(struct make *m)
{
	return check(m, json_object_new_object());
}

struct json_object *make_array(struct make *m)
{
	return check(m, json_object_new_array());
}

static struct json_object *make_text(const char *value)
{
	char clean[TEXT_MAX];

	utf8_clean(clean, sizeof(clean), value);
	return json_object_new_string(clean);
}

void put(struct make *m, struct json_object *o, const char *key, struct json_object *value)
{
	if (!check(m, value))
		return;
	if (!o || json_object_object_add(o, key, value) < 0) {
		json_object_put(value);
		m->failed = true;
	}
}

void put_null(struct make *m, struct json_object *o, const char *key)
{
	if (!o || json_object_object_add(o, key, NULL) < 0)
		m->failed = true;
}

void put_bool(struct make *m, struct json_object *o, const char *key, bool value)
{
	put(m, o, key, json_object_new_boolean(value));
}

void put_int(struct make *m, struct json_object *o, const char *key, int64_t value)
{
	put(m, o, key, json_object_new_int64(value));
}

void put_count(struct make *m, struct json_object *o, const char *key, uint64_t value)
{
	put(m, o, key, json_object_new_uint64(value));
}

void put_text(struct make *m, struct json_object *o, const char *key, const char *value)
{
	if (!value || !*value)
		put_null(m, o, key);
	else
		put(m, o, key, make_text(value));
}

void put_known(struct make *m, struct json_object *o, const char *key, uint64_t value)
{
	if (value == 0)
		put_null(m, o, key);
	else
		put_count(m, o, key, value);
}

void append(struct make *m, struct json_object *array, struct json_object *value)
{
	if (!check(m, value))
		return;
	if (!array || json_object_array_add(array, value) < 0) {
		json_object_put(value);
		m->failed = true;
	}
}

void append_text(struct make *m, struct json_object *array, const char *value)
{
	append(m, array, make_text(value));
}
