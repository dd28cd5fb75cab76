/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A report becomes JSON in two steps: a copy is brought into the form that can be written (whole microseconds, marks in
 * order, values within what the reader takes), then each key is made from the copy. So what follows from the marks is
 * computed from the very figures that are shown, and a report that is read and written again stays the same. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/phases.h"
#include "rollbackd/names.h"
#include "store/json-make.h"
#include "store/report-json.h"
#include "store/report-limits.h"
#include "store/text.h"

static const struct {
	unsigned flag;
	const char *word;
} mark_flag_words[] = {
	{ MARK_CLAMPED, "clamped" },
	{ MARK_LATE, "late" },
	{ MARK_LOWER_BOUND, "lower-bound" },
};

static nsec_t whole_usec(nsec_t at, uint64_t max_usec)
{
	uint64_t usec = at / NSEC_PER_USEC;

	return (usec < max_usec ? usec : max_usec) * NSEC_PER_USEC;
}

/* phases_clamp() knows the usual chains; two marks that only an unusual report makes neighbours may still be the wrong
 * way round. Each round moves a mark back, so it ends. */
static bool clamp_phases(struct report *r)
{
	struct phases p;

	phases_compute(r, &p);
	for (unsigned i = 0; i < p.n; i++) {
		const struct phase *phase = &p.phase[i];

		if (!phase->known || r->marks[phase->from].at <= r->marks[phase->to].at)
			continue;
		r->marks[phase->from].at = r->marks[phase->to].at;
		r->marks[phase->from].flags |= MARK_CLAMPED;
		r->marks_clamped++;
		report_note(r, NOTE_MARKS_CLAMPED);
		return true;
	}
	return false;
}

void report_make_writable(struct report *r)
{
	for (int i = 0; i < MARK_MAX; i++) {
		struct mark *m = &r->marks[i];

		if (mark_is_set(m))
			m->at = whole_usec(m->at, REPORT_USEC_MAX);
		m->resolution = whole_usec(m->resolution, REPORT_RESOLUTION_MAX);
		m->flags &= MARK_CLAMPED | MARK_LATE | MARK_LOWER_BOUND;
	}
	for (uint32_t i = 0; i < r->timeline_n; i++) {
		struct timeline_entry *e = &r->timeline[i];

		if (e->at != NSEC_INVALID)
			e->at = whole_usec(e->at, REPORT_USEC_MAX);
		if (e->arrival != NSEC_INVALID)
			e->arrival = whole_usec(e->arrival, REPORT_USEC_MAX);
	}
	while (phases_clamp(r) > 0 || clamp_phases(r))
		;
}

/* When the first and the last thing happened, on the monotonic clock; NSEC_INVALID: nothing is known. */
static nsec_t began_at(const struct report *r, const struct phases *p)
{
	nsec_t first = NSEC_INVALID;

	if (p->total_known)
		return r->marks[p->first].at;
	for (int i = 0; i < MARK_MAX; i++)
		if (mark_is_set(&r->marks[i]) && r->marks[i].at < first)
			first = r->marks[i].at;
	if (first == NSEC_INVALID && r->timeline_n > 0)
		first = r->timeline[0].at;
	return first;
}

static nsec_t ended_at(const struct report *r, const struct phases *p)
{
	nsec_t last = NSEC_INVALID;

	if (!mig_state_is_end(r->state))
		return NSEC_INVALID;
	if (mark_is_set(&r->marks[MARK_TE]))
		return r->marks[MARK_TE].at;
	if (p->total_known)
		return r->marks[p->last].at;
	for (int i = 0; i < MARK_MAX; i++)
		if (mark_is_set(&r->marks[i]) && (last == NSEC_INVALID || r->marks[i].at > last))
			last = r->marks[i].at;
	return last;
}

int64_t report_began_usec(const struct report *r)
{
	struct report copy = *r;
	struct phases p;
	nsec_t at;

	report_make_writable(&copy);
	phases_compute(&copy, &p);
	at = began_at(&copy, &p);
	return at == NSEC_INVALID ? 0 : report_real_usec(&copy, at);
}

static void put_date(struct make *m, struct json_object *o, const char *key, const struct report *r, nsec_t at)
{
	char date[DATE_SIZE];

	if (at != NSEC_INVALID && date_format(report_real_usec(r, at), date))
		put_text(m, o, key, date);
	else
		put_null(m, o, key);
}

static void put_version(struct make *m, struct json_object *o, const char *key, uint32_t version)
{
	char text[VERSION_SIZE];

	version_format(version, text);
	put_text(m, o, key, version ? text : NULL);
}

