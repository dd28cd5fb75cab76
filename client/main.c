/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* rollbackctl: shows what rollbackd saw. Options and verb are read here; each verb is a file of its own. */

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "ctl.h"
#include "help.h"
#include "json.h"
#include "text.h"

static const struct verb *const verbs[] = { &verb_list, &verb_show, &verb_watch, &verb_status, &verb_doctor };
#define N_VERBS (sizeof verbs / sizeof verbs[0])

static const struct option_spec global_options[] = {
	{ "json", 'j', NULL, "one JSON document instead of text (watch: one a line)", false },
	{ "address", 0, "ADDRESS", "use the bus at this D-Bus address", false },
	{ "user", 0, NULL, "use the user's bus instead of the system's", false },
	{ "color", 0, "WHEN", "auto (default; NO_COLOR is respected), always or never", false },
	{ "help", 'h', NULL, "this help; behind a verb, the verb's", false },
	{ "version", 0, NULL, "print the version", false },
	{ 0 },
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < N_VERBS; i++)
		if (strcmp(verbs[i]->name, name) == 0)
			return verbs[i];
	return NULL;
}

/* The first word that is no option, nor the value of one, is the verb. Before the verb is known, options are those of list. */
static const char *verb_word(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		struct args a;
		char *head[] = { argv[0], argv[i], NULL };
		char *error;

		if (argv[i][0] != '-')
			return argv[i];
		if (strcmp(argv[i], "--") == 0)
			return i + 1 < argc ? argv[i + 1] : NULL;
		error = args_parse(2, head, global_options, verb_list.options, &a);
		if (!error)
			args_done(&a);
		else if (strstr(error, " needs a value"))
			i++;
		free(error);
	}
	return NULL;
}

static int unknown_verb(struct ctl *c, const char *word)
{
	_cleanup_free_ char *safe = text_safe(word);
	const char *names[N_VERBS], *near;

	for (size_t i = 0; i < N_VERBS; i++)
		names[i] = verbs[i]->name;
	near = args_nearest(word, names, N_VERBS);
	if (near)
		return ctl_fail(c, CTL_USAGE, "unknown verb \"%s\": did you mean \"%s\"?", safe, near);
	return ctl_fail(c, CTL_USAGE, "unknown verb \"%s\": `rollbackctl --help` lists them", safe);
}

static int apply_globals(struct ctl *c, const struct args *a)
{
	const char *color = args_value(a, "color");
	enum color_mode mode = COLOR_AUTO;

	c->json = args_has(a, "json");
	c->user = args_has(a, "user");
	c->address = args_value(a, "address");
	if (color && strcmp(color, "always") == 0)
		mode = COLOR_ALWAYS;
	else if (color && strcmp(color, "never") == 0)
		mode = COLOR_NEVER;
	else if (color && strcmp(color, "auto") != 0)
		return ctl_fail(c, CTL_USAGE, "--color: expected auto, always or never");
	if (c->user && c->address)
		return ctl_fail(c, CTL_USAGE, "--user and --address name two different buses: give one");
	term_init(&c->term, stdout, mode);
	return CTL_OK;
}

static int check_words(struct ctl *c, const struct verb *v, const struct args *a)
{
	if (a->n_words <= v->max_words)
		return CTL_OK;
	_cleanup_free_ char *safe = text_safe(a->words[v->max_words]);
	return ctl_fail(c, CTL_USAGE, "\"%s\" is one argument too many: rollbackctl %s [OPTION...]%s%s", safe, v->name,
			*v->words ? " " : "", v->words);
}

static int run_verb(struct ctl *c, const struct verb *v, bool named, int argc, char **argv)
{
	struct args a;
	char *error = args_parse(argc, argv, global_options, v->options, &a);
	int r;

	if (error) {
		r = ctl_fail(c, CTL_USAGE, "%s", error);
		free(error);
		return r;
	}
	if (named) { /* the verb itself is the first word */
		a.n_words--;
		memmove(a.words, a.words + 1, a.n_words * sizeof *a.words);
	}
	r = apply_globals(c, &a);
	if (r != CTL_OK)
		;
	else if (args_has(&a, "version"))
		printf("rollbackctl %s\n", ROLLBACKD_VERSION);
	else if (args_has(&a, "help") && named)
		help_verb(&c->term, v, global_options);
	else if (args_has(&a, "help"))
		help_all(&c->term, verbs, N_VERBS, global_options);
	else if ((r = check_words(c, v, &a)) == CTL_OK)
		r = v->run(c, &a);
	args_done(&a);
	return r;
}

static bool asks_for(int argc, char **argv, const char *option, const char *letter)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], option) == 0 || strcmp(argv[i], letter) == 0)
			return true;
	return false;
}

static void report_failure(struct ctl *c, int code)
{
	struct json_object *error;

	if (!c->failure)
		return;
	if (c->json) {
		struct json_object *o = ctl_document("error");

		error = json_object_new_object();
		json_add_text(error, "code", ctl_exit_name((enum ctl_exit) code));
		json_add_count(error, "exit", (uint64_t) code);
		json_add_text(error, "message", c->failure);
		json_object_object_add(o, "error", error);
		ctl_print_json(c, o, true);
	}
	fprintf(stderr, "rollbackctl: %s\n", c->failure);
}

/* Nobody holds the other end of the pipe any more. */
static bool reader_is_gone(void)
{
	struct pollfd p = { .fd = STDOUT_FILENO };

	return poll(&p, 1, 0) > 0 && p.revents & POLLERR;
}

/* A reader that had enough is no failure; a full disk is. */
static int finish_output(int code)
{
	bool failed = ferror(stdout);

	errno = 0;
	failed |= fflush(stdout) != 0;
	if (!failed || errno == EPIPE || reader_is_gone())
		return code;
	fprintf(stderr, "rollbackctl: cannot write the output: %s\n", errno ? strerror(errno) : "write error");
	return code ? code : CTL_FAILED;
}

int main(int argc, char **argv)
{
	const struct verb *v = &verb_list;
	struct ctl c = { 0 };
	const char *word;
	int r = CTL_OK;

	setlocale(LC_ALL, "");
	setlocale(LC_NUMERIC, "C");
	signal(SIGPIPE, SIG_IGN);
	c.json = asks_for(argc, argv, "--json", "-j"); /* so that a bad command line is told in JSON too */
	term_init(&c.term, stdout, COLOR_NEVER);
	word = verb_word(argc, argv);
	if (word)
		v = find_verb(word);
	r = v ? run_verb(&c, v, word, argc, argv) : unknown_verb(&c, word);
	report_failure(&c, r);
	free(c.failure);
	return finish_output(r);
}
