/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Arguments: docs/report.schema.json and the folder of golden files. "--update" after them writes the golden files anew
 * (after a change of the format or of the version) instead of testing. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "core/phases.h"
#include "sample.h"
#include "schema.h"
#include "store/report-json.h"

#define PRETTY (JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE)

static const char *schema_path, *golden_dir;

static char *golden_text(const struct sample *s)
{
	struct report r;
	struct json_object *o;
	char *text;

	s->make(&r);
	o = report_to_json(&r);
	g_assert_nonnull(o);
	text = g_strconcat(json_object_to_json_string_ext(o, PRETTY), "\n", NULL);
	json_object_put(o);
	return text;
}

static char *golden_path(const struct sample *s)
{
	return g_strdup_printf("%s/%s.json", golden_dir, s->name);
}

static char *read_file(const char *path)
{
	GError *error = NULL;
	char *text;

	g_file_get_contents(path, &text, NULL, &error);
	g_assert_no_error(error);
	return text;
}

static void assert_fits(struct json_object *schema, struct json_object *o)
{
	char why[512] = "";

	if (!schema_check(schema, o, why, sizeof(why)))
		g_error("%s in %s", why, json_object_to_json_string(o));
}

static struct json_object *load_schema(void)
{
	struct json_object *schema = json_object_from_file(schema_path);

	g_assert_nonnull(schema);
	return schema;
}

static void test_golden(const void *data)
{
	const struct sample *s = data;
	char *path = golden_path(s), *want = read_file(path), *have = golden_text(s), error[256] = "", *compact;
	struct json_object *schema = load_schema(), *o = json_tokener_parse(want);
	struct report r;

	g_assert_cmpstr(have, ==, want);
	assert_fits(schema, o);
	g_assert_cmpint(report_from_text(want, strlen(want), &r, error, sizeof(error)), ==, 0);
	compact = report_to_text(&r);
	g_assert_cmpstr(compact, ==, json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
	free(compact);
	json_object_put(o);
	json_object_put(schema);
	g_free(have);
	g_free(want);
	g_free(path);
}

static void test_round_trip(void)
{
	struct json_object *schema = load_schema();

	for (unsigned seed = 0; seed < 500; seed++) {
		struct report in, out;
		char error[256] = "", *first, *second;
		struct json_object *o;

		memset(&out, 0xaa, sizeof(out));
		sample_random(&in, seed);
		g_assert_cmpuint(phases_clamp(&in), ==, 0);
		o = report_to_json(&in);
		assert_fits(schema, o);
		json_object_put(o);
		first = report_to_text(&in);
		if (report_from_text(first, strlen(first), &out, error, sizeof(error)) < 0)
			g_error("%s in %s", error, first);
		g_assert_cmpmem(&out, sizeof(out), &in, sizeof(in));
		second = report_to_text(&out);
		g_assert_cmpstr(first, ==, second);
		free(first);
		free(second);
	}
	json_object_put(schema);
}

/* What cannot be written as it is becomes something that reads back. */
static void test_unwritable(void)
{
	struct report r, back;
	char error[256] = "", *text;

	samples[0].make(&r);
	memcpy(r.name, "a\xff\xc0\xaf\xed\xa0\x80z", 9);
	r.marks[MARK_T0].at += 999;
	r.marks[MARK_T2].at = r.marks[MARK_T3].at + 5 * NSEC_PER_SEC;
	r.marks[MARK_T4] = (struct mark) { .at = NSEC_INVALID - 1, .resolution = NSEC_INVALID, .flags = UINT32_MAX };
	r.timeline[0].at = NSEC_INVALID - 1;
	r.timeline[0].stamp_usec = INT64_MIN;
	text = report_to_text(&r);
	if (report_from_text(text, strlen(text), &back, error, sizeof(error)) < 0)
		g_error("%s", error);
	g_assert_cmpstr(back.name, ==, "a??????z");
	g_assert_cmpuint(back.marks[MARK_T2].at, ==, back.marks[MARK_T3].at);
	g_assert_cmpuint(back.marks_clamped, ==, 1);
	g_assert_cmpint(back.timeline[0].stamp_usec, ==, -1);
	free(text);
}

/* Marks that no chain of phases_clamp() holds together. */
static void test_unusual_order(void)
{
	static const enum mark_id pairs[][2] = { { MARK_D1, MARK_TE }, { MARK_D2, MARK_TE }, { MARK_T1, MARK_TE }, { MARK_TE, MARK_T4 }, { MARK_TE, MARK_T5 } };

	for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
		struct report r, back;
		char error[256] = "", *text;

		sample_random(&r, i);
		r.outcome = OUTCOME_FAILED;
		r.side = pairs[i][0] >= MARK_D0 ? SIDE_DESTINATION : SIDE_SOURCE;
		for (int k = 0; k < MARK_MAX; k++)
			r.marks[k].at = NSEC_INVALID;
		r.marks[MARK_D0].at = r.marks[MARK_T0].at = r.marks[MARK_T3].at = NSEC_PER_SEC;
		r.marks[pairs[i][0]].at = 3 * NSEC_PER_SEC;
		r.marks[pairs[i][1]].at = 2 * NSEC_PER_SEC;
		text = report_to_text(&r);
		if (report_from_text(text, strlen(text), &back, error, sizeof(error)) < 0)
			g_error("%s in %s", error, text);
		free(text);
	}
}