static void put_identity(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *domain = make_object(m);
	char schema[16];

	snprintf(schema, sizeof(schema), "%d.%d", RBD_SCHEMA_MAJOR, RBD_SCHEMA_MINOR);
	put_text(m, o, "schema", schema);
	put_text(m, o, "id", r->id);
	put_text(m, o, "rollbackd", ROLLBACKD_VERSION);
	put_text(m, domain, "uuid", r->uuid);
	put_text(m, domain, "name", r->name);
	put(m, o, "domain", domain);
	put_text(m, o, "uri", r->uri);
}

static void put_result(struct make *m, struct json_object *o, const struct report *r, const struct phases *p)
{
	put_text(m, o, "side", side_to_string(r->side));
	put_text(m, o, "operation", operation_to_string(r->operation));
	put_text(m, o, "driver", driver_to_string(r->driver));
	put_text(m, o, "state", mig_state_to_string(r->state));
	put_text(m, o, "outcome", outcome_to_string(r->outcome));
	put_text(m, o, "cause", cause_to_string(r->cause));
	put_bool(m, o, "paused", r->paused);
	put_date(m, o, "began", r, began_at(r, p));
	put_date(m, o, "ended", r, ended_at(r, p));
}

static void put_host(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *host = make_object(m), *software = make_object(m), *clock = make_object(m);
	char offset[24];

	put_text(m, host, "boot_id", r->boot_id);
	put_text(m, host, "kernel", r->kernel);
	put_text(m, host, "arch", r->arch);
	put_known(m, host, "page_size", r->page_size);
	put(m, o, "host", host);
	put_version(m, software, "qemu", r->qemu_version);
	put_version(m, software, "libvirt", r->libvirt_version);
	put(m, o, "software", software);
	/* A string: beyond 2^53 many readers of JSON lose digits. */
	snprintf(offset, sizeof(offset), "%" PRIu64, r->real_offset);
	put_text(m, clock, "real_minus_monotonic_ns", offset);
	put(m, o, "clock", clock);
}

static struct json_object *make_mark_flags(struct make *m, unsigned flags)
{
	struct json_object *list = make_array(m);

	for (size_t i = 0; i < sizeof(mark_flag_words) / sizeof(mark_flag_words[0]); i++)
		if (flags & mark_flag_words[i].flag)
			append_text(m, list, mark_flag_words[i].word);
	return list;
}

static struct json_object *make_mark(struct make *m, const struct report *r, const struct mark *mark)
{
	struct json_object *o = make_object(m);

	if (!mark_is_set(mark)) {
		put_null(m, o, "monotonic_us");
		put_text(m, o, "reason", missing_to_string(mark->missing));
		return o;
	}
	put_count(m, o, "monotonic_us", mark->at / NSEC_PER_USEC);
	put_date(m, o, "time", r, mark->at);
	put_text(m, o, "source", stamp_source_to_string(mark->source));
	put_count(m, o, "resolution_us", mark->resolution / NSEC_PER_USEC);
	if (mark->flags)
		put(m, o, "flags", make_mark_flags(m, mark->flags));
	return o;
}

static void put_marks(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *marks = make_object(m);

	for (int i = 0; i < MARK_MAX; i++)
		if (mark_is_set(&r->marks[i]) || report_lists_mark(r->side, (enum mark_id) i))
			put(m, marks, mark_to_string((enum mark_id) i), make_mark(m, r, &r->marks[i]));
	put(m, o, "marks", marks);
}

static struct json_object *make_phase(struct make *m, const struct phase *p)
{
	struct json_object *o = make_object(m);

	put_text(m, o, "name", phase_to_string(p->id));
	put_text(m, o, "from", mark_to_string(p->from));
	put_text(m, o, "to", mark_to_string(p->to));
	if (p->known) {
		put_count(m, o, "us", p->usec);
		put_bool(m, o, "lower_bound", p->lower_bound);
		put_bool(m, o, "upper_bound", p->upper_bound);
	} else {
		put_null(m, o, "us");
		put_text(m, o, "reason", missing_to_string(p->missing));
	}
	return o;
}

static void put_phases(struct make *m, struct json_object *o, const struct phases *p)
{
	struct json_object *list = make_array(m), *blackout = make_object(m);

	for (unsigned i = 0; i < p->n; i++)
		append(m, list, make_phase(m, &p->phase[i]));
	put(m, o, "phases", list);
	if (p->total_known)
		put_count(m, o, "total_us", p->total_usec);
	else
		put_null(m, o, "total_us");
	if (p->blackout_known)
		put_count(m, blackout, "us", p->blackout_usec);
	else
		put_null(m, blackout, "us");
	put_bool(m, blackout, "lower_bound", p->blackout_known && p->blackout_lower_bound);
	put_text(m, blackout, "reason", p->blackout_known ? NULL : missing_to_string(p->blackout_missing));
	put(m, o, "blackout", blackout);
}

