/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_TERM_H
#define ROLLBACKCTL_TERM_H

/* What the output can show: a terminal's width and colours, the locale's characters. */

#include <stdbool.h>
#include <stdio.h>

enum color_mode { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_WARN, STYLE_BAD, STYLE_LIVE, STYLE_MAX };

struct term {
	FILE *out;
	bool tty, color, utf8;
	int columns;
};

/* Call setlocale() first. Width: COLUMNS when it is a number from 20 to 1000, else the terminal's, else 80. Colours: as
 * told; auto is a terminal that is not "dumb", without NO_COLOR. */
void term_init(struct term *t, FILE *out, enum color_mode mode);

/* The width may have changed since (a window was resized). */
void term_refresh(struct term *t);

/* "" without colours. */
const char *term_on(const struct term *t, enum style s);
const char *term_off(const struct term *t, enum style s);

/* Prints text in a style. */
void term_put(const struct term *t, enum style s, const char *safe);

#endif
