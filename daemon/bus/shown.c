/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/shown.h"

/* A name changes with a report only, so the id tells that too. */
struct told {
	char uuid[REPORT_UUID_LEN + 1];
	char last_id[REPORT_ID_LEN + 1];
	uint32_t reports;
	enum outcome last_outcome;
};

struct told_list {
	struct told *item; /* in order of UUID */
	unsigned n;
};

struct shown {
	struct told_list list;
};

struct shown *shown_new(void)
{
	return calloc(1, sizeof(struct shown));
}

struct shown *shown_free(struct shown *s)
{
	if (s)
		free(s->list.item);
	free(s);
	return NULL;
}

static int by_uuid(const void *a, const void *b)
{
	return strcmp(((const struct told *) a)->uuid, ((const struct told *) b)->uuid);
}

static int collect(struct store *store, struct told_list *ret_)
{
	struct store_domain d;
	struct told *item;
	unsigned n = 0;

	while (n < SHOWN_MAX && store_domain_nth(store, n, &d))
		n++;
	item = calloc(n + 1, sizeof(*item));
	if (!item)
		return -ENOMEM;
	for (unsigned i = 0; i < n && store_domain_nth(store, i, &d); i++) {
		item[i] = (struct told) { .reports = d.reports, .last_outcome = d.last_outcome };
		memcpy(item[i].uuid, d.uuid, sizeof(d.uuid));
		memcpy(item[i].last_id, d.last_id, sizeof(d.last_id));
	}
	qsort(item, n, sizeof(*item), by_uuid);
	*ret_ = (struct told_list) { .item = item, .n = n };
	return 0;
}

static bool same(const struct told *a, const struct told *b)
{
	return a->reports == b->reports && a->last_outcome == b->last_outcome && strcmp(a->last_id, b->last_id) == 0;
}

/* Both are sorted: one walk along both. */
static void compare(const struct told_list *old, const struct told_list *new,
	void (*changed)(enum shown_change, const char *, void *), void *userdata)
{
	for (unsigned i = 0, j = 0; i < old->n || j < new->n;) {
		int order = i == old->n ? 1 : j == new->n ? -1 : strcmp(old->item[i].uuid, new->item[j].uuid);

		if (order < 0) {
			changed(SHOWN_REMOVED, old->item[i++].uuid, userdata);
		} else if (order > 0) {
			changed(SHOWN_ADDED, new->item[j++].uuid, userdata);
		} else {
			if (!same(&old->item[i], &new->item[j]))
				changed(SHOWN_CHANGED, new->item[j].uuid, userdata);
			i++, j++;
		}
	}
}

int shown_update(struct shown *s, struct store *store,
	void (*changed)(enum shown_change what, const char *uuid, void *userdata), void *userdata)
{
	struct told_list old = s->list, new;
	int r;

	r = collect(store, &new);
	if (r < 0)
		return r;
	s->list = new;
	if (changed)
		compare(&old, &new, changed, userdata);
	free(old.item);
	return 0;
}
