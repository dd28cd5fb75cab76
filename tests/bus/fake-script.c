/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake-script.h"

#define WORDS_MAX 24

struct words {
	char *word[WORDS_MAX + 1];
	int n;
};

__attribute__((format(printf, 2, 3))) static int fail(struct script *s, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(s->error, sizeof(s->error), format, ap);
	va_end(ap);
	return -EINVAL;
}

static void split(char *line, struct words *w)
{
	char *save = NULL;

	w->n = 0;
	for (char *p = strtok_r(line, " \t", &save); p && w->n < WORDS_MAX; p = strtok_r(NULL, " \t", &save))
		w->word[w->n++] = p;
	w->word[w->n] = NULL;
}

static const char *rest_of(const struct words *w, int from)
{
	static char text[1024];

	text[0] = '\0';
	for (int i = from; i < w->n; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s", i > from ? " " : "", w->word[i]);
	return text;
}

static int do_begin(struct script *s, const struct words *w)
{
	if (w->n != 4 || !report_id_is_valid(w->word[1]) || !report_uuid_is_valid(w->word[2]))
		return fail(s, "expected: begin ID UUID NAME");
	if (fake_model_find(s->model, w->word[1]))
		return fail(s, "it is there already");
	fake_model_begin(s->model, s->bus, w->word[1], w->word[2], w->word[3]);
	return 0;
}

static int set_mark(struct script *s, struct fake_live *l, const char *mark, const char *source)
{
	enum mark_id m = mark_from_string(mark);
	enum stamp_source from = stamp_source_from_string(source);

	if (m == MARK_INVALID || from == STAMP_INVALID)
		return fail(s, "%s or %s is no mark or source", mark, source);
	fake_live_mark(l, m, from);
	return 0;
}

static int do_state(struct script *s, struct fake_live *l, const struct words *w)
{
	enum mig_state state = mig_state_from_string(w->word[2]);
	int r = 0;

	if (state == MIG_STATE_INVALID || mig_state_is_end(state))
		return fail(s, "%s is no state of a live migration", w->word[2]);
	l->report.state = state;
	for (int i = 3; r == 0 && i < w->n; i++)
		r = set_mark(s, l, w->word[i], "qmp");
	return r;
}

static int do_progress(struct script *s, struct fake_live *l, const struct words *w)
{
	if (w->n == 3) {
		l->progress_result = strcmp(w->word[2], "busy") == 0 ? -EBUSY : -EAGAIN;
		return 0;
	}
	if (w->n != 6)
		return fail(s, "expected: progress ID PROCESSED REMAINING TOTAL AGE_USEC, or busy, or paused");
	l->progress_result = 0;
	l->progress = (struct model_progress) {
		.processed_bytes = strtoull(w->word[2], NULL, 10), .remaining_bytes = strtoull(w->word[3], NULL, 10),
		.total_bytes = strtoull(w->word[4], NULL, 10), .age_usec = strtoull(w->word[5], NULL, 10),
	};
	return 0;
}

static int set_word(struct script *s, struct fake_live *l, const char *verb, const char *value)
{
	struct report *r = &l->report;
	int found = -1;

	if (strcmp(verb, "side") == 0)
		r->side = (enum side) (found = side_from_string(value));
	else if (strcmp(verb, "driver") == 0)
		r->driver = (enum driver) (found = driver_from_string(value));
	else if (strcmp(verb, "operation") == 0)
		r->operation = (enum operation) (found = operation_from_string(value));
	else if (strcmp(verb, "cause") == 0)
		r->cause = (enum cause) (found = cause_from_string(value));
	else if (strcmp(verb, "iterations") == 0)
		r->iterations = (uint32_t) (found = atoi(value));
	else if (strcmp(verb, "note") == 0 && (found = note_from_string(value)) >= 0)
		report_note(r, (enum note) found);
	return found < 0 ? fail(s, "%s or %s is not known", verb, value) : 0;
}

static int do_finish(struct script *s, struct fake_live *l, const struct words *w)
{
	enum mig_state state = w->n == 4 ? mig_state_from_string(w->word[2]) : MIG_STATE_INVALID;
	enum outcome outcome = w->n == 4 ? outcome_from_string(w->word[3]) : OUTCOME_INVALID;

	if (state == MIG_STATE_INVALID || !mig_state_is_end(state) || outcome == OUTCOME_INVALID)
		return fail(s, "expected: finish ID STATE OUTCOME, a state that is an end");
	fake_model_finish(s->model, s->bus, l, state, outcome);
	return 0;
}

static int do_live(struct script *s, const struct words *w)
{
	struct fake_live *l = w->n >= 3 ? fake_model_find(s->model, w->word[1]) : NULL;
	int r;

	if (!l)
		return fail(s, "no such live migration, or too few words");
	if (strcmp(w->word[0], "finish") == 0)
		return do_finish(s, l, w);
	if (strcmp(w->word[0], "progress") == 0)
		return do_progress(s, l, w);
	if (strcmp(w->word[0], "state") == 0)
		r = do_state(s, l, w);
	else if (strcmp(w->word[0], "mark") == 0)
		r = w->n == 4 ? set_mark(s, l, w->word[2], w->word[3]) : fail(s, "expected: mark ID MARK SOURCE");
	else
		r = set_word(s, l, w->word[0], w->word[2]);
	if (r == 0)
		bus_migration_changed(s->bus, &l->report);
	return r;
}

static int do_connection(struct script *s, const struct words *w)
{
	struct model_connection c;

	if (w->n < 6)
		return fail(s, "expected: connection URI STATE QMP(0|1) LIBVIRT_VERSION DOMAINS DETAIL...");
	c = (struct model_connection) {
		.uri = w->word[1], .state = w->word[2], .qmp_events = atoi(w->word[3]), .detail = rest_of(w, 6),
		.libvirt_version = (uint32_t) strtoul(w->word[4], NULL, 10), .domains = (uint32_t) strtoul(w->word[5], NULL, 10),
	};
	fake_model_add_connection(s->model, &c);
	bus_manager_changed(s->bus);
	return 0;
}

static int do_manager(struct script *s, const struct words *w)
{
	if (strcmp(w->word[0], "connection") == 0)
		return do_connection(s, w);
	if (strcmp(w->word[0], "counter") == 0) {
		if (w->n != 3)
			return fail(s, "expected: counter NAME VALUE");
		fake_model_set_counter(s->model, w->word[1], strtoull(w->word[2], NULL, 10));
	} else if (strcmp(w->word[0], "trouble") == 0) {
		fake_store_set_trouble(s->model->model.store, w->n > 1 ? g_intern_string(rest_of(w, 1)) : NULL);
	}
	bus_manager_changed(s->bus);
	return 0;
}

int script_line(struct script *s, char *line, unsigned *ret_wait_ms)
{
	static const char *const manager[] = { "connection", "counter", "trouble", NULL };
	struct words w;

	split(line, &w);
	if (w.n == 0 || w.word[0][0] == '#')
		return 0;
	if (strcmp(w.word[0], "exit") == 0)
		return SCRIPT_EXIT;
	if (strcmp(w.word[0], "wait") == 0) {
		*ret_wait_ms = w.n == 2 ? (unsigned) strtoul(w.word[1], NULL, 10) : 0;
		return 0;
	}
	if (strcmp(w.word[0], "hold") == 0) {
		fake_store_hold(s->model->model.store, true);
		return 0;
	}
	if (strcmp(w.word[0], "release") == 0) {
		fake_store_hold(s->model->model.store, false);
		fake_store_release(s->model->model.store, 0);
		return 0;
	}
	if (strcmp(w.word[0], "begin") == 0)
		return do_begin(s, &w);
	return g_strv_contains(manager, w.word[0]) ? do_manager(s, &w) : do_live(s, &w);
}
