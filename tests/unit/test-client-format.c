/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>

#include "format.h"
#include "test-client-check.h"

static char buf[4096];

static void test_durations_have_three_digits(void)
{
	static const struct {
		uint64_t usec;
		const char *text;
	} cases[] = {
		{ 0, "0 us" }, { 57, "57 us" }, { 999, "999 us" }, { 1000, "1.00 ms" }, { 1534, "1.53 ms" }, { 9999, "10.0 ms" },
		{ 99949, "99.9 ms" }, { 99950, "100 ms" }, { 999499, "999 ms" }, { 999500, "1.00 s" }, { 1530000, "1.53 s" }, { 15300000, "15.3 s" },
		{ 59949999, "59.9 s" }, { 59950000, "1 min 00 s" }, { 125000000, "2 min 05 s" }, { 3599499999, "59 min 59 s" },
		{ 3599500000, "1 h 00 min" }, { 11220000000, "3 h 07 min" }, { 86400000000, "1 d 00 h" }, { 352800000000, "4 d 02 h" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK_TEXT(format_usec(buf, cases[i].usec, 0), cases[i].text);
	CHECK(strlen(format_usec(buf, UINT64_MAX, FORMAT_LOWER_BOUND | FORMAT_UTF8)) < FORMAT_MAX);
}

static void test_lower_bounds_are_never_rounded_up(void)
{
	CHECK_TEXT(format_usec(buf, 1539999, FORMAT_LOWER_BOUND), ">= 1.53 s");
	CHECK_TEXT(format_usec(buf, 999999, FORMAT_LOWER_BOUND | FORMAT_UTF8), "\u2265 999 ms");
	CHECK_TEXT(format_usec(buf, 59999999, FORMAT_LOWER_BOUND), ">= 59.9 s");
	CHECK_TEXT(format_usec(buf, 1530001, FORMAT_UPPER_BOUND), "<= 1.54 s");
	CHECK_TEXT(format_usec(buf, 1530000, FORMAT_UPPER_BOUND | FORMAT_UTF8), "\u2264 1.53 s");
	CHECK_TEXT(format_usec(buf, 999001, FORMAT_UPPER_BOUND), "<= 1.00 s");
	CHECK_TEXT(format_usec(buf, 59900000, FORMAT_UPPER_BOUND), "<= 59.9 s");
	CHECK_TEXT(format_usec(buf, 59900001, FORMAT_UPPER_BOUND), "<= 1 min 00 s");
	CHECK_TEXT(format_usec(buf, 60000001, FORMAT_UPPER_BOUND), "<= 1 min 01 s");
	CHECK_TEXT(format_usec(buf, 3600000001, FORMAT_UPPER_BOUND), "<= 1 h 01 min");
	CHECK(strlen(format_usec(buf, UINT64_MAX, FORMAT_UPPER_BOUND | FORMAT_UTF8)) < FORMAT_MAX);
	CHECK_TEXT(format_usec(buf, 119999999, FORMAT_LOWER_BOUND), ">= 1 min 59 s");
	CHECK_TEXT(format_usec(buf, 86399999999, FORMAT_LOWER_BOUND), ">= 23 h 59 min");
}

static void test_sizes_are_exact_where_they_can_be(void)
{
	CHECK_TEXT(format_bytes(buf, 0), "0 B");
	CHECK_TEXT(format_bytes(buf, 1023), "1023 B");
	CHECK_TEXT(format_bytes(buf, 4096), "4 KiB");
	CHECK_TEXT(format_bytes(buf, 16384), "16 KiB");
	CHECK_TEXT(format_bytes(buf, 65536), "64 KiB");
	CHECK_TEXT(format_bytes(buf, 2 << 20), "2 MiB");
	CHECK_TEXT(format_bytes(buf, 512 << 20), "512 MiB");
	CHECK_TEXT(format_bytes(buf, UINT64_C(16) << 30), "16 GiB");
	CHECK_TEXT(format_bytes(buf, UINT64_C(3) << 29), "1.50 GiB");
	CHECK_TEXT(format_bytes(buf, 1000 * 1024 + 1), "1000 KiB");
	CHECK_TEXT(format_bytes(buf, UINT64_MAX), "16.0 EiB");
}

static void test_spans_lie_where_they_are(void)
{
	CHECK_TEXT(format_span(buf, 0, 5, 10, 10, false), "#####");
	CHECK_TEXT(format_span(buf, 5, 10, 10, 10, false), "     #####");
	CHECK_TEXT(format_span(buf, 0, 10, 10, 4, true), "\u2588\u2588\u2588\u2588");
	CHECK_TEXT(format_span(buf, 0, 0, 0, 10, false), "");
	CHECK_TEXT(format_span(buf, 7, 3, 10, 10, false), "");
	CHECK_TEXT(format_span(buf, 0, 4, UINT64_MAX, 4, false), "|");
	CHECK_TEXT(format_span(buf, UINT64_MAX / 2, UINT64_MAX, UINT64_MAX, 4, false), "  ##");
}

static void test_a_short_span_is_no_full_cell(void)
{
	CHECK_TEXT(format_span(buf, 0, 1, 1000, 10, false), "|");
	CHECK_TEXT(format_span(buf, 999, 1000, 1000, 10, false), "         |"); /* within the bar even at its very end */
	CHECK_TEXT(format_span(buf, 500, 501, 1000, 10, true), "     \u258f");
}

static void test_neighbours_leave_no_gap(void)
{
	for (unsigned at = 0; at <= 1000; at++) {
		size_t left = strlen(format_span(buf, 0, at, 1000, 20, false));
		size_t right = strspn(format_span(buf, at, 1000, 1000, 20, false), " ");

		CHECK(left == right || (right == 0 && strcmp(buf, "####################") == 0) || strchr(buf, '|'));
	}
}

static void test_bars_fill(void)
{
	CHECK_TEXT(format_bar(buf, 0, 100, 10, false), "[..........]");
	CHECK_TEXT(format_bar(buf, 50, 100, 10, false), "[#####.....]");
	CHECK_TEXT(format_bar(buf, 200, 100, 10, false), "[##########]");
	CHECK_TEXT(format_bar(buf, 0, 0, 4, false), "[....]");
	CHECK_TEXT(format_bar(buf, 1, 16, 2, true), "\u258f ");
	CHECK_TEXT(format_bar(buf, 15, 16, 2, true), "\u2588\u2589");
	CHECK_TEXT(format_bar(buf, 16, 16, 2, true), "\u2588\u2588");
}

static void test_dates_are_local_and_say_so(void)
{
	setenv("TZ", "UTC", 1);
	CHECK_TEXT(format_date_exact(buf, INT64_C(1796061823123456)), "2026-11-30 18:03:43.123456 UTC");
	CHECK_TEXT(format_date(buf, INT64_C(1796061823123456)), "2026-11-30 18:03");
	CHECK_TEXT(format_date_exact(buf, -1), "1969-12-31 23:59:59.999999 UTC");
	CHECK(strlen(format_date_exact(buf, INT64_MAX)) < FORMAT_MAX);
	CHECK(strlen(format_date_exact(buf, INT64_MIN)) < FORMAT_MAX);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "durations have three digits and a unit", test_durations_have_three_digits },
		{ "lower bounds are never rounded up", test_lower_bounds_are_never_rounded_up },
		{ "sizes are exact where they can be", test_sizes_are_exact_where_they_can_be },
		{ "phases lie where they are in time", test_spans_lie_where_they_are },
		{ "a short phase is drawn as a stroke", test_a_short_span_is_no_full_cell },
		{ "neighbouring phases leave no gap", test_neighbours_leave_no_gap },
		{ "progress bars fill", test_bars_fill },
		{ "dates are local and say their zone", test_dates_are_local_and_say_so },
	};

	return CHECK_MAIN(tests);
}
