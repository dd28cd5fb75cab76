/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "term.h"
#include "when.h"

static const char *const escapes[STYLE_MAX] = {
	[STYLE_PLAIN] = "",
	[STYLE_BOLD] = "\033[1m",
	[STYLE_DIM] = "\033[2m",
	[STYLE_GOOD] = "\033[32m",
	[STYLE_WARN] = "\033[33m",
	[STYLE_BAD] = "\033[31m",
	[STYLE_LIVE] = "\033[1;36m",
};

void term_refresh(struct term *t)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	t->columns = 80;
	if (columns && when_parse_number(columns, 20, 1000, &n))
		t->columns = (int) n;
	else if (t->tty && ioctl(fileno(t->out), TIOCGWINSZ, &size) == 0 && size.ws_col >= 20)
		t->columns = size.ws_col;
}

void term_init(struct term *t, FILE *out, enum color_mode mode)
{
	const char *no_color = getenv("NO_COLOR"), *type = getenv("TERM");

	*t = (struct term) { .out = out, .tty = isatty(fileno(out)), .utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0 };
	t->color = mode == COLOR_ALWAYS ||
		   (mode == COLOR_AUTO && t->tty && !(no_color && *no_color) && type && strcmp(type, "dumb") != 0);
	term_refresh(t);
}

const char *term_on(const struct term *t, enum style s)
{
	return t->color ? escapes[s] : "";
}

const char *term_off(const struct term *t, enum style s)
{
	return t->color && s != STYLE_PLAIN ? "\033[0m" : "";
}

void term_put(const struct term *t, enum style s, const char *safe)
{
	fprintf(t->out, "%s%s%s", term_on(t, s), safe, term_off(t, s));
}
