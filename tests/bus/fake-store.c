/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "core/phases.h"
#include "fake-store.h"
#include "store/report-json.h"

struct entry {
	struct summary summary;
	char *json;
};

struct read {
	struct store *store;
	char id[REPORT_ID_LEN + 1];
	void (*done)(int r, const char *json, void *userdata);
	void *userdata;
};

struct store {
	GPtrArray *entries; /* newest first */
	GArray *domains;    /* struct store_domain; empty: to be computed */
	GPtrArray *held;
	GQueue soon;        /* reads that are answered in the next turn */
	guint idle;
	bool hold;
	const char *trouble;
	uint64_t pruned;
};

static void entry_free(void *data)
{
	struct entry *e = data;

	free(e->summary.name);
	free(e->summary.uri);
	free(e->json);
	free(e);
}

struct store *fake_store_new(void)
{
	struct store *s = g_new0(struct store, 1);

	s->entries = g_ptr_array_new_with_free_func(entry_free);
	s->domains = g_array_new(FALSE, FALSE, sizeof(struct store_domain));
	s->held = g_ptr_array_new();
	g_queue_init(&s->soon);
	return s;
}

static const struct entry *find_exact(const struct store *s, const char *id)
{
	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *e = g_ptr_array_index(s->entries, i);

		if (strcmp(e->summary.id, id) == 0)
			return e;
	}
	return NULL;
}

static void answer(struct read *r, int result)
{
	const struct entry *e = find_exact(r->store, r->id);

	if (result == 0 && !e)
		result = -ENOENT;
	r->done(result, result == 0 ? e->json : NULL, r->userdata);
	free(r);
}

struct store *fake_store_free(struct store *s)
{
	struct read *r;

	if (!s)
		return NULL;
	fake_store_release(s, -ECANCELED);
	while ((r = g_queue_pop_head(&s->soon)))
		answer(r, -ECANCELED);
	if (s->idle)
		g_source_remove(s->idle);
	g_array_unref(s->domains);
	g_ptr_array_unref(s->held);
	g_ptr_array_unref(s->entries);
	g_free(s);
	return NULL;
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
	const struct summary *x = &(*(struct entry *const *) a)->summary, *y = &(*(struct entry *const *) b)->summary;

	return x->began_usec != y->began_usec ? (x->began_usec < y->began_usec) - (x->began_usec > y->began_usec) : strcmp(y->id, x->id);
}

static void add(struct store *s, const struct report *r, char *json)
{
	const struct entry *old = find_exact(s, r->id);
	struct entry *e = calloc(1, sizeof(*e));
	struct report copy = *r;
	struct phases p;

	phases_clamp(&copy);
	phases_compute(&copy, &p);
	e->json = json;
	e->summary = (struct summary) {
		.name = strdup(r->name), .uri = strdup(r->uri), .side = r->side, .operation = r->operation, .driver = r->driver,
		.outcome = r->outcome, .cause = r->cause, .began_usec = report_began_usec(r), .total_known = p.total_known,
		.blackout_known = p.blackout_known, .blackout_lower_bound = p.blackout_lower_bound, .paused = r->paused,
		.total_usec = p.total_usec, .blackout_usec = p.blackout_usec, .bytes = strlen(json),
	};
	memcpy(e->summary.id, r->id, sizeof(e->summary.id));
	memcpy(e->summary.uuid, r->uuid, sizeof(e->summary.uuid));
	g_array_set_size(s->domains, 0);
	if (old)
		g_ptr_array_remove(s->entries, (gpointer) old);
	g_ptr_array_add(s->entries, e);
	g_ptr_array_sort(s->entries, newest_first);
}

int fake_store_add_text(struct store *s, const char *json, char *error, size_t error_size)
{
	struct report r;
	int result;

	result = report_from_text(json, strlen(json), &r, error, error_size);
	if (result < 0)
		return result;
	add(s, &r, strdup(json));
	return 0;
}

int fake_store_load(struct store *s, const char *dir)
{
	GDir *d = g_dir_open(dir, 0, NULL);
	const char *name;
	int n = 0;

	if (!d)
		return -ENOENT;
	while ((name = g_dir_read_name(d))) {
		char *path = g_build_filename(dir, name, NULL), *json = NULL, error[256] = "it cannot be read";

		if (g_str_has_suffix(name, ".json")) {
			if (g_file_get_contents(path, &json, NULL, NULL) && fake_store_add_text(s, json, error, sizeof(error)) == 0)
				n++;
			else
				fprintf(stderr, "fake-store: %s: %s\n", path, error);
		}
		g_free(json);
		g_free(path);
	}
	g_dir_close(d);
	return n;
}

void fake_store_drop_oldest(struct store *s)
{
	if (!s->entries->len)
		return;
	g_array_set_size(s->domains, 0);
	g_ptr_array_remove_index(s->entries, s->entries->len - 1);
	s->pruned++;
}