static void test_dates(void)
{
	static const struct {
		uint64_t offset;
		const char *date;
	} cases[] = {
		{ 0, "\"began\":\"1970-01-01T00:02:03.456789Z\"" },
		{ UINT64_C(1796061699666667000), "\"began\":\"2026-11-30T18:03:43.123456Z\"" },
		{ UINT64_C(18446744073709550000) - UINT64_C(123456789000), "\"began\":\"2554-07-21T23:34:33.709550Z\"" },
		{ -UINT64_C(123456789000), "\"began\":\"1970-01-01T00:00:00.000000Z\"" },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct report r;
		char *text;

		samples[0].make(&r);
		r.real_offset = cases[i].offset;
		text = report_to_text(&r);
		g_assert_nonnull(strstr(text, cases[i].date));
		free(text);
	}
}

/* Each case replaces one piece of a good report's text. */
static const struct {
	const char *what, *with, *say;
	int r;
} bad[] = {
	{ "\"schema\":\"1.0\"", "\"schema\":\"2.0\"", "schema: found version 2.0, expected at most 1.x", -EPROTONOSUPPORT },
	{ "\"schema\":\"1.0\"", "\"schema\":\"99999.12\"", "schema: found version 99999.12", -EPROTONOSUPPORT },
	{ "\"schema\":\"1.0\"", "\"schema\":\"0.9\"", "schema: expected a version", -EINVAL },
	{ "\"schema\":\"1.0\"", "\"schema\":\"1.00\"", "schema: expected a version", -EINVAL },
	{ "\"schema\":\"1.0\"", "\"schema\":1.0", "schema: found a number that is no integer", -EINVAL },
	{ "\"schema\":\"1.0\",", "", "schema: missing", -EINVAL },
	{ "\"id\":\"6f1d0c9a4be2a713\"", "\"id\":\"6F1d0c9a4be2a713\"", "id: expected 16 lower-case hex digits", -EINVAL },
	{ "\"id\":\"6f1d0c9a4be2a713\"", "\"id\":\"../../etc/passwd\"", "id: expected", -EINVAL },
	{ "\"id\":\"6f1d0c9a4be2a713\"", "\"id\":null", "id: found null, expected a string", -EINVAL },
	{ "5f7c8b52-6f2e", "5f7c8b52x6f2e", "domain.uuid: expected a UUID", -EINVAL },
	{ "\"name\":\"guest1\"", "\"name\":\"gu\\u0000st\"", "domain.name: found \"gu\", expected a string", -EINVAL },
	{ "\"name\":\"guest1\"", "\"name\":\"gu\xff\"", "no JSON text: ", -EINVAL },
	{ "\"name\":\"guest1\"", "\"name\":[\"guest1\"]", "domain.name: found an array of 1", -EINVAL },
	{ "\"side\":\"source\"", "\"side\":\"left\"", "side: found \"left\", expected one of source, destination, unknown", -EINVAL },
	{ "\"side\":\"source\"", "\"side\":\"\\u001b[2J\"", "side: found \"?[2J\", expected", -EINVAL },
	{ "\"paused\":true", "\"paused\":1", "paused: found 1, expected true or false", -EINVAL },
	{ "\"page_size\":4096", "\"page_size\":0", "host.page_size: found 0, expected an integer from 1 to", -EINVAL },
	{ "\"page_size\":4096", "\"page_size\":-4096", "host.page_size: found -4096", -EINVAL },
	{ "\"page_size\":4096", "\"page_size\":9223372036854775808", "host.page_size: found 9223372036854775808", -EINVAL },
	{ "\"page_size\":4096", "\"page_size\":99999999999999999999999999", "host.page_size: found 18446744073709551615", -EINVAL },
	{ "\"page_size\":4096", "\"page_size\":4.096e3", "host.page_size: found a number that is no integer", -EINVAL },
	{ "\"page_size\":4096", "\"page_size\":NaN", "", -EINVAL },
	{ "\"qemu\":\"7.2.19\"", "\"qemu\":\"7.2\"", "software.qemu: expected a version", -EINVAL },
	{ "\"qemu\":\"7.2.19\"", "\"qemu\":\"07.2.19\"", "software.qemu: expected a version", -EINVAL },
	{ "\"qemu\":\"7.2.19\"", "\"qemu\":\"0.0.0\"", "software.qemu: expected a version", -EINVAL },
	{ "real_minus_monotonic_ns\":\"17", "real_minus_monotonic_ns\":\"-1", "clock.real_minus_monotonic_ns: expected", -EINVAL },
	{ "real_minus_monotonic_ns\":\"17", "real_minus_monotonic_ns\":\"9917", "clock.real_minus_monotonic_ns: expected", -EINVAL },
	{ "\"T0\":{\"monotonic_us\":123456789", "\"T0\":{\"monotonic_us\":9223372036854776", "marks.T0.monotonic_us: found", -EINVAL },
	{ "\"T0\":{\"monotonic_us\":123456789", "\"T0\":{\"monotonic_us\":223456789", "marks: found marks out of order", -EINVAL },
	{ "\"T0\":{\"monotonic_us\":123456789", "\"T0\":{\"monotonic_us\":null", "marks.T0.reason: missing", -EINVAL },
	{ "\"T0\":{", "\"T0\":null,\"T0x\":{", "marks.T0: found null, expected an object", -EINVAL },
	{ "\"source\":\"qmp\"", "\"source\":\"ntp\"", "marks.T0.source: found \"ntp\"", -EINVAL },
	{ "\"resolution_us\":1", "\"resolution_us\":3600000001", "marks.T0.resolution_us: found", -EINVAL },
	{ "\"resolution_us\":1", "\"resolution_us\":1,\"flags\":[\"x\"]", "marks.T0.flags: found \"x\"", -EINVAL },
	{ "\"pages\":[", "\"pages\":[1,", "backing.pages[0]: found 1, expected an object", -EINVAL },
	{ "\"pages\":[", "\"pages\":[1,2,3,4,5,6,7,", "backing.pages: found an array of 9, expected an array of at most 8", -EINVAL },
	{ "\"events\":5", "\"events\":4294967296", "counts.events: found 4294967296", -EINVAL },
	{ "\"notes\":[]", "\"notes\":[{\"code\":\"hello\"}]", "notes[0].code: found \"hello\"", -EINVAL },
	{ "\"notes\":[]", "\"notes\":{}", "notes: found an object", -EINVAL },
	{ "\"what\":\"STOP\"", "\"what\":\"1234567890123456789012345678901234567890\"", "timeline[2].what: found", -EINVAL },
	{ "\"notes\":[]", "\"notes\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]", "no JSON text: nesting too deep", -EINVAL },
	{ "\"timeline_dropped\":0}", "\"timeline_dropped\":0", "no JSON text: it ends in the middle", -EINVAL },
	{ "\"timeline_dropped\":0}", "\"timeline_dropped\":0}}", "no JSON text: ", -EINVAL },
	{ "{\"schema\"", "[{\"schema\"", "no JSON text: ", -EINVAL },
};

