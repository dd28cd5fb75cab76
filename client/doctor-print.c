/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "doctor-print.h"
#include "json.h"
#include "show.h"
#include "text.h"

static const char *const state_words[DOCTOR_STATE_MAX] = {
	[DOCTOR_OK] = "ok", [DOCTOR_MISSING] = "missing", [DOCTOR_UNKNOWN] = "unknown",
};

static const enum style state_styles[DOCTOR_STATE_MAX] = {
	[DOCTOR_OK] = STYLE_GOOD, [DOCTOR_MISSING] = STYLE_BAD, [DOCTOR_UNKNOWN] = STYLE_WARN,
};

struct finding *doctor_add(struct doctor *d, const char *id, enum doctor_state state, unsigned flags, const char *title, const char *lost,
			   const char *remedy, const char *found, ...)
{
	struct finding *f;
	va_list ap;

	d->findings = xrealloc(d->findings, d->n + 1, sizeof *d->findings);
	f = &d->findings[d->n++];
	*f = (struct finding) {
		.group = d->group, .id = id, .state = state, .matters = flags & DOCTOR_MATTERS, .title = xstrdup(title), .lost = lost, .remedy = remedy,
	};
	va_start(ap, found);
	if (vasprintf(&f->found, found, ap) < 0)
		f->found = xstrdup("out of memory");
	va_end(ap);
	return f;
}

void doctor_done(struct doctor *d)
{
	for (size_t i = 0; i < d->n; i++) {
		free(d->findings[i].subject);
		free(d->findings[i].title);
		free(d->findings[i].found);
	}
	for (size_t i = 0; i < d->n_known; i++)
		free(d->known_uuids[i]);
	free(d->known_uuids);
	free(d->findings);
	doctor_free_words(d->uris);
}

static void print_finding(const struct term *t, const struct finding *f)
{
	_cleanup_free_ char *line = xprintf("%s: %s", f->title, f->found);

	show_labelled(t, 2, 9, state_words[f->state], state_styles[f->state], STYLE_PLAIN, line);
	if (f->state == DOCTOR_OK)
		return;
	if (f->lost)
		show_labelled(t, 11, 8, "lost", STYLE_DIM, STYLE_DIM, f->lost);
	if (f->remedy)
		show_labelled(t, 11, 8, "remedy", STYLE_DIM, STYLE_PLAIN, f->remedy);
}

static void count(const struct doctor *d, size_t *ret_matter, size_t *ret_other, size_t *ret_unknown)
{
	*ret_matter = *ret_other = *ret_unknown = 0;
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *f = &d->findings[i];

		*ret_matter += f->state == DOCTOR_MISSING && f->matters;
		*ret_other += f->state == DOCTOR_MISSING && !f->matters;
		*ret_unknown += f->state == DOCTOR_UNKNOWN;
	}
}

bool doctor_is_well(const struct doctor *d)
{
	size_t matter, other, unknown;

	count(d, &matter, &other, &unknown);
	return matter == 0;
}

void doctor_print(const struct doctor *d, const struct term *t)
{
	size_t matter, other, unknown;

	for (size_t i = 0; i < d->n; i++) {
		if (i == 0 || strcmp(d->findings[i].group, d->findings[i - 1].group) != 0) {
			fprintf(t->out, "%s", i ? "\n" : "");
			term_put(t, STYLE_BOLD, d->findings[i].group);
			fputc('\n', t->out);
		}
		print_finding(t, &d->findings[i]);
	}
	count(d, &matter, &other, &unknown);
	fprintf(t->out, "\n%zu ok, %zu missing that watching needs, %zu missing that it can do without, %zu unknown\n",
		d->n - matter - other - unknown, matter, other, unknown);
}

struct json_object *doctor_to_json(const struct doctor *d)
{
	struct json_object *o = ctl_document("doctor"), *list = json_object_new_array();

	json_add_bool(o, "ok", doctor_is_well(d));
	for (size_t i = 0; i < d->n; i++) {
		const struct finding *f = &d->findings[i];
		struct json_object *one = json_object_new_object();

		json_add_text(one, "group", f->group);
		json_add_text(one, "id", f->id);
		json_add_text(one, "subject", f->subject);
		json_add_text(one, "state", state_words[f->state]);
		json_add_bool(one, "matters", f->matters);
		json_add_text(one, "found", f->found);
		json_add_text(one, "lost", f->state == DOCTOR_OK ? NULL : f->lost);
		json_add_text(one, "remedy", f->state == DOCTOR_OK ? NULL : f->remedy);
		json_object_array_add(list, one);
	}
	json_object_object_add(o, "findings", list);
	return o;
}
