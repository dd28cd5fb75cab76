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
#include "words.h"

#define BAR_MIN 12
#define BAR_MAX 40

static const struct column columns[] = {
	{ .head = "PHASE" },
	{ .head = "", .drop = 2 },
	{ .head = "FROM-TO" },
	{ .head = "TIME", .right = true },
	{ .head = "SHARE", .right = true },
	{ .head = "" },
};

/* Of the whole, with "<" where rounding would say 0. */
static char *share(uint64_t part, uint64_t whole)
{
	uint64_t percent = whole ? (uint64_t) (((unsigned __int128) part * 100 + whole / 2) / whole) : 0;

	if (whole == 0)
		return xstrdup("");
	return part && percent == 0 ? xstrdup("< 1 %") : xprintf("%" PRIu64 " %%", percent);
}

static bool is_flagged(struct json_object *report, const char *mark)
{
	struct json_object *flags = mark ? json_at(json_at(json_at(report, "marks"), mark), "flags") : NULL;

	for (size_t k = 0; k < json_length(flags); k++) {
		const char *flag = json_object_get_string(json_object_array_get_idx(flags, k));

		if (flag && strcmp(flag, "lower-bound") == 0)
			return true;
	}
	return false;
}

/* Of enum format_flags. A report from before upper bounds were told leaves it to its marks. */
static unsigned bounds(struct json_object *report, struct json_object *phase)
{
	if (json_true(phase, "lower_bound"))
		return FORMAT_LOWER_BOUND;
	if (json_at(phase, "upper_bound"))
		return json_true(phase, "upper_bound") ? FORMAT_UPPER_BOUND : 0;
	return is_flagged(report, json_text(phase, "from")) || is_flagged(report, json_text(phase, "to")) ? FORMAT_LOWER_BOUND : 0;
}

static void add_known(struct table *t, const struct term *term, unsigned bound, uint64_t at, uint64_t us, uint64_t whole,
		      unsigned width)
{
	_cleanup_free_ char *bar = xcalloc(width + 1, 4), *part = share(us, whole);
	char buf[FORMAT_MAX];

	format_usec(buf, us, (term->utf8 ? FORMAT_UTF8 : 0) | bound);
	table_add(t, STYLE_PLAIN, buf);
	table_add(t, STYLE_DIM, part);
	table_add(t, STYLE_LIVE, format_span(bar, at, at + us, whole, width, term->utf8));
}

/* Rows; *ret_sum is what the known phases sum to. */
static void add_rows(struct table *t, const struct term *term, struct json_object *report, uint64_t whole, unsigned width, uint64_t *ret_sum,
		     struct show_missing *missing)
{
	struct json_object *phases = json_at(report, "phases");

	*ret_sum = 0;
	for (size_t i = 0; i < json_length(phases); i++) {
		struct json_object *p = json_object_array_get_idx(phases, i);
		const char *name = json_text_or(p, "name", "?");
		_cleanup_free_ char *span = xprintf("%s-%s", json_text_or(p, "from", "?"), json_text_or(p, "to", "?"));
		uint64_t us;

		table_add(t, STYLE_BOLD, name);
		table_add(t, STYLE_DIM, words_phase(name));
		table_add(t, STYLE_DIM, span);
		if (json_count(p, "us", &us)) {
			add_known(t, term, bounds(report, p), *ret_sum, us, whole, width);
			*ret_sum += us;
		} else {
			table_add(t, STYLE_DIM, "-");
			table_add(t, STYLE_DIM, "");
			table_add(t, STYLE_DIM, "");
			show_missing_add(missing, name, json_text(p, "reason"));
		}
	}
}

static void add_total(struct table *t, bool known, uint64_t total)
{
	char buf[FORMAT_MAX];

	table_add(t, STYLE_BOLD, "total");
	table_add(t, STYLE_PLAIN, "");
	table_add(t, STYLE_PLAIN, "");
	table_add(t, STYLE_BOLD, known ? format_usec(buf, total, 0) : "-");
	table_add(t, STYLE_PLAIN, "");
	table_add(t, STYLE_DIM, known ? "" : "not known");
}

static unsigned bar_width(const struct term *term)
{
	/* The other columns take 49 at their widest with the gaps, and 71 with what each phase is: that gives way to the bar. */
	int room = term->columns - (term->columns < 71 + BAR_MIN * 2 ? 49 : 71);

	return room < BAR_MIN ? BAR_MIN : room > BAR_MAX ? BAR_MAX : (unsigned) room;
}

void show_phases(const struct term *term, struct json_object *report)
{
	struct show_missing missing = { 0 };
	struct table *t;
	uint64_t total = 0, sum;
	bool known = json_count(report, "total_us", &total);

	if (json_length(json_at(report, "phases")) == 0)
		return;
	t = table_new(columns, sizeof columns / sizeof columns[0]);
	add_rows(t, term, report, total, bar_width(term), &sum, &missing);
	add_total(t, known, total);
	fputc('\n', term->out);
	table_print(t, term, 2);
	table_free(t);
	show_missing_print(term, "No figure", &missing);
	if (known && sum != total)
		fprintf(term->out, "  %sThe phases sum to %" PRIu64 " us, not to the total of %" PRIu64 " us: that is a bug of rollbackd.%s\n",
			term_on(term, STYLE_BAD), sum, total, term_off(term, STYLE_BAD));
}
