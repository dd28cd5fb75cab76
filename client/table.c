/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "table.h"
#include "text.h"

#define GAP 2

struct cell {
	char *text;
	enum style style;
};

struct table {
	const struct column *columns;
	unsigned n;
	struct cell *cells;
	size_t used;
	int *width; /* 0: the column is left out */
};

struct table *table_new(const struct column *columns, unsigned n)
{
	struct table *t = xcalloc(1, sizeof *t);

	t->columns = columns;
	t->n = n;
	t->width = xcalloc(n, sizeof *t->width);
	return t;
}

struct table *table_free(struct table *t)
{
	if (!t)
		return NULL;
	for (size_t i = 0; i < t->used; i++)
		free(t->cells[i].text);
	free(t->cells);
	free(t->width);
	free(t);
	return NULL;
}

void table_add(struct table *t, enum style style, const char *text)
{
	t->cells = xrealloc(t->cells, t->used + 1, sizeof *t->cells);
	t->cells[t->used++] = (struct cell) { text_safe(text ? text : ""), style };
}

static void measure(struct table *t)
{
	for (unsigned c = 0; c < t->n; c++)
		t->width[c] = text_width(t->columns[c].head);
	for (size_t i = 0; i < t->used; i++) {
		int w = text_width(t->cells[i].text);

		if (w > t->width[i % t->n])
			t->width[i % t->n] = w;
	}
}

static int total(const struct table *t)
{
	int sum = -GAP;

	for (unsigned c = 0; c < t->n; c++)
		sum += t->width[c] ? t->width[c] + GAP : 0;
	return sum;
}

/* Takes from the widest flexible column; false when there is nothing to take. */
static bool shrink_one(struct table *t, int least)
{
	int widest = -1;

	for (unsigned c = 0; c < t->n; c++)
		if (t->columns[c].flex && t->width[c] > least && (widest < 0 || t->width[c] > t->width[widest]))
			widest = (int) c;
	if (widest >= 0)
		t->width[widest]--;
	return widest >= 0;
}

static bool drop_one(struct table *t, unsigned above)
{
	int most = -1;

	for (unsigned c = 0; c < t->n; c++)
		if (t->width[c] && t->columns[c].drop > (most < 0 ? above : t->columns[most].drop))
			most = (int) c;
	if (most >= 0)
		t->width[most] = 0;
	return most >= 0;
}

static void pad(const struct term *term, int n)
{
	if (n > 0)
		fprintf(term->out, "%*s", n, "");
}

/* Padding is held back until something follows it, so that no line ends in spaces. */
static void print_cell(const struct table *t, const struct term *term, unsigned c, enum style style, const char *text, int *pending)
{
	_cleanup_free_ char *fit = text_fit(text, t->width[c], term->utf8);
	int room = t->width[c] - text_width(fit);

	if (t->width[c] == 0)
		return;
	if (t->columns[c].right)
		*pending += room;
	if (*fit) {
		pad(term, *pending);
		term_put(term, style, fit);
		*pending = 0;
	}
	*pending += t->columns[c].right ? GAP : *fit ? room + GAP : t->width[c] + GAP;
}

static void print_heads(const struct table *t, const struct term *term, int indent)
{
	bool any = false;
	int pending = indent;

	for (unsigned c = 0; c < t->n; c++)
		any |= *t->columns[c].head != 0;
	if (!any)
		return;
	for (unsigned c = 0; c < t->n; c++)
		print_cell(t, term, c, STYLE_DIM, t->columns[c].head, &pending);
	fputc('\n', term->out);
}

/* The part of a cell that its next line shows; *text moves past it. To be freed. */
static char *next_part(const struct table *t, unsigned c, const char **text)
{
	const char *from = *text;
	size_t n = t->columns[c].wrap && t->width[c] ? text_head(from, t->width[c]) : strlen(from);

	*text += n;
	return xstrndup(from, n);
}

/* As many lines as its longest wrapped cell takes. */
static void print_row(const struct table *t, const struct term *term, int indent, const struct cell *cells)
{
	const char **rest = xcalloc(t->n, sizeof *rest);
	bool more = true;

	for (unsigned c = 0; c < t->n; c++)
		rest[c] = cells[c].text;
	while (more) {
		int pending = indent;

		more = false;
		for (unsigned c = 0; c < t->n; c++) {
			_cleanup_free_ char *part = next_part(t, c, &rest[c]);

			print_cell(t, term, c, cells[c].style, part, &pending);
			more |= *rest[c] != 0;
		}
		fputc('\n', term->out);
	}
	free(rest);
}

void table_print(struct table *t, const struct term *term, int indent)
{
	measure(t);
	while (total(t) + indent > term->columns)
		if (!shrink_one(t, TABLE_FLEX_SOFT) && !drop_one(t, TABLE_DROP_EARLY) && !shrink_one(t, TABLE_FLEX_MIN) && !drop_one(t, 0))
			break;
	print_heads(t, term, indent);
	for (size_t row = 0; row + t->n <= t->used; row += t->n)
		print_row(t, term, indent, t->cells + row);
}
