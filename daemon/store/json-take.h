/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_JSON_TAKE_H
#define ROLLBACKD_STORE_JSON_TAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <json-c/json.h>

/* Reads typed values out of objects that nobody vouches for. The first thing wrong is told in one sentence ("marks.T0.
 * source: found "ntp", expected one of none, qmp, ..."), everything after it is a no-op that gives 0, "" or NULL, and
 * the caller looks once, at the end. */
struct take {
	int r;            /* 0, or the first error */
	char *error;
	size_t error_size;
};

/* An object and where it stands, for messages. */
struct node {
	struct json_object *o;
	char path[64];
};

/* Sets the first error; key may be NULL. Later calls change nothing. */
void take_fail(struct take *t, const struct node *n, const char *key, int r, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* The same as "found X, expected Y". */
void take_wrong(struct take *t, const struct node *n, const char *key, struct json_object *found, const char *expected);

/* NULL: absent, which is an error, or JSON's null, which is one only if not nullable. */
enum take_flags { TAKE_NULLABLE = 1 << 0 };

struct node take_object(struct take *t, const struct node *n, const char *key);
/* The array's length, 0..max; the array itself in ret_. */
size_t take_array(struct take *t, const struct node *n, const char *key, size_t max, struct json_object **ret_);
struct node take_element(struct take *t, const struct node *n, const char *key, struct json_object *array, size_t i);

bool take_bool(struct take *t, const struct node *n, const char *key);
/* min..max; null gives "null_value". */
uint64_t take_count(struct take *t, const struct node *n, const char *key, uint64_t min, uint64_t max);
uint64_t take_count_or(struct take *t, const struct node *n, const char *key, uint64_t min, uint64_t max, uint64_t null_value);
/* At most size-1 bytes of UTF-8 without NUL; null gives "". */
void take_text(struct take *t, const struct node *n, const char *key, char *to, size_t size, unsigned flags);

/* One of the words that to_string gives for 0..max-1; the macro fits any string table of core/table.h. */
int take_word(struct take *t, const struct node *n, const char *key, const char *(*to_string)(int), int max);
const char *text_of(struct json_object *o, size_t max); /* NULL unless a string of that many bytes, UTF-8, no NUL */

#endif