static struct json_object *make_pages(struct make *m, const struct backing *b)
{
	struct json_object *pages = make_array(m);

	for (unsigned i = 0; i < b->n; i++) {
		struct json_object *page = make_object(m);

		put_text(m, page, "kind", page_kind_to_string(b->pages[i].kind));
		put_count(m, page, "page_size", b->pages[i].page_size);
		put_count(m, page, "bytes", b->pages[i].bytes);
		append(m, pages, page);
	}
	return pages;
}

static void put_guest(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *teardown = make_object(m), *guest = make_object(m), *backing = make_object(m);

	put_text(m, teardown, "backend", r->backend);
	put_text(m, teardown, "reason", r->backend_reason);
	put(m, o, "teardown", teardown);
	put_known(m, guest, "vcpus", r->vcpus);
	put_known(m, guest, "memory_bytes", r->memory_bytes);
	put(m, o, "guest", guest);
	put_known(m, backing, "pid", r->backing.pid > 0 ? (uint64_t) r->backing.pid : 0);
	put(m, backing, "pages", make_pages(m, &r->backing));
	put_text(m, backing, "reason", r->backing.reason);
	put(m, o, "backing", backing);
}

static void put_counts(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *counts = make_object(m);

	put_count(m, counts, "iterations", r->iterations);
	put_count(m, counts, "events", r->events);
	put_count(m, counts, "events_unknown", r->events_unknown);
	put_count(m, counts, "events_out_of_order", r->events_out_of_order);
	put_count(m, counts, "marks_clamped", r->marks_clamped);
	put_count(m, counts, "stamps_qmp", r->stamps_qmp);
	put_count(m, counts, "stamps_arrival", r->stamps_arrival);
	put_count(m, counts, "stamps_rejected", r->stamps_rejected);
	put(m, o, "counts", counts);
}

static void put_notes(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *notes = make_array(m);

	for (int i = 0; i < NOTE_MAX; i++) {
		struct json_object *note;

		if (!report_has_note(r, (enum note) i))
			continue;
		note = make_object(m);
		put_text(m, note, "code", note_to_string((enum note) i));
		put_text(m, note, "text", note_text((enum note) i));
		append(m, notes, note);
	}
	put(m, o, "notes", notes);
}

static void put_moment(struct make *m, struct json_object *o, const char *key, nsec_t at)
{
	if (at == NSEC_INVALID)
		put_null(m, o, key);
	else
		put_count(m, o, key, at / NSEC_PER_USEC);
}

static struct json_object *make_entry(struct make *m, const struct timeline_entry *e)
{
	struct json_object *o = make_object(m);

	put_text(m, o, "what", e->what);
	put_moment(m, o, "monotonic_us", e->at);
	put_moment(m, o, "arrival_us", e->arrival);
	if (e->stamp_usec < 0)
		put_null(m, o, "stamp_us");
	else
		put_int(m, o, "stamp_us", e->stamp_usec);
	put_text(m, o, "source", stamp_source_to_string(e->source));
	return o;
}

static void put_timeline(struct make *m, struct json_object *o, const struct report *r)
{
	struct json_object *list = make_array(m);

	for (uint32_t i = 0; i < r->timeline_n; i++)
		append(m, list, make_entry(m, &r->timeline[i]));
	put(m, o, "timeline", list);
	put_count(m, o, "timeline_dropped", r->timeline_dropped);
}

struct json_object *report_to_json(const struct report *r)
{
	struct report copy = *r;
	struct make m = { 0 };
	struct json_object *o = make_object(&m);
	struct phases p;

	report_make_writable(&copy);
	phases_compute(&copy, &p);
	put_identity(&m, o, &copy);
	put_result(&m, o, &copy, &p);
	put_host(&m, o, &copy);
	put_marks(&m, o, &copy);
	put_phases(&m, o, &p);
	put_guest(&m, o, &copy);
	put_counts(&m, o, &copy);
	put_notes(&m, o, &copy);
	put_timeline(&m, o, &copy);
	if (m.failed) {
		json_object_put(o);
		return NULL;
	}
	return o;
}

char *report_to_text(const struct report *r)
{
	struct json_object *o = report_to_json(r);
	const char *text;
	char *copy = NULL;

	if (!o)
		return NULL;
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
	if (text)
		copy = strdup(text);
	json_object_put(o);
	return copy;
}