void fake_store_set_trouble(struct store *s, const char *trouble)
{
	s->trouble = trouble;
}

void fake_store_hold(struct store *s, bool hold)
{
	s->hold = hold;
}

unsigned fake_store_held(const struct store *s)
{
	return s->held->len;
}

void fake_store_release(struct store *s, int result)
{
	while (s->held->len)
		answer(g_ptr_array_steal_index(s->held, 0), result);
}

/* From here on: what store.h promises. */

void store_put(struct store *s, const struct report *r)
{
	add(s, r, report_to_text(r));
}

static bool matches(const struct summary *s, const struct store_filter *f)
{
	return (!f->domain || strcmp(f->domain, s->uuid) == 0 || strcmp(f->domain, s->name) == 0) &&
		(!f->since_usec || s->began_usec >= f->since_usec) && (!f->until_usec || s->began_usec <= f->until_usec) &&
		(!f->outcomes || f->outcomes & 1u << s->outcome) && (!f->sides || f->sides & 1u << s->side);
}

uint32_t store_list(struct store *s, const struct store_filter *f, uint32_t offset, const struct summary **ret_, uint32_t max, uint32_t *ret_n)
{
	uint32_t total = 0, n = 0;

	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *e = g_ptr_array_index(s->entries, i);

		if (!matches(&e->summary, f))
			continue;
		if (total++ >= offset && n < max)
			ret_[n++] = &e->summary;
	}
	*ret_n = n;
	return total;
}

int store_find(struct store *s, const char *id, const struct summary **ret_)
{
	const struct summary *found = NULL;

	for (guint i = 0; i < s->entries->len; i++) {
		const struct entry *e = g_ptr_array_index(s->entries, i);

		if (strncmp(e->summary.id, id, strlen(id)) != 0)
			continue;
		if (found)
			return -ENOTUNIQ;
		found = &e->summary;
	}
	if (!found)
		return -ENOENT;
	*ret_ = found;
	return 0;
}

/* In order of their newest report; names belong to the entries. */
static GArray *domains_of(struct store *s)
{
	GHashTable *seen;

	if (s->domains->len || !s->entries->len)
		return s->domains;
	seen = g_hash_table_new(g_str_hash, g_str_equal); /* UUID -> number + 1 */
	for (guint i = 0; i < s->entries->len; i++) {
		const struct summary *e = &((const struct entry *) g_ptr_array_index(s->entries, i))->summary;
		guint n = GPOINTER_TO_UINT(g_hash_table_lookup(seen, e->uuid));
		struct store_domain d = { .name = e->name, .reports = 1, .last_outcome = e->outcome };

		if (n) {
			g_array_index(s->domains, struct store_domain, n - 1).reports++;
			continue;
		}
		memcpy(d.uuid, e->uuid, sizeof(d.uuid));
		memcpy(d.last_id, e->id, sizeof(d.last_id));
		g_array_append_val(s->domains, d);
		g_hash_table_insert(seen, (gpointer) e->uuid, GUINT_TO_POINTER(s->domains->len));
	}
	g_hash_table_unref(seen);
	return s->domains;
}

bool store_domain_nth(struct store *s, uint32_t n, struct store_domain *ret_)
{
	const GArray *domains = domains_of(s);

	if (n >= domains->len)
		return false;
	*ret_ = g_array_index(domains, struct store_domain, n);
	return true;
}

bool store_domain_find(struct store *s, const char *uuid, struct store_domain *ret_)
{
	for (uint32_t n = 0; store_domain_nth(s, n, ret_); n++)
		if (strcmp(ret_->uuid, uuid) == 0)
			return true;
	return false;
}

static gboolean on_idle(gpointer userdata)
{
	struct store *s = userdata;
	struct read *r = g_queue_pop_head(&s->soon);

	if (r)
		answer(r, 0);
	if (!g_queue_is_empty(&s->soon))
		return G_SOURCE_CONTINUE;
	s->idle = 0;
	return G_SOURCE_REMOVE;
}

void store_read(struct store *s, const char *id, void (*done)(int r, const char *json, void *userdata), void *userdata)
{
	struct read *r = calloc(1, sizeof(*r));

	*r = (struct read) { .store = s, .done = done, .userdata = userdata };
	g_strlcpy(r->id, id, sizeof(r->id));
	if (s->hold) {
		g_ptr_array_add(s->held, r);
		return;
	}
	g_queue_push_tail(&s->soon, r);
	if (!s->idle)
		s->idle = g_idle_add(on_idle, s);
}

void store_get_counters(const struct store *s, struct store_counters *ret_)
{
	*ret_ = (struct store_counters) { .reports = s->entries->len, .pruned = s->pruned };
}

const char *store_trouble(const struct store *s)
{
	return s->trouble;
}
