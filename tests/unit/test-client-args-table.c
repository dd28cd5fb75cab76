/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <locale.h>

#include "args.h"
#include "table.h"
#include "test-client-check.h"

static char *text;
static size_t size;

static struct term open_term(int columns, bool color)
{
	free(text);
	text = NULL;
	return (struct term) { .out = open_memstream(&text, &size), .columns = columns, .utf8 = true, .color = color };
}

static const struct column columns[] = {
	{ .head = "NAME", .flex = true },
	{ .head = "N", .right = true },
	{ .head = "MORE", .drop = 1 },
};

static const char *render(int width, bool color, const char *name)
{
	struct term term = open_term(width, color);
	struct table *t = table_new(columns, 3);

	table_add(t, STYLE_BOLD, name);
	table_add(t, STYLE_PLAIN, "7");
	table_add(t, STYLE_PLAIN, "x");
	table_add(t, STYLE_PLAIN, "b");
	table_add(t, STYLE_PLAIN, "123");
	table_add(t, STYLE_PLAIN, "");
	table_print(t, &term, 0);
	table_free(t);
	fclose(term.out);
	return text;
}

static void test_columns_are_aligned(void)
{
	CHECK_TEXT(render(80, false, "ab"), "NAME    N  MORE\nab      7  x\nb     123\n");
	CHECK_TEXT(render(80, false, "\u5bb6\u5bb6\u5bb6"), "NAME      N  MORE\n\u5bb6\u5bb6\u5bb6    7  x\nb       123\n");
}

static void test_names_cannot_break_the_table(void)
{
	CHECK_TEXT(render(80, false, "a\033[2J\n"), "NAME            N  MORE\na\\x1b[2J\\x0a    7  x\nb             123\n");
}

static void test_colours_do_not_count(void)
{
	CHECK_TEXT(render(80, true, "ab"), "\033[2mNAME\033[0m    \033[2mN\033[0m  \033[2mMORE\033[0m\n\033[1mab\033[0m      7  x\nb     123\n");
}

static void test_narrow_terminals(void)
{
	CHECK_TEXT(render(20, false, "abcdefghijklmnop"), "NAME         N  MORE\nabcdefgh\xe2\x80\xa6    7  x\nb          123\n");
	CHECK_TEXT(render(14, false, "abcdefghijklmnop"), "NAME        N\nabcdefg\xe2\x80\xa6    7\nb         123\n");
}

static const struct option_spec specs[] = {
	{ "domain", 'd', "NAME", "", false }, { "json", 'j', NULL, "", false }, { "limit", 'n', "N", "", true }, { 0 },
};

static char *parse(struct args *a, char **argv)
{
	int argc = 0;

	while (argv[argc])
		argc++;
	return args_parse(argc, argv, specs, NULL, a);
}

#define PARSE(a, ...) parse(a, (char *[]) { (char[]) { "x" }, __VA_ARGS__, NULL })
#define W(s) (char[]) { s }

static void test_options_in_all_their_forms(void)
{
	struct args a;

	CHECK(PARSE(&a, W("list"), W("--domain=g=1"), W("-j"), W("-n5"), W("--limit"), W("6"), W("--"), W("--x")) == NULL);
	CHECK_TEXT(args_value(&a, "domain"), "g=1");
	CHECK_TEXT(args_value(&a, "limit"), "6");
	CHECK_TEXT(args_nth(&a, "limit", 0), "5");
	CHECK(args_nth(&a, "limit", 2) == NULL && args_has(&a, "json"));
	CHECK(a.n_words == 2 && strcmp(a.words[1], "--x") == 0);
	args_done(&a);
	CHECK(PARSE(&a, W("-"), W("--domain=")) == NULL);
	CHECK_TEXT(args_value(&a, "domain"), "");
	CHECK(a.n_words == 1);
	args_done(&a);
}

static void test_bad_options_say_what_was_expected(void)
{
	struct args a;

	CHECK_TEXT_FREE(PARSE(&a, W("--domian")), "unknown option --domian: did you mean --domain?");
	CHECK_TEXT_FREE(PARSE(&a, W("--colour")), "unknown option --colour");
	CHECK_TEXT_FREE(PARSE(&a, W("--json=yes")), "--json takes no value");
	CHECK_TEXT_FREE(PARSE(&a, W("--domain")), "--domain needs a value: --domain=NAME");
	CHECK_TEXT_FREE(PARSE(&a, W("-d"), W("a"), W("--domain=b")), "--domain is given twice: expected one NAME");
	CHECK_TEXT_FREE(PARSE(&a, W("-\033")), "unknown option -\\x1b");
}

static void test_nearest_word(void)
{
	static const char *const verbs[] = { "list", "show", "watch", "status", "doctor" };

	CHECK_TEXT(args_nearest("lst", verbs, 5), "list");
	CHECK_TEXT(args_nearest("shwo", verbs, 5), "show");
	CHECK_TEXT(args_nearest("dcotor", verbs, 5), "doctor");
	CHECK(args_nearest("frobnicate", verbs, 5) == NULL);
	CHECK(args_nearest("x", verbs, 5) == NULL);
	CHECK(args_nearest("", verbs, 5) == NULL);
	CHECK(args_nearest("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", verbs, 5) == NULL);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "columns are aligned, wide characters too", test_columns_are_aligned },
		{ "names cannot break the table", test_names_cannot_break_the_table },
		{ "colours do not count as width", test_colours_do_not_count },
		{ "narrow terminals: names are cut, then columns left out", test_narrow_terminals },
		{ "options in all their forms", test_options_in_all_their_forms },
		{ "bad options say what was expected", test_bad_options_say_what_was_expected },
		{ "the nearest word for a mistyped one", test_nearest_word },
	};
	int r;

	if (!setlocale(LC_ALL, "C.UTF-8")) {
		puts("1..0 # SKIP there is no locale C.UTF-8");
		return 77;
	}
	r = CHECK_MAIN(tests);
	free(text);
	return r;
}
