/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "reports.h"
#include "show.h"
#include "text.h"
#include "when.h"

static const struct option_spec options[] = {
	{ "timeline", 't', NULL, "also every event in order of arrival", false },
	{ "one-side", '1', NULL, "only the first of the two reports when both sides were watched", false },
	{ 0 },
};

enum kind { KIND_ANY, KIND_ID, KIND_UUID, KIND_NAME };

static enum kind split_prefix(const char **word)
{
	static const struct {
		const char *prefix;
		enum kind kind;
	} prefixes[] = { { "id:", KIND_ID }, { "uuid:", KIND_UUID }, { "name:", KIND_NAME } };

	for (size_t i = 0; i < 3; i++) {
		size_t n = strlen(prefixes[i].prefix);

		if (strncmp(*word, prefixes[i].prefix, n) == 0) {
			*word += n;
			return prefixes[i].kind;
		}
	}
	return KIND_ANY;
}

static bool is_hex(const char *s, size_t min, size_t max)
{
	size_t n = strspn(s, "0123456789abcdef");

	return !s[n] && n >= min && n <= max;
}

static bool is_uuid(const char *s)
{
	for (size_t i = 0; i < 36; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s[i] != '-' : !isxdigit((unsigned char) s[i]))
			return false;
	}
	return !s[36];
}

static char *lower(const char *s)
{
	char *l = xstrdup(s);

	for (char *p = l; *p; p++)
		*p = (char) tolower((unsigned char) *p);
	return l;
}

/* The domain's newest report: what is under way, else the newest on record. It may be either side of the newest migration.
 * *ret_id is NULL when there is none. */
static int newest_of(struct ctl *c, sd_bus *bus, const char *domain, char **ret_id)
{
	struct report_filter f = { .domain = domain };
	_cleanup_summaries_ struct summaries s = { 0 };
	uint64_t total;
	int r = reports_live(c, bus, &f, &s);

	if (r == CTL_OK && s.n == 0)
		r = reports_list(c, bus, &f, 1, &s, &total);
	if (r == CTL_OK)
		*ret_id = s.n ? xstrdup(s.v[0].id) : NULL;
	return r;
}

static int no_such(struct ctl *c, const char *what, const char *word)
{
	_cleanup_free_ char *safe = text_safe(word);

	return ctl_fail(c, CTL_NO_SUCH, "%s \"%s\": `rollbackctl list` shows what there is", what, safe);
}

static int resolve_domain(struct ctl *c, sd_bus *bus, enum kind kind, const char *word, char **ret_id)
{
	_cleanup_free_ char *uuid = is_uuid(word) && kind != KIND_NAME ? lower(word) : NULL;
	int r;

	if (kind == KIND_UUID && !uuid) {
		_cleanup_free_ char *safe = text_safe(word);

		return ctl_fail(c, CTL_USAGE, "\"%s\" is not a UUID: expected 32 hex digits in groups of 8-4-4-4-12", safe);
	}
	if (!*word)
		return ctl_fail(c, CTL_USAGE, "name: needs a domain's name behind it");
	r = newest_of(c, bus, uuid ? uuid : word, ret_id);
	if (r == CTL_OK && !*ret_id)
		return no_such(c, uuid ? "no report about a domain with UUID" : "no report about a domain named", word);
	return r;
}

/* Could be an id and a name at once: both are looked for, and finding both is ambiguous. */
static int resolve_either(struct ctl *c, sd_bus *bus, const char *word, struct json_object **ret_, bool *ret_by_id)
{
	_cleanup_free_ char *newest = NULL, *safe = text_safe(word);
	int by_id = report_get(c, bus, word, ret_), r;

	if (by_id != CTL_OK && by_id != CTL_NO_SUCH)
		return by_id;
	free(c->failure);
	c->failure = NULL;
	r = newest_of(c, bus, word, &newest);
	if (r != CTL_OK)
		return r;
	if (by_id == CTL_OK && newest)
		return ctl_fail(c, CTL_USAGE, "\"%s\" is both a report and a domain: say id:%s or name:%s", safe, safe, safe);
	*ret_by_id = by_id == CTL_OK;
	if (by_id == CTL_OK)
		return CTL_OK;
	return newest ? report_get(c, bus, newest, ret_) : no_such(c, "no report and no domain", word);
}

/* *ret_by_id: that very report is meant, not a migration of which it is one side. */
static int resolve(struct ctl *c, sd_bus *bus, const char *word, struct json_object **ret_, bool *ret_by_id)
{
	_cleanup_free_ char *id = NULL;
	enum kind kind = word ? split_prefix(&word) : KIND_ANY;
	int r;

	if (kind == KIND_ID && !is_hex(word, 4, 16)) {
		_cleanup_free_ char *safe = text_safe(word);

		return ctl_fail(c, CTL_USAGE, "\"%s\" is not a report's id: expected 4 to 16 digits 0-9a-f", safe);
	}
	*ret_by_id = kind == KIND_ID;
	if (kind == KIND_ID)
		return report_get(c, bus, word, ret_);
	if (word && kind == KIND_ANY && is_hex(word, 4, 16))
		return resolve_either(c, bus, word, ret_, ret_by_id);
	r = word ? resolve_domain(c, bus, kind, word, &id) : newest_of(c, bus, NULL, &id);
	if (r == CTL_OK && !id)
		return ctl_fail(c, CTL_NO_SUCH, "no migration on record");
	return r == CTL_OK ? report_get(c, bus, id, ret_) : r;
}

