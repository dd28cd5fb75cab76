/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "format.h"
#include "json.h"
#include "show.h"
#include "text.h"
#include "when.h"
#include "words.h"

#define LABEL 11

void show_labelled(const struct term *t, int indent, int label_width, const char *label, enum style label_style, enum style style,
		   const char *text)
{
	_cleanup_free_ char *safe = text_safe(text);
	int from = indent + label_width, at = from;
	const char *p = safe;

	fprintf(t->out, "%*s%s%-*s%s%s", indent, "", term_on(t, label_style), label_width, label, term_off(t, label_style), term_on(t, style));
	while (*p) {
		size_t n = strcspn(p, " ");
		_cleanup_free_ char *word = xstrndup(p, n);
		int width = text_width(word);

		if (at > from && at + 1 + width > t->columns) {
			fprintf(t->out, "\n%*s", from, "");
			at = from;
		} else if (at > from) {
			fputc(' ', t->out);
			at++;
		}
		fputs(word, t->out);
		at += width;
		p += n;
		p += strspn(p, " ");
	}
	fprintf(t->out, "%s\n", term_off(t, style));
}

void show_fact(const struct term *t, const char *label, enum style style, const char *text)
{
	show_labelled(t, 2, LABEL, label, STYLE_DIM, style, text);
}

static void fact_take(const struct term *t, const char *label, enum style style, char *text)
{
	show_fact(t, label, style, text);
	free(text);
}

void show_missing_add(struct show_missing *m, const char *name, const char *reason)
{
	if (m->n < sizeof m->v / sizeof m->v[0]) {
		m->v[m->n].name = name;
		m->v[m->n++].reason = words_missing(reason);
	}
}

void show_missing_print(const struct term *t, const char *label, const struct show_missing *m)
{
	bool said[32] = { false };

	for (unsigned i = 0; i < m->n; i++) {
		char *names;

		if (said[i])
			continue;
		names = xstrdup(m->v[i].name);
		for (unsigned k = i + 1; k < m->n; k++) {
			char *longer;

			if (strcmp(m->v[k].reason, m->v[i].reason) != 0)
				continue;
			said[k] = true;
			longer = xprintf("%s, %s", names, m->v[k].name);
			free(names);
			names = longer;
		}
		fact_take(t, label, STYLE_DIM, xprintf("%s: %s", names, m->v[i].reason));
		free(names);
		label = "";
	}
}

/* Appends with ", " in between; takes more. */
static void join(char **text, char *more)
{
	char *longer = **text ? xprintf("%s, %s", *text, more) : xstrdup(more);

	free(*text);
	free(more);
	*text = longer;
}

static char *date_of(struct json_object *o, const char *key)
{
	const char *word = json_text(o, key);
	char buf[FORMAT_MAX];
	int64_t at;

	if (!word)
		return NULL;
	return xstrdup(when_parse_rfc3339(word, &at) ? format_date_exact(buf, at) : word);
}

static char *span_of_time(struct json_object *r)
{
	_cleanup_free_ char *began = date_of(r, "began"), *ended = date_of(r, "ended");
	const char *state = json_text_or(r, "outcome", "none");

	if (!began)
		return xstrdup("not known");
	if (!ended)
		return xprintf("%s, %s", began, strcmp(state, "none") == 0 ? "still under way" : "its end is not known");
	return xprintf("%s to %s", began, ended);
}

static char *page_text(struct json_object *page)
{
	char bytes[FORMAT_MAX], size[FORMAT_MAX];
	const char *kind = json_text_or(page, "kind", "?");
	uint64_t n, page_size;

	if (!json_count(page, "bytes", &n) || !json_count(page, "page_size", &page_size))
		return xstrdup("?");
	return xprintf("%s in %s %s", format_bytes(bytes, n), format_bytes(size, page_size),
		       strcmp(kind, "hugetlb") == 0 ? "hugetlb pages" : strcmp(kind, "thp") == 0 ? "transparent huge pages" : "pages");
}

static char *backing_text(struct json_object *r)
{
	struct json_object *backing = json_at(r, "backing"), *pages = json_at(backing, "pages");
	const char *reason = json_text_or(backing, "reason", NULL);
	char *text = xstrdup("");
	uint64_t pid;

	for (size_t i = 0; i < json_length(pages); i++)
		join(&text, page_text(json_object_array_get_idx(pages, i)));
	if (!*text)
		join(&text, xstrdup("not known"));
	if (json_count(backing, "pid", &pid)) {
		char *longer = xprintf("%s (process %" PRIu64 ")", text, pid);

		free(text);
		text = longer;
	}
	if (reason) {
		char *longer = xprintf("%s: %s", text, reason);

		free(text);
		text = longer;
	}
	return text;
}

static char *guest_text(struct json_object *r)
{
	struct json_object *guest = json_at(r, "guest");
	char *text = xstrdup("");
	char buf[FORMAT_MAX];
	uint64_t n;

	if (json_count(guest, "vcpus", &n))
		join(&text, xprintf("%" PRIu64 " vCPU%s", n, n == 1 ? "" : "s"));
	if (json_count(guest, "memory_bytes", &n))
		join(&text, xprintf("%s of memory", format_bytes(buf, n)));
	if (!*text)
		join(&text, xstrdup("not known"));
	return text;
}

