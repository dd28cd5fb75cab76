/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "format.h"
#include "json.h"
#include "show.h"
#include "text.h"
#include "watch.h"
#include "when.h"
#include "words.h"

#define BARS_MAX 8
#define BAR_WIDTH 24

void watch_erase_bars(struct watch *w)
{
	for (; w->drawn > 0; w->drawn--)
		fputs("\033[1A\033[2K", w->c->term.out);
}

static void draw_bar(struct watch *w, const struct item *it)
{
	struct term *t = &w->c->term;
	char bar[4 * BAR_WIDTH + 4], done[FORMAT_MAX], all[FORMAT_MAX];
	uint64_t whole = it->processed + it->remaining, iterations = 0;
	_cleanup_free_ char *name = text_safe(item_text(it, "Name")), *line = NULL, *fit = NULL;

	json_count(it->properties, "Iterations", &iterations);
	line = xprintf("  %s %s %3u %%  %s of %s, iteration %" PRIu64, name, format_bar(bar, it->processed, whole, BAR_WIDTH, t->utf8),
		       whole ? (unsigned) ((unsigned __int128) it->processed * 100 / whole) : 0, format_bytes(done, it->processed),
		       format_bytes(all, whole), iterations);
	fit = text_fit(line, t->columns - 1, t->utf8);
	fprintf(t->out, "%s\n", fit);
	w->drawn++;
}

static void draw_bars(struct watch *w)
{
	if (!w->bars)
		return;
	term_refresh(&w->c->term);
	for (size_t i = 0; i < w->n && w->drawn < BARS_MAX; i++)
		if (w->items[i]->progress_known && !w->items[i]->ending && strcmp(item_text(w->items[i], "State"), "precopy") == 0)
			draw_bar(w, w->items[i]);
}

/* A line that ends here; whoever closed the pipe ends the watching. */
static void end_line(struct watch *w)
{
	draw_bars(w);
	fflush(w->c->term.out);
	if (ferror(w->c->term.out))
		sd_event_exit(w->event, 0);
}

static void begin_line(struct watch *w)
{
	char buf[FORMAT_MAX];

	watch_erase_bars(w);
	/* Time of day to the millisecond: who watches knows the day. */
	format_date_exact(buf, when_now());
	fprintf(w->c->term.out, "%s%.12s%s  ", term_on(&w->c->term, STYLE_DIM), strlen(buf) > 11 ? buf + 11 : buf,
		term_off(&w->c->term, STYLE_DIM));
}

static void begin_item_line(struct watch *w, const char *id, const char *name, const char *side)
{
	_cleanup_free_ char *safe = text_safe(name), *safe_id = text_safe(id), *safe_side = text_safe(side);

	begin_line(w);
	fprintf(w->c->term.out, "%.8s  %s%s%s %s: ", safe_id, term_on(&w->c->term, STYLE_BOLD), safe, term_off(&w->c->term, STYLE_BOLD),
		safe_side);
}

static void put_safe(struct watch *w, enum style style, const char *text)
{
	_cleanup_free_ char *safe = text_safe(text);

	term_put(&w->c->term, style, safe);
}

static struct json_object *event(const char *name, const struct item *it)
{
	struct json_object *o = ctl_document("watch");

	json_add_text(o, "event", name);
	json_add_date(o, "time", when_now());
	if (it) {
		json_add_text(o, "id", it->id);
		json_add_text(o, "uuid", item_text(it, "Uuid"));
		json_add_text(o, "name", item_text(it, "Name"));
		json_add_text(o, "side", item_text(it, "Side"));
	}
	return o;
}

static void print_event(struct watch *w, struct json_object *o)
{
	ctl_print_json(w->c, o, true);
	end_line(w);
}

void watch_tell_waiting(struct watch *w, enum waiting what)
{
	static const char *const lines[] = {
		[WAIT_NOTHING_TOLD] = "",
		[WAIT_NONE] = "watching",
		[WAIT_DAEMON] = "rollbackd is not on the bus: waiting for it",
		[WAIT_BUS] = "the bus is gone: waiting for it",
	};

	if (w->told == what)
		return;
	w->told = what;
	if (w->c->json) {
		struct json_object *o = event(what == WAIT_NONE ? "watching" : "waiting", NULL);

		if (what != WAIT_NONE)
			json_add_text(o, "for", what == WAIT_BUS ? "bus" : "rollbackd");
		print_event(w, o);
		return;
	}
	begin_line(w);
	term_put(&w->c->term, what == WAIT_NONE ? STYLE_DIM : STYLE_WARN, lines[what]);
	fputc('\n', w->c->term.out);
	end_line(w);
}

/* "live migration, p2p", to be freed */
static char *kind_text(const struct item *it)
{
	const char *driver = item_text(it, "Driver");
	bool known = *driver && strcmp(driver, "unknown") != 0;

	return xprintf("%s%s%s", words_operation(item_text(it, "Operation")), known ? ", " : "", known ? driver : "");
}

void watch_tell_began(struct watch *w, const struct item *it, bool late)
{
	const char *driver = item_text(it, "Driver"), *state = item_text(it, "State");
	_cleanup_free_ char *line = NULL, *kind = NULL;

	if (w->c->json) {
		struct json_object *o = event("began", it);
		uint64_t began = 0;

		json_add_text(o, "uri", item_text(it, "Uri"));
		json_add_text(o, "operation", item_text(it, "Operation"));
		json_add_text(o, "driver", driver);
		json_add_text(o, "state", state);
		json_add_text(o, "phase", *item_text(it, "Phase") ? item_text(it, "Phase") : NULL);
		if (json_count(it->properties, "BeganUSec", &began) && began)
			json_add_date(o, "began", (int64_t) began);
		else
			json_add_text(o, "began", NULL);
		json_add_bool(o, "under_way", late);
		print_event(w, o);
		return;
	}
	kind = kind_text(it);
	line = xprintf("%s %s, %s", kind, late ? "under way" : "began", words_state_in_phase(state, item_text(it, "Phase")));
	begin_item_line(w, it->id, item_text(it, "Name"), item_text(it, "Side"));
	put_safe(w, STYLE_LIVE, line);
	fputc('\n', w->c->term.out);
	end_line(w);
}

