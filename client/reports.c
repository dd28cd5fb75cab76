/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "json.h"
#include "reports.h"
#include "rollbackd/names.h"

#define PAGE_SIZE_MAX 1000 /* the most that ListReports gives at once */

void summary_done(struct summary *s)
{
	char **texts[] = { &s->id, &s->uuid, &s->name, &s->uri, &s->side, &s->operation, &s->driver, &s->outcome, &s->cause, &s->state, &s->phase };

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		free(*texts[i]);
	*s = (struct summary) { 0 };
}

void summaries_done(struct summaries *s)
{
	for (size_t i = 0; i < s->n; i++)
		summary_done(&s->v[i]);
	free(s->v);
	*s = (struct summaries) { 0 };
}

static void take(struct summaries *s, struct summary *one)
{
	s->v = xrealloc(s->v, s->n + 1, sizeof *s->v);
	s->v[s->n++] = *one;
	*one = (struct summary) { 0 };
}

static char **text_field(struct summary *s, const char *key)
{
	const struct {
		const char *key;
		char **field;
	} fields[] = {
		{ "Id", &s->id }, { "Uuid", &s->uuid }, { "Name", &s->name }, { "Uri", &s->uri }, { "Side", &s->side },
		{ "Operation", &s->operation }, { "Driver", &s->driver }, { "Outcome", &s->outcome }, { "Cause", &s->cause },
		{ "State", &s->state }, { "Phase", &s->phase },
	};

	for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
		if (strcmp(fields[i].key, key) == 0)
			return fields[i].field;
	return NULL;
}

static uint64_t *time_field(struct summary *s, const char *key, bool **ret_known)
{
	static bool ignored;

	*ret_known = &ignored;
	if (strcmp(key, "BeganUSec") == 0)
		return &s->began_usec;
	if (strcmp(key, "TotalUSec") == 0) {
		*ret_known = &s->total_known;
		return &s->total_usec;
	}
	if (strcmp(key, "BlackoutUSec") == 0) {
		*ret_known = &s->blackout_known;
		return &s->blackout_usec;
	}
	return NULL;
}

/* One value of a{sv}; what is not known, or of another type than agreed, is passed over. */
static int read_value(sd_bus_message *m, const char *key, struct summary *s)
{
	char **text = text_field(s, key);
	bool *known;
	uint64_t *time = time_field(s, key, &known);
	const char *contents, *word;
	int r, flag;

	r = sd_bus_message_peek_type(m, NULL, &contents);
	if (r < 0)
		return r;
	if (text && strcmp(contents, "s") == 0) {
		r = sd_bus_message_read(m, "v", "s", &word);
		if (r > 0) {
			free(*text);
			*text = xstrdup(word);
		}
		return r;
	}
	if (time && strcmp(contents, "t") == 0) {
		*known = true;
		return sd_bus_message_read(m, "v", "t", time);
	}
	if (strcmp(key, "Iterations") == 0 && strcmp(contents, "u") == 0)
		return sd_bus_message_read(m, "v", "u", &s->iterations);
	if ((strcmp(key, "Paused") == 0 || strcmp(key, "BlackoutLowerBound") == 0) && strcmp(contents, "b") == 0) {
		r = sd_bus_message_read(m, "v", "b", &flag);
		*(*key == 'P' ? &s->paused : &s->blackout_lower_bound) = r > 0 && flag;
		return r;
	}
	return sd_bus_message_skip(m, "v");
}

static void complete(struct summary *s)
{
	char **texts[] = { &s->id, &s->uuid, &s->name, &s->uri, &s->side, &s->operation, &s->driver, &s->outcome, &s->cause };

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (!*texts[i])
			*texts[i] = xstrdup("");
}

static int read_summary(sd_bus_message *m, struct summary *ret_)
{
	struct summary s = { 0 };
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0)
			r = read_value(m, key, &s);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0) {
		summary_done(&s);
		return r;
	}
	complete(&s);
	*ret_ = s;
	return 0;
}

