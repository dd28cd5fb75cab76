/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Report files are read by root and may have been damaged or made up: each value has a type and a range, each array and
 * string a bound, and the text is looked over before json-c builds objects from it, which take up to 300 times as much
 * memory as their text. What follows from the marks is not read but computed again. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/phases.h"
#include "rollbackd/names.h"
#include "store/json-take.h"
#include "store/report-json.h"
#include "store/report-limits.h"
#include "store/text.h"

/* A whole report nests 4 deep and has some 400 values; a newer minor version may have more. */
#define DEPTH_MAX  16
#define NESTED_MAX 2000
#define VALUES_MAX 20000

static void take_schema(struct take *t, const struct node *n)
{
	unsigned major, minor;
	char text[16], back[32];

	take_text(t, n, "schema", text, sizeof(text), 0);
	if (t->r < 0)
		return;
	if (sscanf(text, "%5u.%5u", &major, &minor) == 2) {
		snprintf(back, sizeof(back), "%u.%u", major, minor);
		if (strcmp(back, text) == 0 && major == RBD_SCHEMA_MAJOR)
			return;
		if (strcmp(back, text) == 0 && major > RBD_SCHEMA_MAJOR) {
			take_fail(t, n, "schema", -EPROTONOSUPPORT, "found version %s, expected at most %d.x", text, RBD_SCHEMA_MAJOR);
			return;
		}
	}
	take_fail(t, n, "schema", -EINVAL, "expected a version such as \"%d.%d\"", RBD_SCHEMA_MAJOR, RBD_SCHEMA_MINOR);
}

static void take_uuid(struct take *t, const struct node *n, const char *key, char *to, unsigned flags)
{
	take_text(t, n, key, to, REPORT_UUID_LEN + 1, flags);
	if (t->r == 0 && !report_uuid_is_valid(to) && (*to || !(flags & TAKE_NULLABLE)))
		take_fail(t, n, key, -EINVAL, "expected a UUID in lower-case hex digits");
}

static void take_identity(struct take *t, const struct node *n, struct report *r)
{
	struct node domain;

	take_text(t, n, "id", r->id, sizeof(r->id), 0);
	if (t->r == 0 && !report_id_is_valid(r->id))
		take_fail(t, n, "id", -EINVAL, "expected %d lower-case hex digits", REPORT_ID_LEN);
	domain = take_object(t, n, "domain");
	take_uuid(t, &domain, "uuid", r->uuid, 0);
	take_text(t, &domain, "name", r->name, sizeof(r->name), TAKE_NULLABLE);
	take_text(t, n, "uri", r->uri, sizeof(r->uri), TAKE_NULLABLE);
}

static void take_result(struct take *t, const struct node *n, struct report *r)
{
	r->side = (enum side) take_word(t, n, "side", side_to_string, SIDE_MAX);
	r->operation = (enum operation) take_word(t, n, "operation", operation_to_string, OP_MAX);
	r->driver = (enum driver) take_word(t, n, "driver", driver_to_string, DRIVER_MAX);
	r->state = (enum mig_state) take_word(t, n, "state", mig_state_to_string, MIG_STATE_MAX);
	r->outcome = (enum outcome) take_word(t, n, "outcome", outcome_to_string, OUTCOME_MAX);
	r->cause = (enum cause) take_word(t, n, "cause", cause_to_string, CAUSE_MAX);
	r->paused = take_bool(t, n, "paused");
}

static uint32_t take_version(struct take *t, const struct node *n, const char *key)
{
	char text[VERSION_SIZE];
	uint32_t version = 0;

	take_text(t, n, key, text, sizeof(text), TAKE_NULLABLE);
	if (*text && version_parse(text, &version) < 0)
		take_fail(t, n, key, -EINVAL, "expected a version such as \"7.2.19\" or null");
	return version;
}

