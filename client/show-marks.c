/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "format.h"
#include "json.h"
#include "show.h"
#include "table.h"
#include "text.h"
#include "when.h"
#include "words.h"

static const struct column columns[] = {
	{ .head = "" },
	{ .head = "MARK" },
	{ .head = "TIME" },
	{ .head = "AFTER", .right = true },
	{ .head = "SOURCE, EXACT TO" },
	{ .head = "", .flex = true },
};

static char *flags_text(struct json_object *mark)
{
	struct json_object *flags = json_at(mark, "flags");
	char *text = xstrdup("");

	for (size_t i = 0; i < json_length(flags); i++) {
		const char *flag = json_object_get_string(json_object_array_get_idx(flags, i));
		const char *word = !flag ? "?" : strcmp(flag, "clamped") == 0 ? "moved back" :
				   strcmp(flag, "late") == 0 ? "seen late" : strcmp(flag, "lower-bound") == 0 ? "lower bound" : flag;
		char *longer = xprintf("%s%s%s", text, *text ? ", " : "", word);

		free(text);
		text = longer;
	}
	return text;
}

/* Time of day with microseconds: the header has the date. */
static void add_time(struct table *t, struct json_object *mark, uint64_t us, uint64_t first)
{
	const char *word = json_text(mark, "time");
	char buf[FORMAT_MAX];
	int64_t at;

	if (word && when_parse_rfc3339(word, &at)) {
		format_date_exact(buf, at);
		if (strlen(buf) > 26)
			buf[26] = 0;
		table_add(t, STYLE_PLAIN, strlen(buf) == 26 ? buf + 11 : buf);
	} else {
		table_add(t, STYLE_PLAIN, word ? word : "?");
	}
	if (us >= first) {
		char plus[FORMAT_MAX + 1] = "+";

		strcat(plus, format_usec(buf, us - first, 0));
		table_add(t, STYLE_PLAIN, us == first ? "" : plus);
	} else {
		table_add(t, STYLE_PLAIN, "");
	}
}

/* "QEMU, 1 us" */
static char *source_text(struct json_object *mark)
{
	const char *source = words_source(json_text(mark, "source"));
	uint64_t us;

	if (!json_count(mark, "resolution_us", &us) || us == 0)
		return xstrdup(source);
	if (us % 1000000 == 0)
		return xprintf("%s, %" PRIu64 " s", source, us / 1000000);
	if (us % 1000 == 0)
		return xprintf("%s, %" PRIu64 " ms", source, us / 1000);
	return xprintf("%s, %" PRIu64 " us", source, us);
}

static void add_mark(struct table *t, const char *name, struct json_object *mark, uint64_t first, struct show_missing *missing)
{
	_cleanup_free_ char *flags = flags_text(mark), *source = source_text(mark);
	uint64_t us;

	if (!json_count(mark, "monotonic_us", &us)) {
		show_missing_add(missing, name, json_text(mark, "reason"));
		return;
	}
	table_add(t, STYLE_BOLD, name);
	table_add(t, STYLE_DIM, words_mark(name));
	add_time(t, mark, us, first);
	table_add(t, STYLE_PLAIN, source);
	table_add(t, STYLE_WARN, flags);
}

static uint64_t first_mark(struct json_object *marks)
{
	uint64_t first = UINT64_MAX, us;

	json_object_object_foreach(marks, key, mark) {
		(void) key;
		if (json_count(mark, "monotonic_us", &us) && us < first)
			first = us;
	}
	return first;
}

void show_marks(const struct term *term, struct json_object *report)
{
	struct json_object *marks = json_at(report, "marks");
	struct show_missing missing = { 0 };
	struct table *t;
	uint64_t first;

	if (!json_object_is_type(marks, json_type_object) || json_object_object_length(marks) == 0)
		return;
	first = first_mark(marks);
	t = table_new(columns, sizeof columns / sizeof columns[0]);
	json_object_object_foreach(marks, key, mark)
		add_mark(t, key, mark, first, &missing);
	fputc('\n', term->out);
	table_print(t, term, 2);
	table_free(t);
	show_missing_print(term, "No time", &missing);
}

