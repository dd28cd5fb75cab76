/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "bus/domains.h"

/* What tells that the index has changed: every report that enters or leaves it moves one of these. */
struct stamp {
	uint64_t reports, pruned, dropped;
};

struct domain_table {
	struct domain_view *views; /* in order of UUID */
	unsigned n;
	struct stamp stamp;
	bool touched;
};

static struct stamp stamp_of(const struct store *s)
{
	struct store_counters c;

	store_get_counters(s, &c);
	return (struct stamp) { .reports = c.reports, .pruned = c.pruned, .dropped = c.dropped };
}

struct domain_table *domain_table_new(void)
{
	struct domain_table *d = calloc(1, sizeof(*d));

	if (d)
		d->touched = true;
	return d;
}

struct domain_table *domain_table_free(struct domain_table *d)
{
	if (d)
		free(d->views);
	free(d);
	return NULL;
}

void domain_table_touch(struct domain_table *d)
{
	d->touched = true;
}

bool domain_table_is_stale(const struct domain_table *d, const struct store *s)
{
	struct stamp now = stamp_of(s);

	return d->touched || now.reports != d->stamp.reports || now.pruned != d->stamp.pruned || now.dropped != d->stamp.dropped;
}

static int by_uuid(const void *a, const void *b)
{
	return strcmp(((const struct domain_view *) a)->uuid, ((const struct domain_view *) b)->uuid);
}

/* Summaries come newest first: the first of a domain is its last report. Keyed by the views' own UUIDs, so the table must
 * not move. A report whose UUID is none (only a hand-made file has that) cannot become a path. */
static unsigned collect(const struct summary **list, uint32_t n, struct domain_view *views, unsigned max)
{
	GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
	unsigned count = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct domain_view *v = g_hash_table_lookup(seen, list[i]->uuid);

		if (v) {
			v->reports++;
			continue;
		}
		if (count == max || !report_uuid_is_valid(list[i]->uuid))
			continue;
		v = &views[count++];
		*v = (struct domain_view) { .last_outcome = list[i]->outcome, .reports = 1 };
		memcpy(v->uuid, list[i]->uuid, sizeof(v->uuid));
		memcpy(v->last_id, list[i]->id, sizeof(v->last_id));
		report_copy_text(v->name, sizeof(v->name), list[i]->name ? list[i]->name : "");
		g_hash_table_insert(seen, v->uuid, v);
	}
	g_hash_table_unref(seen);
	return count;
}

static bool same(const struct domain_view *a, const struct domain_view *b)
{
	return a->reports == b->reports && a->last_outcome == b->last_outcome && strcmp(a->last_id, b->last_id) == 0 &&
		strcmp(a->name, b->name) == 0;
}

struct sides {
	const struct domain_view *old;
	unsigned n_old;
	const struct domain_view *new;
	unsigned n_new;
};

/* Both are sorted: one walk along both. */
static void tell(const struct sides *s, void (*changed)(enum domains_change, const struct domain_view *, void *), void *userdata)
{
	for (unsigned i = 0, j = 0; i < s->n_old || j < s->n_new;) {
		int order = i == s->n_old ? 1 : j == s->n_new ? -1 : strcmp(s->old[i].uuid, s->new[j].uuid);

		if (order < 0) {
			changed(DOMAINS_REMOVED, &s->old[i++], userdata);
		} else if (order > 0) {
			changed(DOMAINS_ADDED, &s->new[j++], userdata);
		} else {
			if (!same(&s->old[i], &s->new[j]))
				changed(DOMAINS_CHANGED, &s->new[j], userdata);
			i++, j++;
		}
	}
}

static int list_all(struct store *s, const struct summary ***ret_, uint32_t *ret_n)
{
	const struct store_filter any = { 0 };
	const struct summary **list;
	struct store_counters c;
	uint32_t max;

	store_get_counters(s, &c);
	max = c.reports < UINT32_MAX ? (uint32_t) c.reports : UINT32_MAX;
	list = calloc(max ? max : 1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*ret_n = 0;
	store_list(s, &any, 0, list, max, ret_n);
	*ret_ = list;
	return 0;
}

int domain_table_update(struct domain_table *d, struct store *s,
	void (*changed)(enum domains_change what, const struct domain_view *v, void *userdata), void *userdata)
{
	struct domain_view *views, *fit, *old = d->views;
	struct sides sides = { .old = old, .n_old = d->n };
	const struct summary **list;
	uint32_t n;
	int r;

	r = list_all(s, &list, &n);
	if (r < 0)
		return r;
	views = calloc(n < DOMAINS_MAX ? n + 1 : DOMAINS_MAX, sizeof(*views));
	if (!views) {
		free(list);
		return -ENOMEM;
	}
	d->n = collect(list, n, views, n < DOMAINS_MAX ? n : DOMAINS_MAX);
	free(list);
	qsort(views, d->n, sizeof(*views), by_uuid);
	fit = realloc(views, (d->n + 1) * sizeof(*views));
	d->views = fit ? fit : views;
	d->stamp = stamp_of(s);
	d->touched = false;
	sides.new = d->views;
	sides.n_new = d->n;
	if (changed)
		tell(&sides, changed, userdata);
	free(old);
	return 0;
}

unsigned domain_table_count(const struct domain_table *d)
{
	return d->n;
}

const struct domain_view *domain_table_nth(const struct domain_table *d, unsigned n)
{
	return n < d->n ? &d->views[n] : NULL;
}

const struct domain_view *domain_table_find(const struct domain_table *d, const char *uuid)
{
	struct domain_view key;

	if (!d->n || strlen(uuid) >= sizeof(key.uuid))
		return NULL;
	strcpy(key.uuid, uuid);
	return bsearch(&key, d->views, d->n, sizeof(*d->views), by_uuid);
}
