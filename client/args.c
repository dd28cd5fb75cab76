/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "args.h"
#include "text.h"

static const struct option_spec *find(const struct option_spec *table, const char *name, size_t len, char letter)
{
	for (; table && table->name; table++)
		if (letter ? table->letter == letter : strlen(table->name) == len && strncmp(table->name, name, len) == 0)
			return table;
	return NULL;
}

static const struct option_spec *find_in(const struct option_spec *a, const struct option_spec *b, const char *name, size_t len, char letter)
{
	const struct option_spec *spec = find(a, name, len, letter);

	return spec ? spec : find(b, name, len, letter);
}

static char *unknown_option(const char *arg, const struct option_spec *a, const struct option_spec *b)
{
	_cleanup_free_ char *bare = xstrndup(arg, strcspn(arg, "=")), *safe = text_safe(bare);
	const char *names[64], *near;
	size_t n = 0;

	for (const struct option_spec *t = a; t && t->name && n < 64; t++)
		names[n++] = t->name;
	for (const struct option_spec *t = b; t && t->name && n < 64; t++)
		names[n++] = t->name;
	near = strncmp(arg, "--", 2) == 0 ? args_nearest(bare + 2, names, n) : NULL;
	return near ? xprintf("unknown option %s: did you mean --%s?", safe, near) : xprintf("unknown option %s", safe);
}

static void give(struct args *a, const struct option_spec *spec, const char *value)
{
	a->options = xrealloc(a->options, a->n_options + 1, sizeof *a->options);
	a->options[a->n_options++] = (struct option_given) { spec, value };
}

/* One option; *i moves past a value that stands apart. */
static char *parse_option(char **argv, int argc, int *i, const struct option_spec *a, const struct option_spec *b, struct args *out)
{
	char *arg = argv[*i], *value = NULL;
	bool is_long = arg[1] == '-';
	size_t len = is_long ? strcspn(arg + 2, "=") : 0;
	const struct option_spec *spec = is_long ? find_in(a, b, arg + 2, len, 0) : find_in(a, b, NULL, 0, arg[1]);

	if (!spec)
		return unknown_option(arg, a, b);
	if (is_long)
		value = arg[2 + len] ? arg + 3 + len : NULL;
	else
		value = arg[2] ? arg + 2 + (arg[2] == '=') : NULL;
	if (!spec->value && value)
		return xprintf("--%s takes no value", spec->name);
	if (spec->value && !value) {
		if (*i + 1 >= argc)
			return xprintf("--%s needs a value: --%s=%s", spec->name, spec->name, spec->value);
		value = argv[++*i];
	}
	if (spec->value && !spec->many && args_has(out, spec->name))
		return xprintf("--%s is given twice: expected one %s", spec->name, spec->value);
	give(out, spec, value);
	return NULL;
}

char *args_parse(int argc, char **argv, const struct option_spec *a, const struct option_spec *b, struct args *ret_)
{
	struct args out = { 0 };
	bool options = true;

	out.words = xcalloc((size_t) argc + 1, sizeof *out.words);
	for (int i = 1; i < argc; i++) {
		char *error = NULL;

		if (options && strcmp(argv[i], "--") == 0)
			options = false;
		else if (options && argv[i][0] == '-' && argv[i][1])
			error = parse_option(argv, argc, &i, a, b, &out);
		else
			out.words[out.n_words++] = argv[i];
		if (error) {
			args_done(&out);
			return error;
		}
	}
	*ret_ = out;
	return NULL;
}

void args_done(struct args *a)
{
	free(a->options);
	free(a->words);
	*a = (struct args) { 0 };
}

const char *args_nth(const struct args *a, const char *name, size_t nth)
{
	for (size_t i = 0; i < a->n_options; i++)
		if (strcmp(a->options[i].spec->name, name) == 0 && nth-- == 0)
			return a->options[i].value ? a->options[i].value : "";
	return NULL;
}

bool args_has(const struct args *a, const char *name)
{
	return args_nth(a, name, 0) != NULL;
}

const char *args_value(const struct args *a, const char *name)
{
	const char *last = NULL;

	for (size_t i = 0; i < a->n_options; i++)
		if (strcmp(a->options[i].spec->name, name) == 0)
			last = a->options[i].value;
	return last;
}

#define NEAR_MAX 24

static unsigned distance(const char *a, const char *b)
{
	size_t na = strlen(a), nb = strlen(b);
	unsigned row[NEAR_MAX + 1];

	if (na > NEAR_MAX || nb > NEAR_MAX)
		return NEAR_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = (unsigned) j;
	for (size_t i = 1; i <= na; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned) i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned replace = diagonal + (a[i - 1] != b[j - 1]);
			unsigned other = 1 + (row[j] < row[j - 1] ? row[j] : row[j - 1]);

			diagonal = row[j];
			row[j] = replace < other ? replace : other;
		}
	}
	return row[nb];
}

const char *args_nearest(const char *word, const char *const *candidates, size_t n)
{
	unsigned best = 3, d;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		d = distance(word, candidates[i]);
		if (d < best && d < strlen(word)) {
			best = d;
			nearest = candidates[i];
		}
	}
	return nearest;
}
