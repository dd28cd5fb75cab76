/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "json.h"
#include "properties.h"

#define DEPTH_MAX 16 /* D-Bus allows 64; the interface needs 4 */

static int read_any(sd_bus_message *m, unsigned depth, struct json_object **ret_);

static int read_basic(sd_bus_message *m, char type, struct json_object **ret_)
{
	union {
		uint8_t y;
		int b;
		int16_t n;
		uint16_t q;
		int32_t i;
		uint32_t u;
		int64_t x;
		uint64_t t;
		double d;
		const char *s;
	} v;
	int r = sd_bus_message_read_basic(m, type, &v);

	if (r < 0)
		return r;
	switch (type) {
	case 'y': *ret_ = json_object_new_uint64(v.y); break;
	case 'b': *ret_ = json_object_new_boolean(v.b); break;
	case 'n': *ret_ = json_object_new_int64(v.n); break;
	case 'q': *ret_ = json_object_new_uint64(v.q); break;
	case 'i': *ret_ = json_object_new_int64(v.i); break;
	case 'u': *ret_ = json_object_new_uint64(v.u); break;
	case 'x': *ret_ = json_object_new_int64(v.x); break;
	case 't': *ret_ = json_object_new_uint64(v.t); break;
	case 'd': *ret_ = json_object_new_double(v.d); break;
	case 's':
	case 'o':
	case 'g': *ret_ = json_object_new_string(v.s); break;
	default: return -EOPNOTSUPP;
	}
	return 0;
}

/* Elements up to the end of the container that was entered. */
static int read_list(sd_bus_message *m, unsigned depth, struct json_object **ret_)
{
	struct json_object *list = json_object_new_array(), *v;
	int r;

	while ((r = sd_bus_message_at_end(m, 0)) == 0 && (r = read_any(m, depth + 1, &v)) >= 0)
		json_object_array_add(list, v);
	if (r < 0) {
		json_object_put(list);
		return r;
	}
	*ret_ = list;
	return 0;
}

static int read_entry(sd_bus_message *m, unsigned depth, struct json_object *dictionary)
{
	struct json_object *v;
	const char *contents, *key;
	int r = sd_bus_message_peek_type(m, NULL, &contents);

	if (r >= 0)
		r = sd_bus_message_enter_container(m, 'e', contents);
	if (r >= 0)
		r = sd_bus_message_read_basic(m, 's', &key);
	if (r >= 0)
		r = read_any(m, depth + 1, &v);
	if (r < 0)
		return r;
	json_object_object_add(dictionary, key, v);
	return sd_bus_message_exit_container(m);
}

static int read_dictionary(sd_bus_message *m, unsigned depth, struct json_object **ret_)
{
	struct json_object *o = json_object_new_object();
	int r;

	while ((r = sd_bus_message_at_end(m, 0)) == 0 && (r = read_entry(m, depth, o)) >= 0)
		;
	if (r < 0) {
		json_object_put(o);
		return r;
	}
	*ret_ = o;
	return 0;
}

static int read_any(sd_bus_message *m, unsigned depth, struct json_object **ret_)
{
	struct json_object *o = NULL;
	const char *contents;
	char type;
	int r = sd_bus_message_peek_type(m, &type, &contents);

	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	if (depth > DEPTH_MAX)
		return -ELOOP;
	if (!strchr("avr", type))
		return read_basic(m, type, ret_);
	r = sd_bus_message_enter_container(m, type, contents);
	if (r < 0)
		return r;
	if (type == 'a' && strncmp(contents, "{s", 2) == 0)
		r = read_dictionary(m, depth, &o);
	else if (type == 'v')
		r = read_any(m, depth + 1, &o);
	else
		r = read_list(m, depth, &o);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		json_object_put(o);
	else
		*ret_ = o;
	return r < 0 ? r : 0;
}

int properties_read(sd_bus_message *m, struct json_object **ret_)
{
	struct json_object *o = NULL;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r >= 0)
		r = read_dictionary(m, 0, &o);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		json_object_put(o);
	else
		*ret_ = o;
	return r < 0 ? r : 0;
}

int properties_get_all(struct ctl *c, sd_bus *bus, const char *path, const char *interface, struct json_object **ret_)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = bus_call(c, bus, path, "org.freedesktop.DBus.Properties", "GetAll", &m, "s", interface);

	if (r != CTL_OK)
		return r;
	r = properties_read(m, ret_);
	return r < 0 ? bus_bad_answer(c, r) : CTL_OK;
}
