/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TEST_CLIENT_CHECK_H
#define TEST_CLIENT_CHECK_H

/* TAP in a few lines: the client is built without GLib, and so are its tests. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int check_failures;

static inline void check_fail(const char *file, int line, const char *what)
{
	printf("# %s:%d: %s\n", file, line, what);
	check_failures++;
}

#define CHECK(x) ((x) ? (void) 0 : check_fail(__FILE__, __LINE__, #x))

static inline void check_text(const char *file, int line, const char *got, const char *expected)
{
	if (got && strcmp(got, expected) == 0)
		return;
	printf("# %s:%d: got \"%s\", expected \"%s\"\n", file, line, got ? got : "(null)", expected);
	check_failures++;
}

#define CHECK_TEXT(got, expected) check_text(__FILE__, __LINE__, got, expected)

/* The same for a text that has to be freed. */
static inline void check_text_free(const char *file, int line, char *got, const char *expected)
{
	check_text(file, line, got, expected);
	free(got);
}

#define CHECK_TEXT_FREE(got, expected) check_text_free(__FILE__, __LINE__, got, expected)

struct check_test {
	const char *title;
	void (*run)(void);
};

static inline int check_run(const struct check_test *tests, int n)
{
	int failed = 0;

	printf("1..%d\n", n);
	for (int i = 0; i < n; i++) {
		check_failures = 0;
		tests[i].run();
		failed += check_failures > 0;
		printf("%s %d - %s\n", check_failures ? "not ok" : "ok", i + 1, tests[i].title);
		fflush(stdout);
	}
	return failed > 0;
}

#define CHECK_MAIN(tests) check_run(tests, (int) (sizeof(tests) / sizeof((tests)[0])))

#endif