static nsec_t take_offset(struct take *t, const struct node *n, const char *key)
{
	char text[24], back[24];
	nsec_t offset;

	take_text(t, n, key, text, sizeof(text), 0);
	if (t->r < 0)
		return 0;
	offset = strtoull(text, NULL, 10);
	snprintf(back, sizeof(back), "%" PRIu64, offset);
	if (strcmp(text, back) != 0)
		take_fail(t, n, key, -EINVAL, "expected a string of decimal digits, at most %" PRIu64, UINT64_MAX);
	return offset;
}

static void take_host(struct take *t, const struct node *n, struct report *r)
{
	struct node host = take_object(t, n, "host");
	struct node software = take_object(t, n, "software");
	struct node clock = take_object(t, n, "clock");

	take_uuid(t, &host, "boot_id", r->boot_id, TAKE_NULLABLE);
	take_text(t, &host, "kernel", r->kernel, sizeof(r->kernel), TAKE_NULLABLE);
	take_text(t, &host, "arch", r->arch, sizeof(r->arch), TAKE_NULLABLE);
	r->page_size = take_count_or(t, &host, "page_size", 1, REPORT_BYTES_MAX, 0);
	r->qemu_version = take_version(t, &software, "qemu");
	r->libvirt_version = take_version(t, &software, "libvirt");
	r->real_offset = take_offset(t, &clock, "real_minus_monotonic_ns");
}

static unsigned mark_flag_of(struct json_object *o)
{
	const char *s = text_of(o, 16);

	if (s && strcmp(s, "clamped") == 0)
		return MARK_CLAMPED;
	if (s && strcmp(s, "late") == 0)
		return MARK_LATE;
	if (s && strcmp(s, "lower-bound") == 0)
		return MARK_LOWER_BOUND;
	return 0;
}

static unsigned take_mark_flags(struct take *t, const struct node *n)
{
	struct json_object *list;
	unsigned flags = 0;
	size_t count;

	if (t->r < 0 || !json_object_object_get_ex(n->o, "flags", NULL))
		return 0;
	count = take_array(t, n, "flags", 3, &list);
	for (size_t i = 0; i < count; i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		unsigned flag = mark_flag_of(o);

		if (!flag)
			take_wrong(t, n, "flags", o, "clamped, late or lower-bound");
		flags |= flag;
	}
	return flags;
}

static nsec_t take_moment(struct take *t, const struct node *n, const char *key)
{
	uint64_t usec = take_count_or(t, n, key, 0, REPORT_USEC_MAX, NSEC_INVALID);

	return usec == NSEC_INVALID ? NSEC_INVALID : usec * NSEC_PER_USEC;
}

static void take_mark(struct take *t, const struct node *marks, const char *name, struct mark *m)
{
	struct node n;

	if (t->r < 0 || !json_object_object_get_ex(marks->o, name, NULL))
		return;
	n = take_object(t, marks, name);
	m->at = take_moment(t, &n, "monotonic_us");
	if (!mark_is_set(m)) {
		m->missing = (enum missing) take_word(t, &n, "reason", missing_to_string, MISSING_MAX);
		return;
	}
	m->missing = MISSING_NOT_SEEN;
	m->source = (enum stamp_source) take_word(t, &n, "source", stamp_source_to_string, STAMP_MAX);
	m->resolution = take_count(t, &n, "resolution_us", 0, REPORT_RESOLUTION_MAX) * NSEC_PER_USEC;
	m->flags = take_mark_flags(t, &n);
}

static void take_marks(struct take *t, const struct node *n, struct report *r)
{
	struct node marks = take_object(t, n, "marks");

	for (int i = 0; i < MARK_MAX; i++)
		take_mark(t, &marks, mark_to_string((enum mark_id) i), &r->marks[i]);
}

