/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "format.h"
#include "json.h"
#include "reports.h"
#include "table.h"
#include "text.h"
#include "when.h"
#include "words.h"

#define LIST_DEFAULT 50

static const struct option_spec options[] = {
	{ "domain", 'd', "NAME|UUID", "only this domain (exact name or UUID)", false },
	{ "since", 'S', "WHEN", "only what began at or after WHEN: 2026-11-30T18:00:00Z, \"2026-11-30 18:00\", 2h, \"1d 4h\", today, yesterday", false },
	{ "outcome", 'o', "OUTCOME", "only this outcome, may be repeated: completed, postcopy, postcopy-recovered, failed, cancelled, setup-failed, "
				     "completed-but-here, left-paused, postcopy-failed, guest-gone, lost; \"live\" for what is under way", true },
	{ "side", 's', "SIDE", "only this side, may be repeated: source, destination or unknown", true },
	{ "limit", 'n', "N", "at most N finished reports (50 unless given); 0 is all of them", false },
	{ 0 },
};

struct request {
	struct report_filter filter;
	const char **outcomes, **sides;
	uint64_t limit;
	bool live, finished;
};

/* All values of a repeatable option, each one of those known. */
static int collect(struct ctl *c, const struct args *a, const char *name, const char *const *known, const char ***ret_)
{
	const char *value;

	*ret_ = xcalloc(a->n_options + 1, sizeof **ret_);
	for (size_t i = 0; (value = args_nth(a, name, i)); i++) {
		if (!words_contain(known, value)) {
			_cleanup_free_ char *safe = text_safe(value), *all = xstrdup(known[0]);

			for (size_t k = 1; known[k]; k++) {
				char *longer = xprintf("%s, %s", all, known[k]);

				free(all);
				all = longer;
			}
			return ctl_fail(c, CTL_USAGE, "--%s: \"%s\" is not one of %s", name, safe, all);
		}
		(*ret_)[i] = value;
	}
	return CTL_OK;
}

/* "live" asks for what is under way; every other outcome is one that only finished reports have. */
static void split_live(struct request *q)
{
	size_t kept = 0, n = 0;

	for (; q->outcomes[n]; n++)
		if (strcmp(q->outcomes[n], "live") != 0)
			q->outcomes[kept++] = q->outcomes[n];
	q->outcomes[kept] = NULL;
	q->live = n == 0 || kept < n;
	q->finished = n == 0 || kept > 0;
}

static int read_request(struct ctl *c, const struct args *a, struct request *q)
{
	const char *since = args_value(a, "since"), *limit = args_value(a, "limit");
	int64_t at;
	int r = collect(c, a, "outcome", words_outcomes, &q->outcomes);

	if (r == CTL_OK)
		r = collect(c, a, "side", words_sides, &q->sides);
	if (r != CTL_OK)
		return r;
	split_live(q);
	q->filter = (struct report_filter) { .domain = args_value(a, "domain"), .outcomes = q->outcomes, .sides = q->sides };
	if (q->filter.domain && !*q->filter.domain)
		return ctl_fail(c, CTL_USAGE, "--domain: expected a domain's name or UUID");
	if (since) {
		_cleanup_free_ char *safe = text_safe(since);

		if (!when_parse(since, when_now(), &at))
			return ctl_fail(c, CTL_USAGE, "--since: \"%s\" is not a time: expected " WHEN_EXPECTED, safe);
		q->filter.since_usec = at > 0 ? (uint64_t) at : 0;
	}
	q->limit = LIST_DEFAULT;
	if (limit && !when_parse_number(limit, 0, UINT32_MAX, &q->limit)) {
		_cleanup_free_ char *safe = text_safe(limit);

		return ctl_fail(c, CTL_USAGE, "--limit: \"%s\" is not a whole number from 0 to %" PRIu32 " (0 is all)", safe, UINT32_MAX);
	}
	return CTL_OK;
}

static const struct column columns[] = {
	{ .head = "ID" },
	{ .head = "BEGAN" },
	{ .head = "DOMAIN", .flex = true },
	{ .head = "SIDE", .drop = 1 },
	{ .head = "WHAT", .drop = 3 },
	{ .head = "OUTCOME" },
	{ .head = "BLACKOUT", .right = true },
	{ .head = "TOTAL", .right = true, .drop = 2 },
};

