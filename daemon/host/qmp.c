/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <json-c/json.h>
#include <string.h>

#include "host/qmp.h"

/* QEMU's events of interest are a few dozen bytes. */
#define DETAILS_MAX 65536

static struct json_object *parse(const char *details)
{
	if (!details || strlen(details) > DETAILS_MAX)
		return NULL;
	return json_tokener_parse(details);
}

static void decode_migration(const char *details, struct event *ev)
{
	struct json_object *o = parse(details), *status;

	ev->kind = EVENT_QMP_UNKNOWN;
	if (o && json_object_object_get_ex(o, "status", &status) && json_object_is_type(status, json_type_string)) {
		enum qmp_status s = qmp_status_from_string(json_object_get_string(status));

		if (s != QMP_STATUS_INVALID) {
			ev->kind = EVENT_QMP_MIGRATION;
			ev->status = s;
		}
	}
	json_object_put(o);
}

static void decode_pass(const char *details, struct event *ev)
{
	struct json_object *o = parse(details), *pass;

	ev->kind = EVENT_QMP_UNKNOWN;
	if (o && json_object_object_get_ex(o, "pass", &pass) && json_object_is_type(pass, json_type_int)) {
		int64_t n = json_object_get_int64(pass);

		ev->kind = EVENT_QMP_PASS;
		ev->iteration = n < 0 ? 0 : n > UINT32_MAX ? UINT32_MAX : (uint32_t) n;
	}
	json_object_put(o);
}

int qmp_decode(const char *name, const char *details, struct event *ev)
{
	if (strcmp(name, "MIGRATION") == 0)
		decode_migration(details, ev);
	else if (strcmp(name, "MIGRATION_PASS") == 0)
		decode_pass(details, ev);
	else if (strcmp(name, "STOP") == 0)
		ev->kind = EVENT_QMP_STOP;
	else if (strcmp(name, "RESUME") == 0)
		ev->kind = EVENT_QMP_RESUME;
	else
		return -ENOENT;
	return 0;
}
