/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "store/json-take.h"
#include "store/text.h"

static void path_join(char *to, size_t size, const struct node *n, const char *key)
{
	snprintf(to, size, "%.30s%s%.30s", n->path, *n->path && key ? "." : "", key ? key : "");
}

void take_fail(struct take *t, const struct node *n, const char *key, int r, const char *format, ...)
{
	char path[128];
	va_list ap;
	int used;

	if (t->r < 0)
		return;
	t->r = r;
	if (t->error_size == 0)
		return;
	path_join(path, sizeof(path), n, key);
	used = snprintf(t->error, t->error_size, "%s%s", path, *path ? ": " : "");
	if (used < 0 || (size_t) used >= t->error_size)
		return;
	va_start(ap, format);
	vsnprintf(t->error + used, t->error_size - (size_t) used, format, ap);
	va_end(ap);
}

/* What was found, short and printable: it goes to a log. */
static void describe(struct json_object *o, char *to, size_t size)
{
	const char *s;
	size_t n;

	switch (json_object_get_type(o)) {
	case json_type_null:
		snprintf(to, size, "null");
		return;
	case json_type_object:
		snprintf(to, size, "an object");
		return;
	case json_type_array:
		snprintf(to, size, "an array of %zu", json_object_array_length(o));
		return;
	case json_type_boolean:
		snprintf(to, size, json_object_get_boolean(o) ? "true" : "false");
		return;
	case json_type_int:
		if (json_object_get_int64(o) < 0)
			snprintf(to, size, "%" PRId64, json_object_get_int64(o));
		else
			snprintf(to, size, "%" PRIu64, json_object_get_uint64(o));
		return;
	case json_type_double:
		snprintf(to, size, "a number that is no integer");
		return;
	case json_type_string:
		break;
	}
	s = json_object_get_string(o);
	snprintf(to, size, "\"%.40s\"", s);
	n = strlen(to);
	for (size_t i = 1; i + 1 < n; i++)
		if (to[i] < ' ' || to[i] > '~')
			to[i] = '?';
}

void take_wrong(struct take *t, const struct node *n, const char *key, struct json_object *found, const char *expected)
{
	char what[64];

	describe(found, what, sizeof(what));
	take_fail(t, n, key, -EINVAL, "found %s, expected %s", what, expected);
}

/* False: absent, told. */
static bool get(struct take *t, const struct node *n, const char *key, struct json_object **ret_)
{
	*ret_ = NULL;
	if (t->r < 0)
		return false;
	if (json_object_object_get_ex(n->o, key, ret_))
		return true;
	take_fail(t, n, key, -EINVAL, "missing");
	return false;
}

struct node take_object(struct take *t, const struct node *n, const char *key)
{
	struct node child = { 0 };
	struct json_object *o;

	if (!get(t, n, key, &o))
		return child;
	if (!json_object_is_type(o, json_type_object)) {
		take_wrong(t, n, key, o, "an object");
		return child;
	}
	child.o = o;
	path_join(child.path, sizeof(child.path), n, key);
	return child;
}

size_t take_array(struct take *t, const struct node *n, const char *key, size_t max, struct json_object **ret_)
{
	struct json_object *o;
	char expected[64];

	*ret_ = NULL;
	if (!get(t, n, key, &o))
		return 0;
	if (!json_object_is_type(o, json_type_array) || json_object_array_length(o) > max) {
		snprintf(expected, sizeof(expected), "an array of at most %zu", max);
		take_wrong(t, n, key, o, expected);
		return 0;
	}
	*ret_ = o;
	return json_object_array_length(o);
}

struct node take_element(struct take *t, const struct node *n, const char *key, struct json_object *array, size_t i)
{
	struct node child = { .o = json_object_array_get_idx(array, i) };

	snprintf(child.path, sizeof(child.path), "%.24s%s%.16s[%zu]", n->path, *n->path ? "." : "", key, i);
	if (!json_object_is_type(child.o, json_type_object)) {
		take_wrong(t, &child, NULL, child.o, "an object");
		child.o = NULL;
	}
	return child;
}

bool take_bool(struct take *t, const struct node *n, const char *key)
{
	struct json_object *o;

	if (!get(t, n, key, &o))
		return false;
	if (!json_object_is_type(o, json_type_boolean)) {
		take_wrong(t, n, key, o, "true or false");
		return false;
	}
	return json_object_get_boolean(o);
}

static uint64_t count_of(struct take *t, const struct node *n, const char *key, struct json_object *o, uint64_t min, uint64_t max)
{
	char expected[80];

	/* json-c gives the nearest 64-bit value for what does not fit: that is outside of every range asked for here. */
	if (json_object_is_type(o, json_type_int) && json_object_get_int64(o) >= 0) {
		uint64_t v = json_object_get_uint64(o);

		if (v >= min && v <= max)
			return v;
	}
	snprintf(expected, sizeof(expected), "an integer from %" PRIu64 " to %" PRIu64, min, max);
	take_wrong(t, n, key, o, expected);
	return 0;
}

uint64_t take_count(struct take *t, const struct node *n, const char *key, uint64_t min, uint64_t max)
{
	struct json_object *o;

	return get(t, n, key, &o) ? count_of(t, n, key, o, min, max) : 0;
}

uint64_t take_count_or(struct take *t, const struct node *n, const char *key, uint64_t min, uint64_t max, uint64_t null_value)
{
	struct json_object *o;

	if (!get(t, n, key, &o))
		return 0;
	return o ? count_of(t, n, key, o, min, max) : null_value;
}

const char *text_of(struct json_object *o, size_t max)
{
	const char *s;
	size_t n;

	if (!json_object_is_type(o, json_type_string))
		return NULL;
	s = json_object_get_string(o);
	n = (size_t) json_object_get_string_len(o);
	return n <= max && strlen(s) == n && utf8_is_valid(s, n) ? s : NULL;
}

void take_text(struct take *t, const struct node *n, const char *key, char *to, size_t size, unsigned flags)
{
	struct json_object *o;
	const char *s;
	char expected[80];

	to[0] = '\0';
	if (!get(t, n, key, &o) || (!o && (flags & TAKE_NULLABLE)))
		return;
	s = text_of(o, size - 1);
	if (s) {
		memcpy(to, s, strlen(s) + 1);
		return;
	}
	snprintf(expected, sizeof(expected), "a string of at most %zu bytes of UTF-8 without NUL", size - 1);
	take_wrong(t, n, key, o, expected);
}

int take_word(struct take *t, const struct node *n, const char *key, const char *(*to_string)(int), int max)
{
	struct json_object *o;
	const char *s;
	char expected[256] = "one of";
	size_t used = strlen(expected);

	if (!get(t, n, key, &o))
		return 0;
	s = text_of(o, 64);
	for (int i = 0; s && i < max; i++)
		if (strcmp(s, to_string(i)) == 0)
			return i;
	for (int i = 0; i < max && used < sizeof(expected); i++)
		used += (size_t) snprintf(expected + used, sizeof(expected) - used, "%s %s", i ? "," : "", to_string(i));
	take_wrong(t, n, key, o, expected);
	return 0;
}
