/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Two arrays side by side, in order of (began, id): ids, to be searched quickly, and the rest. Reports come in almost in
 * order and the oldest go first, so putting in moves few entries and taking out moves none: "head" is the first in use.
 * Finding an id looks at all of them: 10,000 take 80 KB and some microseconds. */

#include <errno.h>
#include <string.h>

#include <glib.h>

#include "store/domains.h"
#include "store/index.h"
#include "store/summary.h"

enum entry_flags {
	ENTRY_TOTAL = 1 << 0, ENTRY_BLACKOUT = 1 << 1, ENTRY_LOWER_BOUND = 1 << 2, ENTRY_PAUSED = 1 << 3,
};

struct entry {
	int64_t began;
	uint64_t total, blackout;
	struct domain *domain;
	const char *name, *uri; /* interned, owned */
	uint32_t bytes;
	uint8_t side, operation, driver, outcome, cause, flags;
};

struct index {
	uint64_t *ids;
	struct entry *entries;
	size_t head, tail, size;
	uint64_t bytes;
	struct domains *domains;
	struct summary *scratch;
	size_t scratch_n;
};

struct index *index_new(void)
{
	struct index *ix = g_new0(struct index, 1);

	ix->domains = domains_new();
	return ix;
}

static void entry_release(struct entry *e)
{
	g_ref_string_release((char *) e->name);
	g_ref_string_release((char *) e->uri);
}

void index_free(struct index *ix)
{
	if (!ix)
		return;
	for (size_t i = ix->head; i < ix->tail; i++)
		entry_release(&ix->entries[i]);
	domains_free(ix->domains);
	g_free(ix->ids);
	g_free(ix->entries);
	g_free(ix->scratch);
	g_free(ix);
}

size_t index_count(const struct index *ix)
{
	return ix->tail - ix->head;
}

uint64_t index_bytes(const struct index *ix)
{
	return ix->bytes;
}

static void move(struct index *ix, size_t to, size_t from, size_t n)
{
	memmove(ix->ids + to, ix->ids + from, n * sizeof(*ix->ids));
	memmove(ix->entries + to, ix->entries + from, n * sizeof(*ix->entries));
}

/* Makes room for one more behind the tail: moves down when half is unused, grows by half otherwise. */
static void reserve(struct index *ix)
{
	if (ix->tail < ix->size)
		return;
	if (ix->head > ix->size / 2) {
		move(ix, 0, ix->head, ix->tail - ix->head);
		ix->tail -= ix->head;
		ix->head = 0;
		return;
	}
	ix->size = MAX(64, ix->size + ix->size / 2);
	ix->ids = g_renew(uint64_t, ix->ids, ix->size);
	ix->entries = g_renew(struct entry, ix->entries, ix->size);
}

static bool is_before(const struct index *ix, size_t at, int64_t began, uint64_t id)
{
	return ix->entries[at].began != began ? ix->entries[at].began < began : ix->ids[at] < id;
}