static void take_backing(struct take *t, const struct node *n, struct backing *b)
{
	struct node backing = take_object(t, n, "backing");
	struct json_object *pages;
	size_t count;

	b->pid = (int32_t) take_count_or(t, &backing, "pid", 1, INT32_MAX, 0);
	take_text(t, &backing, "reason", b->reason, sizeof(b->reason), TAKE_NULLABLE);
	count = take_array(t, &backing, "pages", REPORT_PAGES_MAX, &pages);
	for (size_t i = 0; i < count; i++) {
		struct node page = take_element(t, &backing, "pages", pages, i);

		b->pages[i].kind = (enum page_kind) take_word(t, &page, "kind", page_kind_to_string, PAGE_KIND_MAX);
		b->pages[i].page_size = take_count(t, &page, "page_size", 0, REPORT_BYTES_MAX);
		b->pages[i].bytes = take_count(t, &page, "bytes", 0, REPORT_BYTES_MAX);
	}
	b->n = (unsigned) count;
}

static void take_guest(struct take *t, const struct node *n, struct report *r)
{
	struct node teardown = take_object(t, n, "teardown");
	struct node guest = take_object(t, n, "guest");

	take_text(t, &teardown, "backend", r->backend, sizeof(r->backend), TAKE_NULLABLE);
	take_text(t, &teardown, "reason", r->backend_reason, sizeof(r->backend_reason), TAKE_NULLABLE);
	r->vcpus = (uint32_t) take_count_or(t, &guest, "vcpus", 1, UINT32_MAX, 0);
	r->memory_bytes = take_count_or(t, &guest, "memory_bytes", 1, REPORT_BYTES_MAX, 0);
	take_backing(t, n, &r->backing);
}

static uint32_t take_u32(struct take *t, const struct node *n, const char *key)
{
	return (uint32_t) take_count(t, n, key, 0, UINT32_MAX);
}

static void take_counts(struct take *t, const struct node *n, struct report *r)
{
	struct node counts = take_object(t, n, "counts");

	r->iterations = take_u32(t, &counts, "iterations");
	r->events = take_u32(t, &counts, "events");
	r->events_unknown = take_u32(t, &counts, "events_unknown");
	r->events_out_of_order = take_u32(t, &counts, "events_out_of_order");
	r->marks_clamped = take_u32(t, &counts, "marks_clamped");
	r->stamps_qmp = take_u32(t, &counts, "stamps_qmp");
	r->stamps_arrival = take_u32(t, &counts, "stamps_arrival");
	r->stamps_rejected = take_u32(t, &counts, "stamps_rejected");
}

static void take_notes(struct take *t, const struct node *n, struct report *r)
{
	struct json_object *notes;
	size_t count = take_array(t, n, "notes", NOTE_MAX, &notes);

	for (size_t i = 0; i < count; i++) {
		struct node note = take_element(t, n, "notes", notes, i);

		report_note(r, (enum note) take_word(t, &note, "code", note_to_string, NOTE_MAX));
	}
}

static void take_timeline(struct take *t, const struct node *n, struct report *r)
{
	struct json_object *list;
	size_t count = take_array(t, n, "timeline", REPORT_TIMELINE_MAX, &list);

	for (size_t i = 0; i < count; i++) {
		struct timeline_entry *e = &r->timeline[i];
		struct node entry = take_element(t, n, "timeline", list, i);

		take_text(t, &entry, "what", e->what, sizeof(e->what), TAKE_NULLABLE);
		e->at = take_moment(t, &entry, "monotonic_us");
		e->arrival = take_moment(t, &entry, "arrival_us");
		e->stamp_usec = (int64_t) take_count_or(t, &entry, "stamp_us", 0, INT64_MAX, UINT64_MAX);
		e->source = (enum stamp_source) take_word(t, &entry, "source", stamp_source_to_string, STAMP_MAX);
	}
	r->timeline_n = (uint32_t) count;
	r->timeline_dropped = take_u32(t, n, "timeline_dropped");
}

/* The writer puts marks in order, so marks that are not were not written by it; and what is computed from them would
 * wrap around. */
