/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>
#include <stdint.h>

#include "test-client-check.h"
#include "text.h"

static void test_plain_text_stays(void)
{
	CHECK_TEXT_FREE(text_safe("guest1"), "guest1");
	CHECK_TEXT_FREE(text_safe(""), "");
	CHECK_TEXT_FREE(text_safe("a\\b"), "a\\b");
	CHECK_TEXT_FREE(text_safe("K\u00f6ln \u5bb6 \U0001f427"), "K\u00f6ln \u5bb6 \U0001f427");
}

static void test_control_characters_are_spelled_out(void)
{
	CHECK_TEXT_FREE(text_safe("a\033[31mb"), "a\\x1b[31mb");
	CHECK_TEXT_FREE(text_safe("a\nb\tc\rd\177"), "a\\x0ab\\x09c\\x0dd\\x7f");
	CHECK_TEXT_FREE(text_safe("\xc2\x9b" "2J"), "\\u{9b}2J"); /* C1: the one-character form of ESC [ */
	CHECK_TEXT_FREE(text_safe("\xc2\x85"), "\\u{85}");
}

static void test_reordering_and_hiding_is_spelled_out(void)
{
	CHECK_TEXT_FREE(text_safe("x\u202egnp.exe"), "x\\u{202e}gnp.exe");
	CHECK_TEXT_FREE(text_safe("a\u200bb\u2066c\u2028d\ufeff"), "a\\u{200b}b\\u{2066}c\\u{2028}d\\u{feff}");
	CHECK_TEXT_FREE(text_safe("a\U000e0041"), "a\\u{e0041}");
}

static void test_bytes_that_are_no_utf8(void)
{
	CHECK_TEXT_FREE(text_safe("a\xff\xc3"), "a\\xff\\xc3");
	CHECK_TEXT_FREE(text_safe("\xc0\xaf"), "\\xc0\\xaf");             /* overlong '/' */
	CHECK_TEXT_FREE(text_safe("\xed\xa0\x80"), "\\xed\\xa0\\x80");     /* surrogate */
	CHECK_TEXT_FREE(text_safe("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80"); /* beyond U+10FFFF */
	CHECK_TEXT_FREE(text_safe("\xe0\x80\x80"), "\\xe0\\x80\\x80");
}

static void test_every_byte_pair_is_safe(void)
{
	for (unsigned a = 1; a < 256; a++)
		for (unsigned b = 0; b < 256; b++) {
			char in[] = { (char) a, (char) b, 0 }, *safe = text_safe(in);

			for (const unsigned char *p = (unsigned char *) safe; *p; p++)
				if (*p < 0x20 || *p == 0x7f) {
					CHECK(!"a control character came through");
					break;
				}
			free(safe);
		}
}

static void test_width_counts_columns(void)
{
	CHECK(text_width("abc") == 3);
	CHECK(text_width("\u2265 1") == 3);
	CHECK(text_width("\u5bb6") == 2);
	CHECK(text_width("e\u0301") == 1);
	CHECK(text_width("") == 0);
}

static void test_fit_cuts_at_columns(void)
{
	CHECK_TEXT_FREE(text_fit("abcdef", 6, true), "abcdef");
	CHECK_TEXT_FREE(text_fit("abcdefg", 6, true), "abcde\u2026");
	CHECK_TEXT_FREE(text_fit("abcdefg", 6, false), "abcde~");
	CHECK_TEXT_FREE(text_fit("\u5bb6\u5bb6\u5bb6", 4, true), "\u5bb6\u2026"); /* half a wide character is not shown */
	CHECK_TEXT_FREE(text_fit("abc", 1, true), "\u2026");
	CHECK_TEXT_FREE(text_fit("abc", 0, true), "");
}

static void test_json_stays_json(void)
{
	CHECK_TEXT_FREE(text_safe_json("{\"a\":\"b\"}\n"), "{\"a\":\"b\"}\n");
	CHECK_TEXT_FREE(text_safe_json("\"\xc2\x9b\177\u202e\""), "\"\\u009b\\u007f\\u202e\"");
	CHECK_TEXT_FREE(text_safe_json("\"\xff\""), "\"\\ufffd\"");
	CHECK_TEXT_FREE(text_safe_json("\"\U000e0041\u00e9\""), "\"\\udb40\\udc41\u00e9\"");
}

static void test_another_locale_shows_no_bytes_it_does_not_know(void)
{
	CHECK(setlocale(LC_ALL, "C") != NULL);
	CHECK_TEXT_FREE(text_safe("K\u00f6ln"), "K\\u{f6}ln");
	CHECK(setlocale(LC_ALL, "C.UTF-8") != NULL);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "plain text stays as it is", test_plain_text_stays },
		{ "control characters are spelled out", test_control_characters_are_spelled_out },
		{ "what reorders or hides is spelled out", test_reordering_and_hiding_is_spelled_out },
		{ "bytes that are no UTF-8 are spelled out", test_bytes_that_are_no_utf8 },
		{ "no pair of bytes lets a control character through", test_every_byte_pair_is_safe },
		{ "width counts columns, not bytes", test_width_counts_columns },
		{ "fit cuts at columns", test_fit_cuts_at_columns },
		{ "JSON is made safe within its own rules", test_json_stays_json },
		{ "in the C locale only ASCII is shown", test_another_locale_shows_no_bytes_it_does_not_know },
	};

	if (!setlocale(LC_ALL, "C.UTF-8")) {
		puts("1..0 # SKIP there is no locale C.UTF-8");
		return 77;
	}
	return CHECK_MAIN(tests);
}
