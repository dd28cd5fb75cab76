/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_SHOW_H
#define ROLLBACKCTL_SHOW_H

/* One report on the terminal: a header of facts, the phases, the marks, what the reader must know, the counts. */

#include <json-c/json.h>

#include "term.h"

void show_header(const struct term *t, struct json_object *report);
void show_phases(const struct term *t, struct json_object *report);
void show_marks(const struct term *t, struct json_object *report);
void show_notes(const struct term *t, struct json_object *report);
void show_counts(const struct term *t, struct json_object *report);
void show_timeline(const struct term *t, struct json_object *report);

/* One fact of a header: a label and lines of text, wrapped beside it. text is made safe. */
void show_fact(const struct term *t, const char *label, enum style style, const char *text);

/* The same with the columns named. */
void show_labelled(const struct term *t, int indent, int label_width, const char *label, enum style label_style, enum style style,
		   const char *text);

/* What has no figure and why, grouped by reason: "T4, T5: not measured by this version". Borrows from JSON. */
struct show_missing {
	struct {
		const char *name, *reason;
	} v[32];
	unsigned n;
};
void show_missing_add(struct show_missing *m, const char *name, const char *reason);
void show_missing_print(const struct term *t, const char *label, const struct show_missing *m);

/* The blackout as text, to be freed: a figure, a lower bound said to be one, or why there is none. */
char *show_blackout(const struct term *t, struct json_object *report);

#endif
