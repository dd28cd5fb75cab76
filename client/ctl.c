/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "alloc.h"
#include "ctl.h"
#include "text.h"

int ctl_fail(struct ctl *c, enum ctl_exit code, const char *format, ...)
{
	va_list ap;

	if (c->failure)
		return code;
	va_start(ap, format);
	if (vasprintf(&c->failure, format, ap) < 0)
		c->failure = xstrdup("out of memory");
	va_end(ap);
	return code;
}

const char *ctl_exit_name(enum ctl_exit code)
{
	static const char *const names[CTL_EXIT_MAX] = {
		[CTL_OK] = "ok",
		[CTL_FAILED] = "failed",
		[CTL_USAGE] = "usage",
		[CTL_NO_SUCH] = "no-such",
		[CTL_UNREACHABLE] = "unreachable",
		[CTL_DENIED] = "denied",
	};

	return names[code];
}

void ctl_print_json(struct ctl *c, struct json_object *o, bool one_line)
{
	int flags = JSON_C_TO_STRING_NOSLASHESCAPE | (one_line ? JSON_C_TO_STRING_PLAIN : JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
	const char *text = json_object_to_json_string_ext(o, flags);
	_cleanup_free_ char *safe = text_safe_json(text ? text : "null");

	fprintf(c->term.out, "%s\n", safe);
	json_object_put(o);
}

struct json_object *ctl_document(const char *kind)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "format", json_object_new_string(CTL_FORMAT));
	json_object_object_add(o, "kind", json_object_new_string(kind));
	return o;
}