/* When a report ran, us since the epoch; an end that is not known is the begin (or now, while it runs). */
static bool interval(struct json_object *report, int64_t *ret_from, int64_t *ret_to)
{
	const char *began = json_text(report, "began"), *ended = json_text(report, "ended");

	if (!began || !when_parse_rfc3339(began, ret_from))
		return false;
	if (!ended || !when_parse_rfc3339(ended, ret_to))
		*ret_to = strcmp(json_text_or(report, "outcome", "none"), "none") == 0 ? when_now() : *ret_from;
	return true;
}

static int64_t overlap(struct json_object *a, struct json_object *b)
{
	int64_t a_from, a_to, b_from, b_to, from, to;

	if (!interval(a, &a_from, &a_to) || !interval(b, &b_from, &b_to))
		return -1;
	from = a_from > b_from ? a_from : b_from;
	to = a_to < b_to ? a_to : b_to;
	return to - from;
}

#define CANDIDATES 64 /* of one domain and side within the time of one migration: far more than can be */

/* The other side's report as far as this daemon has it: same domain, other side, and they overlap most. NULL when none. */
static int find_other(struct ctl *c, sd_bus *bus, struct json_object *report, struct json_object **ret_)
{
	const char *side = json_text_or(report, "side", "");
	const char *sides[] = { strcmp(side, "source") == 0 ? "destination" : "source", NULL };
	struct report_filter f = { .domain = json_text(json_at(report, "domain"), "uuid"), .sides = sides };
	_cleanup_summaries_ struct summaries s = { 0 };
	int64_t from, to, best = -1;
	uint64_t total;
	int r;

	*ret_ = NULL;
	if (!f.domain || strcmp(json_text_or(report, "operation", ""), "migration") != 0 ||
	    (strcmp(side, "source") != 0 && strcmp(side, "destination") != 0) || !interval(report, &from, &to))
		return CTL_OK;
	f.until_usec = (uint64_t) (to > 0 ? to : 0);
	r = reports_live(c, bus, &f, &s);
	if (r == CTL_OK)
		r = reports_list(c, bus, &f, CANDIDATES, &s, &total);
	for (size_t i = 0; r == CTL_OK && i < s.n; i++) {
		struct json_object *other = NULL;
		int64_t common;

		if (s.v[i].total_known && (int64_t) (s.v[i].began_usec + s.v[i].total_usec) < from - 60000000)
			continue; /* ended long before: not worth a question (its total leaves out what came after the last phase) */
		r = report_get(c, bus, s.v[i].id, &other);
		if (r != CTL_OK)
			break;
		common = overlap(report, other);
		if (common > best) {
			best = common;
			json_object_put(*ret_);
			*ret_ = json_object_get(other);
		}
		json_object_put(other);
	}
	return r;
}

static void print_report(const struct ctl *c, struct json_object *report, bool timeline)
{
	show_header(&c->term, report);
	show_phases(&c->term, report);
	show_marks(&c->term, report);
	show_notes(&c->term, report);
	show_counts(&c->term, report);
	if (timeline)
		show_timeline(&c->term, report);
}

static void print(struct ctl *c, struct json_object *report, struct json_object *other, bool timeline)
{
	struct json_object *o;

	if (!c->json) {
		print_report(c, report, timeline);
		if (other) {
			fputs("\nThe other side of it, seen by this rollbackd too:\n\n", c->term.out);
			print_report(c, other, timeline);
		}
		return;
	}
	o = ctl_document("show");
	json_object_object_add(o, "report", json_object_get(report));
	json_object_object_add(o, "other_side", json_object_get(other));
	ctl_print_json(c, o, false);
}

static void swap(struct json_object **a, struct json_object **b)
{
	struct json_object *was = *a;

	*a = *b;
	*b = was;
}

static int run(struct ctl *c, const struct args *a)
{
	_cleanup_json_ struct json_object *report = NULL, *other = NULL;
	_cleanup_bus_ sd_bus *bus = NULL;
	bool by_id = false, one_side = args_has(a, "one-side");
	int r = bus_open(c, &bus);

	if (r == CTL_OK)
		r = resolve(c, bus, a->n_words ? a->words[0] : NULL, &report, &by_id);
	if (r == CTL_OK && !(by_id && one_side))
		r = find_other(c, bus, report, &other);
	if (r != CTL_OK)
		return r;
	/* A migration is told from its source on; a report asked for by its id comes first whatever its side. */
	if (!by_id && other && strcmp(json_text_or(other, "side", ""), "source") == 0)
		swap(&report, &other);
	print(c, report, one_side ? NULL : other, args_has(a, "timeline"));
	return CTL_OK;
}

const struct verb verb_show = {
	.name = "show",
	.words = "[ID|DOMAIN]",
	.max_words = 1,
	.summary = "One migration: its phases, marks, backing and what was lost",
	.help = "DOMAIN (a name or UUID) means its newest migration; nothing means the newest of all. id:, uuid: and name:\n"
		"in front say exactly what is meant. When this rollbackd watched both sides of the migration, both reports\n"
		"are shown: the source's first, or the one that ID names.\n"
		"\n"
		"Phases are drawn where they lie in time; a thin stroke is shorter than one cell. A figure behind \">=\" is a\n"
		"lower bound, behind \"<=\" an upper bound; what has no figure says why.\n",
	.examples = "  rollbackctl show guest1\n"
		    "  rollbackctl show id:6f1d0c9a --timeline\n"
		    "  rollbackctl show guest1 --json | jq '.report.phases[] | {name, us}'\n",
	.options = options,
	.run = run,
};