int summary_read_migration(sd_bus_message *m, struct summary *ret_)
{
	int r = read_summary(m, ret_);

	if (r >= 0)
		ret_->live = true;
	return r;
}

static int append_words(sd_bus_message *m, const char *key, const char *const *words)
{
	int r = sd_bus_message_open_container(m, 'e', "sv");

	if (r >= 0)
		r = sd_bus_message_append(m, "s", key);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "as");
	if (r >= 0)
		r = sd_bus_message_append_strv(m, (char **) (uintptr_t) words);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append_filter(sd_bus_message *m, const struct report_filter *f)
{
	int r = sd_bus_message_open_container(m, 'a', "{sv}");

	if (r >= 0 && f->domain)
		r = sd_bus_message_append(m, "{sv}", "Domain", "s", f->domain);
	if (r >= 0 && f->since_usec)
		r = sd_bus_message_append(m, "{sv}", "SinceUSec", "t", f->since_usec);
	if (r >= 0 && f->until_usec)
		r = sd_bus_message_append(m, "{sv}", "UntilUSec", "t", f->until_usec);
	if (r >= 0 && f->outcomes && *f->outcomes)
		r = append_words(m, "Outcomes", f->outcomes);
	if (r >= 0 && f->sides && *f->sides)
		r = append_words(m, "Sides", f->sides);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

static bool already_there(const struct summaries *s, const char *id)
{
	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->v[i].id, id) == 0)
			return true;
	return false;
}

/* A page; a report that arrived meanwhile pushes the last of one page onto the next, so doubles are dropped. */
static int read_page(sd_bus_message *m, struct summaries *s, uint32_t *ret_n, uint32_t *ret_total)
{
	struct summary one;
	int r = sd_bus_message_enter_container(m, 'a', "a{sv}");

	*ret_n = 0;
	while (r >= 0 && (r = sd_bus_message_at_end(m, 0)) == 0) {
		r = read_summary(m, &one);
		if (r < 0)
			break;
		++*ret_n;
		if (already_there(s, one.id))
			summary_done(&one);
		else
			take(s, &one);
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r < 0 ? r : sd_bus_message_read(m, "u", ret_total);
}

static int list_page(struct ctl *c, sd_bus *bus, const struct report_filter *f, uint32_t offset, uint32_t limit, sd_bus_message **ret_)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	int r = sd_bus_message_new_method_call(bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "ListReports");

	if (r >= 0)
		r = append_filter(m, f);
	if (r >= 0)
		r = sd_bus_message_append(m, "uu", offset, limit);
	return r < 0 ? bus_explain(c, NULL, r) : bus_send(c, bus, m, ret_);
}

int reports_list(struct ctl *c, sd_bus *bus, const struct report_filter *f, uint64_t limit, struct summaries *s, uint64_t *ret_total)
{
	uint32_t offset = 0, n, total;
	size_t before = s->n;

	do {
		_cleanup_message_ sd_bus_message *m = NULL;
		uint64_t left = limit ? limit - (s->n - before) : PAGE_SIZE_MAX;
		int r = list_page(c, bus, f, offset, left < PAGE_SIZE_MAX ? (uint32_t) left : PAGE_SIZE_MAX, &m);

		if (r != CTL_OK)
			return r;
		r = read_page(m, s, &n, &total);
		if (r < 0)
			return bus_bad_answer(c, r);
		offset += n;
	} while (n > 0 && offset < total && (limit == 0 || s->n - before < limit));
	*ret_total = total;
	return CTL_OK;
}