static char *replace(const char *text, const char *what, const char *with)
{
	const char *at = strstr(text, what);

	g_assert_nonnull(at);
	return g_strdup_printf("%.*s%s%s", (int) (at - text), text, with, at + strlen(what));
}

static char *good_text(void)
{
	struct report r;

	samples[0].make(&r);
	return report_to_text(&r);
}

static void assert_untouched(const struct report *r)
{
	for (size_t i = 0; i < sizeof(*r); i++)
		g_assert_cmphex(((const unsigned char *) r)[i], ==, 0xaa);
}

static void test_bad(void)
{
	char *good = good_text();

	for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
		char *text = replace(good, bad[i].what, bad[i].with), error[256] = "";
		struct report r;
		int k;

		memset(&r, 0xaa, sizeof(r));
		k = report_from_text(text, strlen(text), &r, error, sizeof(error));
		if (k != bad[i].r || !g_str_has_prefix(error, bad[i].say) || !*error)
			g_error("%s -> %s: got %d \"%s\", want %d \"%s\"", bad[i].what, bad[i].with, k, error, bad[i].r, bad[i].say);
		assert_untouched(&r);
		g_assert_cmpint(report_from_text(text, strlen(text), &r, NULL, 0), ==, bad[i].r);
		g_free(text);
	}
	free(good);
}

