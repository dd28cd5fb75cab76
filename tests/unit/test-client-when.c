/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <time.h>

#include "test-client-check.h"
#include "when.h"

#define NOW INT64_C(1796061823123456) /* 2026-11-30 18:03:43.123456 UTC */
#define SEC INT64_C(1000000)

static int64_t parsed(const char *word)
{
	int64_t at = -1;

	return when_parse(word, NOW, &at) ? at : -1;
}

static void test_rfc3339(void)
{
	CHECK(parsed("2026-11-30T18:03:43Z") == NOW - 123456);
	CHECK(parsed("2026-11-30T18:03:43.123456Z") == NOW);
	CHECK(parsed("2026-11-30t18:03:43.123456789z") == NOW);
	CHECK(parsed("2026-11-30T19:03:43+01:00") == NOW - 123456);
	CHECK(parsed("2026-11-30T13:33:43-04:30") == NOW - 123456);
	CHECK(parsed("2026-11-30 18:03Z") == NOW - 43 * SEC - 123456);
	CHECK(parsed("2024-02-29T00:00:00Z") == INT64_C(1709164800) * SEC);
}

static void test_local_dates(void)
{
	setenv("TZ", "Europe/Berlin", 1);
	tzset();
	CHECK(parsed("2026-11-30 19:03:43") == NOW - 123456 || parsed("2026-11-30 18:03:43") == NOW - 123456 /* no tzdata */);
	setenv("TZ", "XYZ-5", 1);
	tzset();
	CHECK(parsed("2026-11-30 23:03:43") == NOW - 123456);
	CHECK(parsed("2026-11-30") == NOW - 123456 - (23 * 3600 + 3 * 60 + 43) * SEC);
	CHECK(parsed("today") == parsed("2026-11-30"));
	CHECK(parsed("Yesterday") == parsed("2026-11-29"));
	setenv("TZ", "UTC", 1);
	tzset();
}

static void test_spans_back_from_now(void)
{
	CHECK(parsed("now") == NOW);
	CHECK(parsed("90s") == NOW - 90 * SEC);
	CHECK(parsed("2h") == NOW - 7200 * SEC);
	CHECK(parsed("2 hours ago") == NOW - 7200 * SEC);
	CHECK(parsed("1d 4h") == NOW - 28 * 3600 * SEC);
	CHECK(parsed("1d4h") == NOW - 28 * 3600 * SEC);
	CHECK(parsed("30 min") == NOW - 1800 * SEC);
	CHECK(parsed("1 week") == NOW - 7 * 86400 * SEC);
	CHECK(parsed("100w") == NOW - 700 * 86400 * SEC);
	CHECK(parsed("99 weeks 3 days") > 0);
}

static void test_nonsense_is_refused(void)
{
	static const char *const words[] = {
		"", " ", "2", "h", "2x", "2h x", "ago", "-2h", "2 h ago ago", "soon", "2026", "2026-13-01", "2026-00-01", "2026-02-29", "2026-02-30",
		"2026-04-31", "2026-11-31", "2026-11-30T", "2026-11-30T24:00:00Z", "2026-11-30T18:60:00Z", "2026-11-30T18:03:43.Z",
		"2026-11-30T18:03:43+1", "2026-11-30T18:03:43+24:00", "2026-11-30T18:03:43Zx", "1969-12-31", "99999999999999999999h",
		"18446744073709551615w", "2h\n", "0x10s", "2026-11-30T18:03:43 UTC", "12345-01-01",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (parsed(words[i]) != -1) {
			printf("# \"%s\" was taken\n", words[i]);
			CHECK(!"nonsense was taken");
		}
}

static void test_reports_have_a_zone(void)
{
	int64_t at = 5;

	CHECK(!when_parse_rfc3339("2026-11-30T18:03:43", &at) && at == 5);
	CHECK(!when_parse_rfc3339("2h", &at));
	CHECK(when_parse_rfc3339("2026-11-30T18:03:43.123456Z", &at) && at == NOW);
}

static void test_numbers(void)
{
	uint64_t n = 7;

	CHECK(when_parse_number("0", 0, 10, &n) && n == 0);
	CHECK(when_parse_number("10", 0, 10, &n) && n == 10);
	CHECK(!when_parse_number("11", 0, 10, &n) && n == 10);
	CHECK(!when_parse_number("0", 1, 10, &n));
	CHECK(!when_parse_number("", 0, 10, &n) && !when_parse_number("-1", 0, 10, &n) && !when_parse_number("+1", 0, 10, &n));
	CHECK(!when_parse_number("1x", 0, 10, &n) && !when_parse_number(" 1", 0, 10, &n) && !when_parse_number("99999999999999999999", 0, UINT64_MAX, &n));
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "RFC 3339, with zone and fraction", test_rfc3339 },
		{ "dates without a zone are local", test_local_dates },
		{ "spans count back from now", test_spans_back_from_now },
		{ "nonsense is refused", test_nonsense_is_refused },
		{ "dates in reports need a zone", test_reports_have_a_zone },
		{ "numbers within bounds", test_numbers },
	};

	setenv("TZ", "UTC", 1);
	tzset();
	return CHECK_MAIN(tests);
}
