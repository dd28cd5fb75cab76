/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "schema.h"

struct check {
	struct json_object *root;
	char *error;
	size_t size;
};

static bool check_value(struct check *c, struct json_object *schema, struct json_object *v, const char *path);

static bool fail(struct check *c, const char *path, const char *what, const char *detail)
{
	snprintf(c->error, c->size, "%s: %s %s", *path ? path : "(root)", what, detail);
	return false;
}

static bool is_type(struct json_object *v, const char *name)
{
	switch (json_object_get_type(v)) {
	case json_type_null:
		return strcmp(name, "null") == 0;
	case json_type_boolean:
		return strcmp(name, "boolean") == 0;
	case json_type_double:
		return strcmp(name, "number") == 0;
	case json_type_int:
		return strcmp(name, "integer") == 0 || strcmp(name, "number") == 0;
	case json_type_object:
		return strcmp(name, "object") == 0;
	case json_type_array:
		return strcmp(name, "array") == 0;
	case json_type_string:
		return strcmp(name, "string") == 0;
	}
	return false;
}

static bool check_type(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	if (json_object_is_type(rule, json_type_string))
		return is_type(v, json_object_get_string(rule)) || fail(c, path, "is not of type", json_object_get_string(rule));
	for (size_t i = 0; i < json_object_array_length(rule); i++)
		if (is_type(v, json_object_get_string(json_object_array_get_idx(rule, i))))
			return true;
	return fail(c, path, "is of none of the types", json_object_to_json_string(rule));
}

static bool check_enum(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	for (size_t i = 0; i < json_object_array_length(rule); i++)
		if (json_object_equal(json_object_array_get_idx(rule, i), v))
			return true;
	return fail(c, path, "is none of", json_object_to_json_string(rule));
}

static bool check_required(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	for (size_t i = 0; i < json_object_array_length(rule); i++) {
		const char *key = json_object_get_string(json_object_array_get_idx(rule, i));

		if (json_object_is_type(v, json_type_object) && !json_object_object_get_ex(v, key, NULL))
			return fail(c, path, "lacks", key);
	}
	return true;
}

static bool check_properties(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	if (!json_object_is_type(v, json_type_object))
		return true;
	json_object_object_foreach(rule, key, sub) {
		struct json_object *child;
		char where[256];

		if (!json_object_object_get_ex(v, key, &child))
			continue;
		snprintf(where, sizeof(where), "%.200s.%.50s", path, key);
		if (!check_value(c, sub, child, where))
			return false;
	}
	json_object_object_foreach(v, present, unused) {
		(void) unused;
		if (!json_object_object_get_ex(rule, present, NULL))
			return fail(c, path, "has the undocumented key", present);
	}
	return true;
}

static bool check_items(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	if (!json_object_is_type(v, json_type_array))
		return true;
	for (size_t i = 0; i < json_object_array_length(v); i++) {
		char where[256];

		snprintf(where, sizeof(where), "%.230s[%zu]", path, i);
		if (!check_value(c, rule, json_object_array_get_idx(v, i), where))
			return false;
	}
	return true;
}

static bool check_any_of(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	for (size_t i = 0; i < json_object_array_length(rule); i++)
		if (check_value(c, json_object_array_get_idx(rule, i), v, path))
			return true;
	return false; /* told by the last */
}

static bool check_number(struct check *c, const char *keyword, struct json_object *rule, struct json_object *v, const char *path)
{
	int64_t limit = json_object_get_int64(rule), value = json_object_get_int64(v);

	if (!json_object_is_type(v, json_type_int))
		return true;
	if (strcmp(keyword, "minimum") == 0 ? value >= limit : value <= limit)
		return true;
	return fail(c, path, keyword, json_object_to_json_string(rule));
}

static size_t characters(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char) *s & 0xc0) != 0x80;
	return n;
}

static bool check_size(struct check *c, const char *keyword, struct json_object *rule, struct json_object *v, const char *path)
{
	size_t limit = (size_t) json_object_get_int64(rule), size;

	if (strstr(keyword, "Items") && json_object_is_type(v, json_type_array))
		size = json_object_array_length(v);
	else if (strstr(keyword, "Length") && json_object_is_type(v, json_type_string))
		size = characters(json_object_get_string(v));
	else
		return true;
	return (strncmp(keyword, "min", 3) == 0 ? size >= limit : size <= limit) || fail(c, path, keyword, json_object_to_json_string(rule));
}

static bool check_pattern(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	regex_t re;
	bool fits;

	if (!json_object_is_type(v, json_type_string))
		return true;
	if (regcomp(&re, json_object_get_string(rule), REG_EXTENDED | REG_NOSUB) != 0)
		return fail(c, path, "no pattern:", json_object_get_string(rule));
	fits = regexec(&re, json_object_get_string(v), 0, NULL, 0) == 0;
	regfree(&re);
	return fits || fail(c, path, "does not match", json_object_get_string(rule));
}

static bool check_ref(struct check *c, struct json_object *rule, struct json_object *v, const char *path)
{
	const char *ref = json_object_get_string(rule);
	struct json_object *defs, *target;

	if (strncmp(ref, "#/$defs/", 8) != 0 || !json_object_object_get_ex(c->root, "$defs", &defs) ||
	    !json_object_object_get_ex(defs, ref + 8, &target))
		return fail(c, path, "unknown $ref", ref);
	return check_value(c, target, v, path);
}

static bool check_keyword(struct check *c, const char *k, struct json_object *rule, struct json_object *v, const char *path)
{
	static const char *const annotations[] = { "$schema", "$id", "$defs", "$comment", "title", "description", "examples" };

	for (size_t i = 0; i < sizeof(annotations) / sizeof(annotations[0]); i++)
		if (strcmp(k, annotations[i]) == 0)
			return true;
	if (strcmp(k, "type") == 0)
		return check_type(c, rule, v, path);
	if (strcmp(k, "const") == 0)
		return json_object_equal(rule, v) || fail(c, path, "is not", json_object_to_json_string(rule));
	if (strcmp(k, "enum") == 0)
		return check_enum(c, rule, v, path);
	if (strcmp(k, "required") == 0)
		return check_required(c, rule, v, path);
	if (strcmp(k, "properties") == 0)
		return check_properties(c, rule, v, path);
	if (strcmp(k, "items") == 0)
		return check_items(c, rule, v, path);
	if (strcmp(k, "anyOf") == 0)
		return check_any_of(c, rule, v, path);
	if (strcmp(k, "minimum") == 0 || strcmp(k, "maximum") == 0)
		return check_number(c, k, rule, v, path);
	if (strcmp(k, "maxItems") == 0 || strcmp(k, "maxLength") == 0 || strcmp(k, "minLength") == 0 || strcmp(k, "minItems") == 0)
		return check_size(c, k, rule, v, path);
	if (strcmp(k, "pattern") == 0)
		return check_pattern(c, rule, v, path);
	if (strcmp(k, "$ref") == 0)
		return check_ref(c, rule, v, path);
	return fail(c, path, "the checker does not know the keyword", k);
}

static bool check_value(struct check *c, struct json_object *schema, struct json_object *v, const char *path)
{
	if (!json_object_is_type(schema, json_type_object))
		return fail(c, path, "no schema:", json_object_to_json_string(schema));
	json_object_object_foreach(schema, keyword, rule) {
		if (!check_keyword(c, keyword, rule, v, path))
			return false;
	}
	return true;
}

bool schema_check(struct json_object *schema, struct json_object *value, char *error, size_t size)
{
	struct check c = { .root = schema, .error = error, .size = size };

	return check_value(&c, schema, value, "");
}