/* Cut anywhere, and with any one byte changed to a NUL. */
static void test_truncated(void)
{
	char *good = good_text(), error[256];
	size_t n = strlen(good);
	struct report r;

	for (size_t i = 0; i < n; i++) {
		char keep = good[i];

		g_assert_cmpint(report_from_text(good, i, &r, error, sizeof(error)), ==, -EINVAL);
		good[i] = '\0';
		g_assert_cmpint(report_from_text(good, n, &r, error, sizeof(error)), ==, -EINVAL);
		good[i] = keep;
	}
	free(good);
}

static void test_huge(void)
{
	static const char *const pieces[] = { "[", "{\"a\":", "[[],", "1,", "\"\",", "[{}," };
	char error[256];
	struct report r;

	for (size_t i = 0; i < G_N_ELEMENTS(pieces); i++) {
		GString *s = g_string_new("[");

		while (s->len + strlen(pieces[i]) < (1 << 20))
			g_string_append(s, pieces[i]);
		g_assert_cmpint(report_from_text(s->str, s->len, &r, error, sizeof(error)), ==, -EINVAL);
		g_string_set_size(s, (1 << 20) + 1);
		g_assert_cmpint(report_from_text(s->str, s->len, &r, error, sizeof(error)), ==, -EINVAL);
		g_assert_true(g_str_has_prefix(error, "found 1048577 bytes, expected at most 1048576"));
		g_string_free(s, TRUE);
	}
}

static void test_newer_minor(void)
{
	char *good = good_text(), *newer = replace(good, "\"schema\":\"1.0\"", "\"schema\":\"1.7\",\"new\":[{\"x\":1.5}]"), error[256] = "", *back;
	struct report r;

	g_assert_cmpint(report_from_text(newer, strlen(newer), &r, error, sizeof(error)), ==, 0);
	back = report_to_text(&r);
	g_assert_cmpstr(back, ==, good);
	free(back);
	g_free(newer);
	free(good);
}

struct words {
	const char *def;
	const char *(*to_string)(int);
	int max;
};

static int max_items(struct json_object *schema, const char *key)
{
	struct json_object *o = json_object_object_get(json_object_object_get(schema, "properties"), key);

	return json_object_get_int(json_object_object_get(o, "maxItems"));
}

/* The schema lists exactly the words of the code, in the same order, and bounds lists as the code does. */
static void test_words(void)
{
	static const struct words all[] = {
		{ "side", side_to_string, SIDE_MAX }, { "operation", operation_to_string, OP_MAX },
		{ "driver", driver_to_string, DRIVER_MAX }, { "state", mig_state_to_string, MIG_STATE_MAX },
		{ "outcome", outcome_to_string, OUTCOME_MAX }, { "cause", cause_to_string, CAUSE_MAX },
		{ "stamp_source", stamp_source_to_string, STAMP_MAX }, { "missing", missing_to_string, MISSING_MAX },
		{ "mark_name", mark_to_string, MARK_MAX }, { "phase", phase_to_string, PHASE_MAX },
		{ "page_kind", page_kind_to_string, PAGE_KIND_MAX }, { "note", note_to_string, NOTE_MAX },
	};
	struct json_object *schema = load_schema(), *defs = json_object_object_get(schema, "$defs");

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++) {
		struct json_object *list = json_object_object_get(json_object_object_get(defs, all[i].def), "enum");

		g_assert_cmpuint(json_object_array_length(list), ==, (size_t) all[i].max);
		for (int k = 0; k < all[i].max; k++)
			g_assert_cmpstr(json_object_get_string(json_object_array_get_idx(list, (size_t) k)), ==, all[i].to_string(k));
	}
	g_assert_cmpint(max_items(schema, "phases"), ==, PHASE_MAX);
	g_assert_cmpint(max_items(schema, "notes"), ==, NOTE_MAX);
	g_assert_cmpint(max_items(schema, "timeline"), ==, REPORT_TIMELINE_MAX);
	json_object_put(schema);
}

