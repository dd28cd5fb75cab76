/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "alloc.h"
#include "help.h"
#include "text.h"

#define INDENT 26 /* where the explanations begin */

/* Breaks at spaces between from and the width; the first line begins at column "at". */
static void help_wrap(const struct term *t, int at, int from, const char *text)
{
	int width = t->columns > 100 ? 100 : t->columns;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (at > from && at + 1 + (int) n > width) {
			fprintf(t->out, "\n%*s", from, "");
			at = from;
		} else if (at > from) {
			fputc(' ', t->out);
			at++;
		}
		fprintf(t->out, "%.*s", (int) n, text);
		at += (int) n;
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', t->out);
}

static void print_options(const struct term *t, const struct option_spec *o)
{
	for (; o && o->name; o++) {
		char letter[] = "   ", *head;
		int width;

		if (o->letter) {
			letter[0] = '-';
			letter[1] = o->letter;
			letter[2] = ',';
		}
		head = xprintf("  %s --%s%s%s", letter, o->name, o->value ? "=" : "", o->value ? o->value : "");
		width = text_width(head);
		if (width < INDENT - 1)
			fprintf(t->out, "%-*s", INDENT, head);
		else
			fprintf(t->out, "%s\n%*s", head, INDENT, "");
		help_wrap(t, INDENT, INDENT, o->help);
		free(head);
	}
}

static void heading(const struct term *t, const char *text)
{
	fputc('\n', t->out);
	term_put(t, STYLE_BOLD, text);
	fputc('\n', t->out);
}

static void exit_codes(const struct term *t, const char *own)
{
	heading(t, "Exit codes:");
	fputs(own ? own :
	      "  0  done\n"
	      "  1  failed\n"
	      "  2  the command line is wrong, or what it names is ambiguous\n"
	      "  3  no such report or domain\n"
	      "  4  the bus or rollbackd is not reachable\n"
	      "  5  access denied\n", t->out);
}

void help_all(const struct term *t, const struct verb *const *verbs, size_t n, const struct option_spec *globals)
{
	fputs("rollbackctl [OPTION...] [VERB] [ARGUMENT]\n\n"
	      "Shows the migrations that rollbackd watched: what was rolled back, and where the guest's time went.\n", t->out);
	heading(t, "Verbs:");
	for (size_t i = 0; i < n; i++) {
		char *head = xprintf("  %s%s%s", verbs[i]->name, *verbs[i]->words ? " " : "", verbs[i]->words);

		fprintf(t->out, "%-*s", INDENT, head);
		help_wrap(t, INDENT, INDENT, verbs[i]->summary);
		free(head);
	}
	fputs("\nWithout a verb: list. `rollbackctl VERB --help` has each verb's options and examples.\n", t->out);
	heading(t, "Options:");
	print_options(t, globals);
	exit_codes(t, NULL);
}

void help_verb(const struct term *t, const struct verb *v, const struct option_spec *globals)
{
	fprintf(t->out, "rollbackctl %s [OPTION...]%s%s\n\n", v->name, *v->words ? " " : "", v->words);
	fprintf(t->out, "%s.\n\n%s", v->summary, v->help);
	if (v->options && v->options->name) {
		heading(t, "Options:");
		print_options(t, v->options);
	}
	heading(t, "Options of every verb:");
	print_options(t, globals);
	heading(t, "Examples:");
	fputs(v->examples, t->out);
	exit_codes(t, v->exits);
}