static int by_id(const void *a, const void *b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Enough of the id to name the report among those shown: sorted, an id is nearest to its neighbour. */
static size_t id_length(const struct summaries *s)
{
	const char **ids = xcalloc(s->n, sizeof *ids);
	size_t len = 8;

	for (size_t i = 0; i < s->n; i++)
		ids[i] = s->v[i].id;
	qsort(ids, s->n, sizeof *ids, by_id);
	for (size_t i = 1; i < s->n; i++)
		while (len < 16 && strncmp(ids[i - 1], ids[i], len) == 0)
			len++;
	free(ids);
	return len;
}

static void add_row(struct table *t, const struct term *term, const struct summary *s, size_t id_len)
{
	unsigned utf8 = term->utf8 ? FORMAT_UTF8 : 0;
	char id[17], buf[FORMAT_MAX];

	strncpy(id, s->id, sizeof id - 1);
	id[id_len < 16 ? id_len : 16] = 0;
	table_add(t, STYLE_BOLD, id);
	table_add(t, STYLE_PLAIN, s->began_usec ? format_date(buf, (int64_t) s->began_usec) : "?");
	table_add(t, STYLE_PLAIN, s->name);
	table_add(t, STYLE_PLAIN, s->side);
	table_add(t, STYLE_DIM, s->operation);
	if (s->live) {
		_cleanup_free_ char *state = xprintf("%s %s", term->utf8 ? "\u25cf" : "*", s->state ? s->state : "live");

		table_add(t, STYLE_LIVE, state);
	} else {
		table_add(t, words_outcome_style(s->outcome), s->outcome);
	}
	if (s->blackout_known)
		table_add(t, STYLE_PLAIN, format_usec(buf, s->blackout_usec, utf8 | (s->blackout_lower_bound ? FORMAT_LOWER_BOUND : 0)));
	else
		table_add(t, STYLE_DIM, "-");
	table_add(t, s->total_known ? STYLE_PLAIN : STYLE_DIM, s->total_known ? format_usec(buf, s->total_usec, 0) : "-");
}

static bool is_filtered(const struct request *q)
{
	return q->filter.domain || q->filter.since_usec || *q->sides || !q->live || !q->finished || *q->outcomes;
}

static void print_table(const struct ctl *c, const struct request *q, const struct summaries *s, size_t live, uint64_t total)
{
	struct table *t = table_new(columns, sizeof columns / sizeof columns[0]);
	size_t id_len = id_length(s), finished = s->n - live;

	for (size_t i = 0; i < s->n; i++)
		add_row(t, &c->term, &s->v[i], id_len);
	if (s->n)
		table_print(t, &c->term, 0);
	table_free(t);
	if (!s->n)
		fprintf(c->term.out, "No migration on record%s.\n", is_filtered(q) ? " that matches" : "");
	else if (finished < total)
		fprintf(c->term.out, "The newest %zu of %llu finished reports; --limit=0 shows all.\n", finished, (unsigned long long) total);
}

static struct json_object *to_json(const struct summaries *s, size_t live, uint64_t total)
{
	struct json_object *o = ctl_document("list"), *l = json_object_new_array(), *f = json_object_new_array();

	for (size_t i = 0; i < s->n; i++)
		json_object_array_add(i < live ? l : f, summary_to_json(&s->v[i]));
	json_object_object_add(o, "live", l);
	json_object_object_add(o, "reports", f);
	json_add_count(o, "total", total);
	return o;
}

static int run_request(struct ctl *c, const struct request *q)
{
	_cleanup_summaries_ struct summaries s = { 0 };
	_cleanup_bus_ sd_bus *bus = NULL;
	uint64_t total = 0;
	size_t live;
	int r = bus_open(c, &bus);

	if (r == CTL_OK && q->live)
		r = reports_live(c, bus, &q->filter, &s);
	live = s.n;
	if (r == CTL_OK && q->finished)
		r = reports_list(c, bus, &q->filter, q->limit, &s, &total);
	if (r != CTL_OK)
		return r;
	if (c->json)
		ctl_print_json(c, to_json(&s, live, total), false);
	else
		print_table(c, q, &s, live, total);
	return CTL_OK;
}

static int run(struct ctl *c, const struct args *a)
{
	struct request q = { 0 };
	int r = read_request(c, a, &q);

	if (r == CTL_OK)
		r = run_request(c, &q);
	free(q.outcomes);
	free(q.sides);
	return r;
}

const struct verb verb_list = {
	.name = "list",
	.words = "",
	.summary = "Migrations under way and those on record, newest first",
	.help = "Live migrations come first, marked, with their state where the others have an outcome. BLACKOUT is how\n"
		"long the guest stood still here; a figure behind \">=\" is a lower bound. \"-\" means that there is none:\n"
		"`rollbackctl show ID` says why. ID may be cut to any prefix of 4 digits or more that is unique.\n",
	.examples = "  rollbackctl list --since=yesterday --outcome=failed --outcome=cancelled\n"
		    "  rollbackctl list --domain=guest1 --json | jq '.reports[].blackout_us'\n",
	.options = options,
	.run = run,
};