/* The checker itself must be able to say no. */
static void test_schema_bites(void)
{
	static const char *const changes[][2] = {
		{ "\"paused\":true", "\"paused\":\"yes\"" }, { "\"paused\":true,", "" }, { "\"paused\":true", "\"paused\":true,\"x\":1" },
		{ "\"events\":5", "\"events\":-1" }, { "\"side\":\"source\"", "\"side\":\"left\"" },
		{ "\"resolution_us\":1", "\"resolution_us\":1.5" }, { "\"began\":\"2026", "\"began\":\"26" },
		{ "\"notes\":[]", "\"notes\":[1]" }, { "\"blackout\":{", "\"blackout\":{\"x\":1," },
	};
	struct json_object *schema = load_schema();
	char *good = good_text(), why[512];

	for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
		char *text = replace(good, changes[i][0], changes[i][1]);
		struct json_object *o = json_tokener_parse(text);

		g_assert_nonnull(o);
		g_assert_false(schema_check(schema, o, why, sizeof(why)));
		json_object_put(o);
		g_free(text);
	}
	free(good);
	json_object_put(schema);
}

/* Every key of the schema has a sentence for people. */
static void assert_described(struct json_object *schema, const char *path)
{
	struct json_object *sub;

	if (!json_object_is_type(schema, json_type_object))
		return;
	if (json_object_object_get_ex(schema, "properties", &sub)) {
		json_object_object_foreach(sub, key, rule) {
			struct json_object *text = NULL;

			if (!json_object_object_get_ex(rule, "description", &text) || json_object_get_string_len(text) < 4)
				g_error("%s.%s has no description", path, key);
			assert_described(rule, key);
		}
	}
	if (json_object_object_get_ex(schema, "items", &sub))
		assert_described(sub, path);
	if (json_object_object_get_ex(schema, "anyOf", &sub))
		for (size_t i = 0; i < json_object_array_length(sub); i++)
			assert_described(json_object_array_get_idx(sub, i), path);
	if (json_object_object_get_ex(schema, "$defs", &sub)) {
		json_object_object_foreach(sub, name, rule)
			assert_described(rule, name);
	}
}

static void test_described(void)
{
	struct json_object *schema = load_schema();

	assert_described(schema, "");
	json_object_put(schema);
}

static int update(void)
{
	for (unsigned i = 0; i < samples_n; i++) {
		char *path = golden_path(&samples[i]), *text = golden_text(&samples[i]);

		if (!g_file_set_contents(path, text, -1, NULL))
			return 1;
		g_free(text);
		g_free(path);
	}
	return 0;
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (argc < 3)
		return 2;
	schema_path = argv[1];
	golden_dir = argv[2];
	if (argc > 3 && strcmp(argv[3], "--update") == 0)
		return update();
	for (unsigned i = 0; i < samples_n; i++) {
		char *name = g_strdup_printf("/report-json/golden/%s", samples[i].name);

		g_test_add_data_func(name, &samples[i], test_golden);
		g_free(name);
	}
	g_test_add_func("/report-json/round-trip", test_round_trip);
	g_test_add_func("/report-json/unwritable", test_unwritable);
	g_test_add_func("/report-json/unusual-order", test_unusual_order);
	g_test_add_func("/report-json/dates", test_dates);
	g_test_add_func("/report-json/bad", test_bad);
	g_test_add_func("/report-json/truncated", test_truncated);
	g_test_add_func("/report-json/huge", test_huge);
	g_test_add_func("/report-json/newer-minor", test_newer_minor);
	g_test_add_func("/report-json/schema/words", test_words);
	g_test_add_func("/report-json/schema/says-no", test_schema_bites);
	g_test_add_func("/report-json/schema/described", test_described);
	return g_test_run();
}