static bool is_one_of(const char *word, const char *const *words)
{
	if (!words || !*words)
		return true;
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

bool summary_matches(const struct summary *s, const struct report_filter *f)
{
	if (f->domain && strcmp(f->domain, s->uuid) != 0 && strcmp(f->domain, s->name) != 0)
		return false;
	if (f->since_usec && s->began_usec < f->since_usec)
		return false;
	return is_one_of(s->side, f->sides);
}

static int read_interfaces(sd_bus_message *m, const struct report_filter *f, struct summaries *s)
{
	const char *interface;
	int r = sd_bus_message_enter_container(m, 'a', "{sa{sv}}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sa{sv}")) > 0) {
		struct summary one = { 0 };

		r = sd_bus_message_read(m, "s", &interface);
		if (r >= 0 && strcmp(interface, RBD_IFACE_MIGRATION) == 0) {
			r = summary_read_migration(m, &one);
			if (r >= 0 && summary_matches(&one, f))
				take(s, &one);
			summary_done(&one);
		} else if (r >= 0) {
			r = sd_bus_message_skip(m, "a{sv}");
		}
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_objects(sd_bus_message *m, const struct report_filter *f, struct summaries *s)
{
	int r = sd_bus_message_enter_container(m, 'a', "{oa{sa{sv}}}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "oa{sa{sv}}")) > 0) {
		r = sd_bus_message_skip(m, "o");
		if (r >= 0)
			r = read_interfaces(m, f, s);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r;
}

static int newest_first(const void *a, const void *b)
{
	const struct summary *x = a, *y = b;

	if (x->began_usec != y->began_usec)
		return x->began_usec < y->began_usec ? 1 : -1;
	return strcmp(x->id, y->id);
}

int reports_live(struct ctl *c, sd_bus *bus, const struct report_filter *f, struct summaries *s)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	size_t before = s->n;
	int r = bus_call(c, bus, RBD_PATH_MANAGER, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &m, NULL);

	if (r != CTL_OK)
		return r;
	r = read_objects(m, f, s);
	if (r < 0)
		return bus_bad_answer(c, r);
	if (s->n > before)
		qsort(s->v + before, s->n - before, sizeof *s->v, newest_first);
	return CTL_OK;
}

int report_get(struct ctl *c, sd_bus *bus, const char *id, struct json_object **ret_)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	struct json_object *o;
	const char *text;
	int r = bus_call(c, bus, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "GetReport", &m, "s", id);

	if (r != CTL_OK)
		return r;
	r = sd_bus_message_read(m, "s", &text);
	if (r < 0)
		return bus_bad_answer(c, r);
	o = json_tokener_parse(text);
	if (!json_object_is_type(o, json_type_object)) {
		json_object_put(o);
		return ctl_fail(c, CTL_FAILED, "rollbackd's report is not a JSON object");
	}
	*ret_ = o;
	return CTL_OK;
}

struct json_object *summary_to_json(const struct summary *s)
{
	struct json_object *o = json_object_new_object();

	json_add_text(o, "id", s->id);
	json_add_text(o, "uuid", s->uuid);
	json_add_text(o, "name", s->name);
	json_add_text(o, "uri", s->uri);
	json_add_text(o, "side", s->side);
	json_add_text(o, "operation", s->operation);
	json_add_text(o, "driver", s->driver);
	if (s->began_usec)
		json_add_date(o, "began", (int64_t) s->began_usec);
	else
		json_add_text(o, "began", NULL);
	if (s->live) {
		json_add_text(o, "state", s->state);
		json_add_text(o, "phase", s->phase && *s->phase ? s->phase : NULL);
		json_add_count(o, "iterations", s->iterations);
		return o;
	}
	json_add_text(o, "outcome", s->outcome);
	json_add_text(o, "cause", s->cause);
	json_add_bool(o, "paused", s->paused);
	json_add_count_or_null(o, "total_us", s->total_known, s->total_usec);
	json_add_count_or_null(o, "blackout_us", s->blackout_known, s->blackout_usec);
	json_add_bool(o, "blackout_lower_bound", s->blackout_known && s->blackout_lower_bound);
	return o;
}
