/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_JSON_MAKE_H
#define ROLLBACKD_STORE_JSON_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include <json-c/json.h>

/* Builds objects without a check after every line: a failed allocation is remembered, everything after it is a no-op,
 * and the caller looks once, at the end. Values pass into the object they are put into. */
struct make {
	bool failed;
};

struct json_object *make_object(struct make *m);
struct json_object *make_array(struct make *m);

void put(struct make *m, struct json_object *o, const char *key, struct json_object *value);
void put_null(struct make *m, struct json_object *o, const char *key);
void put_bool(struct make *m, struct json_object *o, const char *key, bool value);
void put_int(struct make *m, struct json_object *o, const char *key, int64_t value);
void put_count(struct make *m, struct json_object *o, const char *key, uint64_t value);
/* "" and NULL are null. */
void put_text(struct make *m, struct json_object *o, const char *key, const char *value);
/* 0 is null. */
void put_known(struct make *m, struct json_object *o, const char *key, uint64_t value);

void append(struct make *m, struct json_object *array, struct json_object *value);
void append_text(struct make *m, struct json_object *array, const char *value);

#endif