static char *host_text(struct json_object *r)
{
	struct json_object *host = json_at(r, "host"), *software = json_at(r, "software");
	char *text = xprintf("Linux %s %s", json_text_or(host, "kernel", "(not known)"), json_text_or(host, "arch", ""));
	const char *qemu = json_text(software, "qemu"), *libvirt = json_text(software, "libvirt");
	char buf[FORMAT_MAX];
	uint64_t n;

	if (json_count(host, "page_size", &n))
		join(&text, xprintf("%s pages", format_bytes(buf, n)));
	if (qemu)
		join(&text, xprintf("QEMU %s", qemu));
	if (libvirt)
		join(&text, xprintf("libvirt %s", libvirt));
	return text;
}

static bool has_mark(struct json_object *r, const char *mark)
{
	uint64_t us;

	return json_count(json_at(json_at(r, "marks"), mark), "monotonic_us", &us);
}

/* The phase that runs, as far as words_state_in_phase() needs it: a report does not name it. */
static const char *live_phase(struct json_object *r)
{
	if (strcmp(json_text_or(r, "side", ""), "destination") == 0) {
		if (has_mark(r, "D2"))
			return has_mark(r, "D3") ? "pool" : "cleanup";
		return has_mark(r, "D1") ? "receive" : "incoming";
	}
	return has_mark(r, "T1") && !has_mark(r, "T3") ? "paused-precopy" : "";
}

static char *outcome_text(struct json_object *r)
{
	const char *outcome = json_text_or(r, "outcome", "none"), *side = json_text_or(r, "side", "");
	const char *cause = words_cause(json_text(r, "cause"));

	if (strcmp(outcome, "none") == 0)
		return xprintf("still under way: %s", words_state_in_phase(json_text_or(r, "state", "not known"), live_phase(r)));
	/* "it was cancelled (somebody aborted the job)": the parenthesis tells the cause */
	return cause ? xprintf("%s (%s)", words_outcome(outcome, side), cause) : xstrdup(words_outcome(outcome, side));
}

char *show_blackout(const struct term *t, struct json_object *report)
{
	struct json_object *b = json_at(report, "blackout");
	bool lower = json_true(b, "lower_bound");
	char buf[FORMAT_MAX];
	uint64_t usec;

	if (!json_count(b, "us", &usec) && strcmp(json_text_or(report, "outcome", ""), "none") == 0)
		return xstrdup("none so far");
	if (!json_count(b, "us", &usec))
		return xprintf("no figure: %s", words_missing(json_text(b, "reason")));
	format_usec(buf, usec, (t->utf8 ? FORMAT_UTF8 : 0) | (lower ? FORMAT_LOWER_BOUND : 0));
	return xprintf("%s%s", buf, lower ? " (a lower bound: up to the order to resume)" : "");
}

/* ", p2p"; that it is not known is worth saying only where one can be: at the source of a migration. To be freed. */
static char *driver_text(struct json_object *r)
{
	const char *driver = json_text_or(r, "driver", "unknown");
	bool expected = strcmp(json_text_or(r, "operation", ""), "migration") == 0 && strcmp(json_text_or(r, "side", ""), "source") == 0;

	if (strcmp(driver, "unknown") != 0)
		return xprintf(", %s", driver);
	return xstrdup(expected ? ", driver unknown" : "");
}

static void title(const struct term *t, struct json_object *r)
{
	_cleanup_free_ char *name = text_safe(json_text_or(json_at(r, "domain"), "name", "(no name)")), *driver = driver_text(r);
	_cleanup_free_ char *plain = xprintf("%s%s, %s side", words_operation(json_text_or(r, "operation", "unknown")), driver,
					     json_text_or(r, "side", "unknown"));
	_cleanup_free_ char *what = text_safe(plain);

	term_put(t, STYLE_BOLD, name);
	fprintf(t->out, ": %s\n", what);
}

void show_header(const struct term *t, struct json_object *r)
{
	const char *outcome = json_text_or(r, "outcome", "none");
	struct json_object *domain = json_at(r, "domain"), *teardown = json_at(r, "teardown");
	bool live = strcmp(outcome, "none") == 0;

	title(t, r);
	fact_take(t, "Outcome", live ? STYLE_LIVE : words_outcome_style(outcome), outcome_text(r));
	fact_take(t, "Blackout", json_at(json_at(r, "blackout"), "us") ? STYLE_BOLD : STYLE_PLAIN, show_blackout(t, r));
	fact_take(t, "Time", STYLE_PLAIN, span_of_time(r));
	fact_take(t, "Report", STYLE_PLAIN, xprintf("%s (rollbackd %s, schema %s)", json_text_or(r, "id", "?"),
						    json_text_or(r, "rollbackd", "?"), json_text_or(r, "schema", "?")));
	fact_take(t, "Domain", STYLE_PLAIN, xprintf("%s at %s", json_text_or(domain, "uuid", "?"), json_text_or(r, "uri", "?")));
	fact_take(t, "Guest", STYLE_PLAIN, guest_text(r));
	fact_take(t, "Backing", STYLE_PLAIN, backing_text(r));
	fact_take(t, "Host", STYLE_PLAIN, host_text(r));
	fact_take(t, "Teardown", STYLE_PLAIN, xprintf("%s: %s", json_text_or(teardown, "backend", "?"),
						      json_text_or(teardown, "reason", "no reason given")));
}