void show_timeline(const struct term *term, struct json_object *report)
{
	static const struct column timeline_columns[] = {
		{ .head = "EVENT", .flex = true },
		{ .head = "AFTER", .right = true },
		{ .head = "ARRIVED", .right = true, .drop = 1 },
		{ .head = "SOURCE" },
	};
	struct json_object *list = json_at(report, "timeline");
	uint64_t first = first_mark(json_at(report, "marks")), at, arrival, dropped = 0;
	struct table *t = table_new(timeline_columns, 4);

	for (size_t i = 0; i < json_length(list); i++) {
		struct json_object *e = json_object_array_get_idx(list, i);
		bool known = json_count(e, "monotonic_us", &at);
		char buf[FORMAT_MAX], text[FORMAT_MAX + 16] = "";

		if (i == 0 && first == UINT64_MAX && known)
			first = at;
		table_add(t, STYLE_PLAIN, json_text_or(e, "what", "?"));
		if (known)
			snprintf(text, sizeof text, "%s%s", at < first ? "-" : "+", format_usec(buf, at < first ? first - at : at - first, 0));
		table_add(t, STYLE_PLAIN, text);
		*text = 0;
		if (known && json_count(e, "arrival_us", &arrival) && arrival >= at)
			snprintf(text, sizeof text, "%s later", format_usec(buf, arrival - at, 0));
		table_add(t, STYLE_DIM, text);
		table_add(t, STYLE_PLAIN, words_source(json_text(e, "source")));
	}
	fputc('\n', term->out);
	if (json_length(list))
		table_print(t, term, 2);
	else
		fputs("  No events on record.\n", term->out);
	table_free(t);
	if (json_count(report, "timeline_dropped", &dropped) && dropped)
		fprintf(term->out, "  %" PRIu64 " more event%s came and %s not kept.\n", dropped, dropped == 1 ? "" : "s", dropped == 1 ? "was" : "were");
}

void show_notes(const struct term *term, struct json_object *report)
{
	struct json_object *notes = json_at(report, "notes");

	if (json_length(notes))
		fputc('\n', term->out);
	for (size_t i = 0; i < json_length(notes); i++) {
		struct json_object *n = json_object_array_get_idx(notes, i);

		show_fact(term, i == 0 ? "Note" : "", STYLE_WARN, json_text_or(n, "text", json_text_or(n, "code", "?")));
	}
}

/* Each of table: key, word for many, word for one. */
static char *count_text(struct json_object *counts, const char *const (*table)[3], size_t n)
{
	char *text = xstrdup("");
	uint64_t value;

	for (size_t i = 0; i < n; i++) {
		char *longer;

		/* Only what happened at all is worth a line, the first entry apart. */
		if (!json_count(counts, table[i][0], &value) || (value == 0 && i > 0))
			continue;
		longer = xprintf("%s%s%" PRIu64 " %s", text, *text ? ", " : "", value,
				 table[i][value == 1 ? 2 : 1]);
		free(text);
		text = longer;
	}
	return text;
}

void show_counts(const struct term *term, struct json_object *report)
{
	static const char *const events[][3] = {
		{ "events", "events", "event" },
		{ "events_unknown", "unknown", "unknown" },
		{ "events_out_of_order", "out of order", "out of order" },
		{ "iterations", "iterations", "iteration" },
		{ "marks_clamped", "marks moved back", "mark moved back" },
	};
	static const char *const stamps[][3] = {
		{ "stamps_qmp", "from QEMU", "from QEMU" },
		{ "stamps_arrival", "from arrival", "from arrival" },
		{ "stamps_rejected", "rejected", "rejected" },
	};
	struct json_object *counts = json_at(report, "counts");
	_cleanup_free_ char *e = count_text(counts, events, 5), *s = count_text(counts, stamps, 3);

	fputc('\n', term->out);
	if (*e)
		show_fact(term, "Seen", STYLE_PLAIN, e);
	if (*s)
		show_fact(term, "Stamps", STYLE_PLAIN, s);
}
