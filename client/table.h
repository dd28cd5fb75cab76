/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_TABLE_H
#define ROLLBACKCTL_TABLE_H

/* Aligned columns that fit the terminal: flexible columns shrink, the columns with the highest "drop" go. */

#include "term.h"

struct table;

struct column {
	const char *head;
	bool right;    /* figures */
	bool flex;     /* may be cut, to TABLE_FLEX_MIN columns at worst */
	bool wrap;     /* beside flex: what does not fit goes on below, nothing is cut */
	unsigned drop; /* 0: stays whatever the width */
};

#define TABLE_FLEX_MIN  8
#define TABLE_FLEX_SOFT 16 /* columns with drop > TABLE_DROP_EARLY go before a flexible one gets narrower than this */
#define TABLE_DROP_EARLY 2

struct table *table_new(const struct column *columns, unsigned n); /* columns must outlive the table */
struct table *table_free(struct table *t);

/* The next cell, left to right, row by row. text is made safe and copied; NULL is "". */
void table_add(struct table *t, enum style style, const char *text);

/* Heads (unless all are "") and rows, indented. */
void table_print(struct table *t, const struct term *term, int indent);

#endif