/* The first place that is not before (began, id). */
static size_t place_of(const struct index *ix, int64_t began, uint64_t id)
{
	size_t low = ix->head, high = ix->tail;

	if (high > low && is_before(ix, high - 1, began, id))
		return high;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (is_before(ix, middle, began, id))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void domain_set_last(struct domain *d, uint64_t id, const struct entry *e)
{
	const char *name = g_ref_string_acquire((char *) e->name);

	if (d->last_name)
		g_ref_string_release((char *) d->last_name);
	d->last_name = name;
	d->last_id = id;
	d->last_began = e->began;
	d->last_outcome = e->outcome;
}

static void domain_gains(struct domain *d, uint64_t id, const struct entry *e)
{
	if (d->reports++ == 0 || e->began >= d->last_began)
		domain_set_last(d, id, e);
}

/* The entry is still in its place. Its domain's newest goes only when a report is replaced: then a search is fine. */
static void domain_loses(struct index *ix, size_t at)
{
	struct domain *d = ix->entries[at].domain;

	if (--d->reports == 0) {
		domains_remove(ix->domains, d);
		return;
	}
	if (d->last_id != ix->ids[at])
		return;
	for (size_t i = ix->tail; i-- > ix->head;)
		if (i != at && ix->entries[i].domain == d) {
			domain_set_last(d, ix->ids[i], &ix->entries[i]);
			return;
		}
}

static struct entry entry_of(struct index *ix, const struct summary *s)
{
	uint8_t uuid[16];

	uuid_to_bytes(s->uuid, uuid);
	return (struct entry) {
		.began = s->began_usec, .total = s->total_usec, .blackout = s->blackout_usec,
		.domain = domains_take(ix->domains, uuid),
		.name = g_ref_string_new_intern(s->name), .uri = g_ref_string_new_intern(s->uri),
		.bytes = (uint32_t) s->bytes,
		.side = (uint8_t) s->side, .operation = (uint8_t) s->operation, .driver = (uint8_t) s->driver,
		.outcome = (uint8_t) s->outcome, .cause = (uint8_t) s->cause,
		.flags = (uint8_t) ((s->total_known ? ENTRY_TOTAL : 0) | (s->blackout_known ? ENTRY_BLACKOUT : 0) |
			 (s->blackout_lower_bound ? ENTRY_LOWER_BOUND : 0) | (s->paused ? ENTRY_PAUSED : 0)),
	};
}

void index_put(struct index *ix, const struct summary *s)
{
	uint64_t id = id_from_text(s->id);
	struct entry e;
	size_t at;

	index_remove(ix, id);
	reserve(ix);
	at = place_of(ix, s->began_usec, id);
	move(ix, at + 1, at, ix->tail - at);
	ix->tail++;
	e = entry_of(ix, s);
	ix->ids[at] = id;
	ix->entries[at] = e;
	ix->bytes += e.bytes;
	domain_gains(e.domain, id, &e);
}

static bool find(const struct index *ix, uint64_t id, size_t *ret_)
{
	/* What is asked for is most often among the newest. */
	for (size_t i = ix->tail; i-- > ix->head;)
		if (ix->ids[i] == id) {
			*ret_ = i;
			return true;
		}
	return false;
}

bool index_remove(struct index *ix, uint64_t id)
{
	size_t at;

	if (ix->head < ix->tail && ix->ids[ix->head] == id)
		at = ix->head;
	else if (!find(ix, id, &at))
		return false;
	domain_loses(ix, at);
	ix->bytes -= ix->entries[at].bytes;
	entry_release(&ix->entries[at]);
	if (at == ix->head) {
		ix->head++;
		return true;
	}
	move(ix, at, at + 1, ix->tail - at - 1);
	ix->tail--;
	return true;
}

bool index_set_bytes(struct index *ix, uint64_t id, uint64_t bytes)
{
	size_t at;

	if (!find(ix, id, &at))
		return false;
	ix->bytes += bytes - ix->entries[at].bytes;
	ix->entries[at].bytes = (uint32_t) bytes;
	return true;
}

static void summary_at(const struct index *ix, size_t at, struct summary *ret_)
{
	const struct entry *e = &ix->entries[at];

	*ret_ = (struct summary) {
		.name = (char *) e->name, .uri = (char *) e->uri,
		.side = (enum side) e->side, .operation = (enum operation) e->operation, .driver = (enum driver) e->driver,
		.outcome = (enum outcome) e->outcome, .cause = (enum cause) e->cause,
		.began_usec = e->began, .bytes = e->bytes,
		.total_known = e->flags & ENTRY_TOTAL, .total_usec = e->total,
		.blackout_known = e->flags & ENTRY_BLACKOUT, .blackout_usec = e->blackout,
		.blackout_lower_bound = e->flags & ENTRY_LOWER_BOUND, .paused = e->flags & ENTRY_PAUSED,
	};
	id_to_text(ix->ids[at], ret_->id);
	uuid_from_bytes(e->domain->uuid, ret_->uuid);
}

void index_get(const struct index *ix, size_t position, struct summary *ret_)
{
	summary_at(ix, ix->head + position, ret_);
}

bool index_find(const struct index *ix, uint64_t id, size_t *ret_position)
{
	size_t at;

	if (!find(ix, id, &at))
		return false;
	*ret_position = at - ix->head;
	return true;
}

int index_find_prefix(const struct index *ix, uint64_t prefix, unsigned digits, size_t *ret_position)
{
	unsigned shift = 64 - 4 * digits;
	size_t found = 0, at = 0;

	for (size_t i = ix->head; i < ix->tail && found < 2; i++)
		if (ix->ids[i] >> shift == prefix) {
			found++;
			at = i;
		}
	if (found != 1)
		return found ? -ENOTUNIQ : -ENOENT;
	*ret_position = at - ix->head;
	return 0;
}

struct summary *index_scratch(struct index *ix, size_t n)
{
	if (n > ix->scratch_n) {
		ix->scratch = g_renew(struct summary, ix->scratch, n);
		ix->scratch_n = n;
	}
	return ix->scratch;
}

struct match {
	const struct store_filter *f;
	const struct domain *domain; /* when the filter's domain is a UUID */
	bool by_uuid;
};

static bool fits(const struct match *m, const struct entry *e)
{
	const struct store_filter *f = m->f;

	if (f->since_usec && e->began < f->since_usec)
		return false;
	if (f->until_usec && e->began > f->until_usec)
		return false;
	if (f->outcomes && !(f->outcomes & (1u << e->outcome)))
		return false;
	if (f->sides && !(f->sides & (1u << e->side)))
		return false;
	if (!f->domain)
		return true;
	return m->by_uuid ? e->domain == m->domain : strcmp(e->name, f->domain) == 0;
}

uint32_t index_list(struct index *ix, const struct store_filter *f, uint32_t offset, const struct summary **ret_, uint32_t max, uint32_t *ret_n)
{
	static const struct store_filter all;
	struct match m = { .f = f ? f : &all };
	struct summary *out = index_scratch(ix, MIN(max, index_count(ix)));
	uint32_t matches = 0, n = 0;
	uint8_t uuid[16];

	if (m.f->domain && report_uuid_is_valid(m.f->domain)) {
		uuid_to_bytes(m.f->domain, uuid);
		m.by_uuid = true;
		m.domain = domains_find(ix->domains, uuid);
	}
	for (size_t i = ix->tail; i-- > ix->head;) {
		if (!fits(&m, &ix->entries[i]))
			continue;
		if (matches++ < offset || n >= max)
			continue;
		summary_at(ix, i, &out[n]);
		ret_[n] = &out[n];
		n++;
	}
	*ret_n = n;
	return matches;
}

bool index_domain_nth(const struct index *ix, uint32_t n, struct store_domain *ret_)
{
	const struct domain *d = domains_nth(ix->domains, n);

	if (!d)
		return false;
	*ret_ = (struct store_domain) { .name = d->last_name, .reports = d->reports, .last_outcome = (enum outcome) d->last_outcome };
	uuid_from_bytes(d->uuid, ret_->uuid);
	id_to_text(d->last_id, ret_->last_id);
	return true;
}

bool index_domain_find(const struct index *ix, const char *uuid, struct store_domain *ret_)
{
	struct domain *d;
	uint8_t bytes[16];

	uuid_to_bytes(uuid, bytes);
	d = report_uuid_is_valid(uuid) ? domains_find(ix->domains, bytes) : NULL;
	return d && index_domain_nth(ix, d->position, ret_);
}