void watch_tell_kind(struct watch *w, const struct item *it)
{
	if (w->c->json) {
		struct json_object *o = event("kind", it);

		json_add_text(o, "operation", item_text(it, "Operation"));
		json_add_text(o, "driver", item_text(it, "Driver"));
		print_event(w, o);
		return;
	}
	_cleanup_free_ char *kind = kind_text(it), *line = xprintf("this is a %s", kind);

	begin_item_line(w, it->id, item_text(it, "Name"), item_text(it, "Side"));
	put_safe(w, STYLE_LIVE, line);
	fputc('\n', w->c->term.out);
	end_line(w);
}

void watch_tell_state(struct watch *w, const struct item *it)
{
	const char *state = item_text(it, "State"), *phase = item_text(it, "Phase"), *words;
	_cleanup_free_ char *line = NULL;

	if (w->c->json) {
		struct json_object *o = event("state", it);

		json_add_text(o, "state", state);
		json_add_text(o, "phase", *phase ? phase : NULL);
		print_event(w, o);
		return;
	}
	words = words_state_in_phase(state, phase);
	line = strcmp(words, state) ? xprintf("%s: %s", state, words) : xstrdup(state);
	begin_item_line(w, it->id, item_text(it, "Name"), item_text(it, "Side"));
	put_safe(w, STYLE_PLAIN, line);
	if (*phase && strcmp(phase, state) != 0) {
		_cleanup_free_ char *more = xprintf(" (phase %s)", phase);

		put_safe(w, STYLE_DIM, more);
	}
	fputc('\n', w->c->term.out);
	end_line(w);
}

void watch_tell_mark(struct watch *w, const struct item *it, const char *mark, uint64_t real_usec, const char *source)
{
	_cleanup_free_ char *line = NULL;
	char buf[FORMAT_MAX];

	if (w->c->json) {
		struct json_object *o = event("mark", it);

		json_add_text(o, "mark", mark);
		json_add_date(o, "at", (int64_t) real_usec);
		json_add_text(o, "source", source);
		print_event(w, o);
		return;
	}
	format_date_exact(buf, (int64_t) real_usec);
	line = xprintf("%s %s at %.15s (%s)", mark, words_mark(mark), strlen(buf) > 11 ? buf + 11 : buf, words_source(source));
	begin_item_line(w, it->id, item_text(it, "Name"), item_text(it, "Side"));
	put_safe(w, STYLE_DIM, line);
	fputc('\n', w->c->term.out);
	end_line(w);
}

void watch_tell_progress(struct watch *w, const struct item *it)
{
	char done[FORMAT_MAX], left[FORMAT_MAX];

	if (w->c->json) {
		struct json_object *o = event("progress", it);

		json_add_count(o, "processed_bytes", it->processed);
		json_add_count(o, "remaining_bytes", it->remaining);
		json_add_count(o, "total_bytes", it->total);
		print_event(w, o);
	} else if (w->bars) {
		watch_erase_bars(w);
		end_line(w);
	} else {
		begin_item_line(w, it->id, item_text(it, "Name"), item_text(it, "Side"));
		fprintf(w->c->term.out, "%s copied, %s left\n", format_bytes(done, it->processed), format_bytes(left, it->remaining));
		end_line(w);
	}
}

static void tell_finished_json(struct watch *w, const char *id, const char *outcome, const struct item *it, struct json_object *report)
{
	struct json_object *o = event("finished", it), *blackout = json_at(report, "blackout");

	if (!it) {
		json_add_text(o, "id", id);
		json_add_text(o, "uuid", json_text(json_at(report, "domain"), "uuid"));
		json_add_text(o, "name", json_text(json_at(report, "domain"), "name"));
		json_add_text(o, "side", json_text(report, "side"));
	}
	json_add_text(o, "outcome", json_text_or(report, "outcome", outcome));
	json_add_text(o, "cause", json_text(report, "cause"));
	json_object_object_add(o, "total_us", json_object_get(json_at(report, "total_us")));
	json_object_object_add(o, "blackout_us", json_object_get(json_at(blackout, "us")));
	json_add_bool(o, "blackout_lower_bound", json_true(blackout, "lower_bound"));
	print_event(w, o);
}

void watch_tell_finished(struct watch *w, const char *id, const char *outcome, const struct item *it, struct json_object *report)
{
	const char *name = it ? item_text(it, "Name") : json_text_or(json_at(report, "domain"), "name", "?");
	const char *side = it ? item_text(it, "Side") : json_text_or(report, "side", "?");
	const char *what = json_text_or(report, "outcome", outcome);
	char buf[FORMAT_MAX];
	uint64_t total;

	if (w->c->json) {
		tell_finished_json(w, id, what, it, report);
		return;
	}
	begin_item_line(w, id, name, side);
	put_safe(w, words_outcome_style(what), words_outcome(what, side));
	if (report) {
		_cleanup_free_ char *blackout = show_blackout(&w->c->term, report);
		_cleanup_free_ char *line = xprintf("; blackout %s; total %s", blackout,
						    json_count(report, "total_us", &total) ? format_usec(buf, total, 0) : "not known");

		put_safe(w, STYLE_PLAIN, line);
	}
	fputc('\n', w->c->term.out);
	end_line(w);
}
