/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_CTL_H
#define ROLLBACKCTL_CTL_H

/* What every verb gets, and how it fails. A verb prints its result to term.out and returns an exit code; what went wrong
 * is recorded with ctl_fail() and said once, by main. */

#include <json-c/json.h>
#include <stdarg.h>

#include "args.h"
#include "term.h"

/* docs/rollbackctl-json.md and --help name these. */
enum ctl_exit {
	CTL_OK,
	CTL_FAILED,
	CTL_USAGE,
	CTL_NO_SUCH,     /* no such report or domain */
	CTL_UNREACHABLE, /* the bus or the daemon */
	CTL_DENIED,
	CTL_EXIT_MAX,
};

/* Version of the JSON documents: as for reports, a new major where a reader of the old one would misread the new one. */
#define CTL_FORMAT "1.0"

struct ctl {
	const char *address; /* --address, or NULL */
	bool user;           /* --user */
	bool json;           /* --json */
	struct term term;
	char *failure;       /* the sentence, or NULL */
};

struct verb {
	const char *name;
	const char *words;       /* what stands behind it, "" or "[ID|DOMAIN]" */
	unsigned max_words;
	const char *summary;     /* one line */
	const char *help;        /* paragraphs */
	const char *examples;    /* lines */
	const char *exits;       /* exit codes that only this verb has, or NULL */
	const struct option_spec *options;
	int (*run)(struct ctl *c, const struct args *a);
};

extern const struct verb verb_list, verb_show, verb_status, verb_watch, verb_doctor;

/* Records a sentence (the first one stays) and returns code. Arguments that others wrote must be safe text already. */
int ctl_fail(struct ctl *c, enum ctl_exit code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The word for an exit code in JSON error documents. */
const char *ctl_exit_name(enum ctl_exit code);

/* Prints a document and its newline: pretty, or on one line. Takes o. */
void ctl_print_json(struct ctl *c, struct json_object *o, bool one_line);

/* { "format": ..., "kind": kind } */
struct json_object *ctl_document(const char *kind);

#endif