static void check_order(struct take *t, const struct node *n, const struct report *r)
{
	struct report copy = *r;
	struct phases p;

	if (t->r < 0)
		return;
	if (phases_clamp(&copy) > 0) {
		take_fail(t, n, "marks", -EINVAL, "found marks out of order, expected each at or before its successor");
		return;
	}
	phases_compute(r, &p);
	for (unsigned i = 0; i < p.n; i++)
		if (p.phase[i].known && p.phase[i].usec > REPORT_USEC_MAX)
			take_fail(t, n, "marks", -EINVAL, "found %s after %s, expected it before",
				  mark_to_string(p.phase[i].from), mark_to_string(p.phase[i].to));
}

int report_from_json(struct json_object *o, struct report *ret_, char *error, size_t error_size)
{
	struct take t = { .error = error, .error_size = error_size };
	struct node root = { .o = o };
	struct report r;

	memset(&r, 0, sizeof(r));
	report_init(&r);
	if (!json_object_is_type(o, json_type_object))
		take_wrong(&t, &root, NULL, o, "an object");
	take_schema(&t, &root);
	take_identity(&t, &root, &r);
	take_result(&t, &root, &r);
	take_host(&t, &root, &r);
	take_marks(&t, &root, &r);
	take_guest(&t, &root, &r);
	take_counts(&t, &root, &r);
	take_notes(&t, &root, &r);
	take_timeline(&t, &root, &r);
	check_order(&t, &root, &r);
	if (t.r == 0)
		*ret_ = r;
	return t.r;
}

/* Counts the text's containers and values without building anything. */
static bool is_bounded(const char *text, size_t len)
{
	unsigned nested = 0, values = 0;
	bool quoted = false;

	for (size_t i = 0; i < len && nested <= NESTED_MAX && values <= VALUES_MAX; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '{' || text[i] == '['))
			nested++;
		else if (!quoted && text[i] == ',')
			values++;
	}
	return nested <= NESTED_MAX && values <= VALUES_MAX;
}

static int parse(const char *text, size_t len, struct json_object **ret_, const char **ret_why)
{
	struct json_tokener *tok = json_tokener_new_ex(DEPTH_MAX);
	enum json_tokener_error e;
	struct json_object *o;
	size_t end;

	if (!tok)
		return -ENOMEM;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
	o = json_tokener_parse_ex(tok, text, (int) len);
	e = json_tokener_get_error(tok);
	end = json_tokener_get_parse_end(tok);
	json_tokener_free(tok);
	while (end < len && strchr(" \t\r\n", text[end]) && text[end])
		end++;
	if (e == json_tokener_success && end == len) {
		*ret_ = o;
		return 0;
	}
	json_object_put(o);
	*ret_why = e == json_tokener_continue ? "it ends in the middle" :
		   e == json_tokener_success ? "more follows after its end" : json_tokener_error_desc(e);
	return -EINVAL;
}

int report_from_text(const char *text, size_t len, struct report *ret_, char *error, size_t error_size)
{
	struct take t = { .error = error, .error_size = error_size };
	struct node root = { 0 };
	struct json_object *o;
	const char *why;
	int r;

	if (len > REPORT_TEXT_MAX)
		take_fail(&t, &root, NULL, -EINVAL, "found %zu bytes, expected at most %zu", len, REPORT_TEXT_MAX);
	else if (len == 0)
		take_fail(&t, &root, NULL, -EINVAL, "found nothing, expected a report");
	else if (!is_bounded(text, len))
		take_fail(&t, &root, NULL, -EINVAL, "found more than %d nested or %d plain values, expected a report", NESTED_MAX, VALUES_MAX);
	if (t.r < 0)
		return t.r;
	r = parse(text, len, &o, &why);
	if (r == -ENOMEM)
		take_fail(&t, &root, NULL, r, "out of memory");
	else if (r < 0)
		take_fail(&t, &root, NULL, r, "no JSON text: %s", why);
	if (r < 0)
		return r;
	r = report_from_json(o, ret_, error, error_size);
	json_object_put(o);
	return r;
}
