/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_ARGS_H
#define ROLLBACKCTL_ARGS_H

/* Command-line options: "--name", "--name=value", "--name value", "-n value", "-nvalue", "--" ends them. Options may stand
 * before or after the verb. */

#include <stdbool.h>
#include <stddef.h>

struct option_spec {
	const char *name;  /* NULL ends a table */
	char letter;       /* 0: none */
	const char *value; /* what the value is called in the help; NULL: a flag */
	const char *help;
	bool many;         /* its value may be given more than once */
};

struct option_given {
	const struct option_spec *spec;
	const char *value;
};

struct args {
	struct option_given *options;
	size_t n_options;
	const char **words; /* all that is no option */
	size_t n_words;
};

/* Reads argv[1..] against up to two tables (b may be NULL). Returns NULL or what is wrong, to be freed; *ret_ is set on success
 * only and borrows from argv and the tables. */
char *args_parse(int argc, char **argv, const struct option_spec *a, const struct option_spec *b, struct args *ret_);
void args_done(struct args *a);

bool args_has(const struct args *a, const char *name);
/* The last value given, NULL when none. */
const char *args_value(const struct args *a, const char *name);
/* The nth value given of an option that may be repeated, NULL beyond the last. */
const char *args_nth(const struct args *a, const char *name, size_t nth);

/* Which of n words is meant by a mistyped one (at most two edits), or NULL. */
const char *args_nearest(const char *word, const char *const *candidates, size_t n);

#endif
