/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The main thread's face. It owns the index and the reports that are not on disk yet; the writer and the reader own their
 * threads and send letters. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "store/index.h"
#include "store/mailbox.h"
#include "store/reader.h"
#include "store/scan.h"
#include "store/store.h"
#include "store/summary.h"
#include "store/writer.h"

struct store {
	struct store_limits limits;
	struct store_events events;
	struct index *index;
	GHashTable *pending;  /* of id to struct report: finished, not on disk */
	GPtrArray *inflight;  /* what store_take_inflight() gives out */
	struct mailbox *mail;
	struct writer *writer;
	struct reader *reader;
	char *trouble;        /* as told; NULL: none */
	char *why;            /* the writer's part of it */
	bool dropping;
	uint64_t dropped, set_aside, pruned;
};

static void report_release(void *r)
{
	g_atomic_rc_box_release(r);
}

static void update_trouble(struct store *s)
{
	char *now = NULL;

	if (s->dropping)
		now = g_strdup_printf("%s; more than %u reports wait, the oldest are dropped",
				      s->why ? s->why : "reports are written too slowly", s->limits.max_pending);
	else if (s->why)
		now = g_strdup(s->why);
	if (g_strcmp0(now, s->trouble) == 0) {
		g_free(now);
		return;
	}
	g_free(s->trouble);
	s->trouble = now;
	if (s->events.trouble)
		s->events.trouble(s->events.userdata, s->trouble);
}

static void on_trouble(void *owner, const char *why)
{
	struct store *s = owner;

	g_free(s->why);
	s->why = g_strdup(why);
	update_trouble(s);
}

static void forget_dropping(struct store *s)
{
	if (!s->dropping || g_hash_table_size(s->pending) >= s->limits.max_pending)
		return;
	s->dropping = false;
	update_trouble(s);
}

/* The oldest that is on disk; false: none is. Those in memory are bounded by max_pending. */
static bool oldest_on_disk(const struct store *s, struct summary *ret_)
{
	for (size_t i = 0; i < index_count(s->index); i++) {
		index_get(s->index, i, ret_);
		if (ret_->bytes > 0)
			return true;
	}
	return false;
}

static void prune(struct store *s)
{
	struct summary oldest;

	while ((index_count(s->index) > s->limits.max_reports || index_bytes(s->index) > s->limits.max_bytes) && oldest_on_disk(s, &oldest)) {
		uint64_t id = id_from_text(oldest.id);

		/* Before its name goes with the entry. */
		writer_remove(s->writer, (uint64_t) oldest.began_usec, id);
		index_remove(s->index, id);
		g_hash_table_remove(s->pending, &id);
		s->pruned++;
	}
}

static void on_written(void *owner, const struct report *r, uint64_t bytes)
{
	struct store *s = owner;
	uint64_t id = id_from_text(r->id);

	/* Put again meanwhile: the newer one is still to come. */
	if (g_hash_table_lookup(s->pending, &id) != r)
		return;
	index_set_bytes(s->index, id, bytes);
	g_hash_table_remove(s->pending, &id);
	prune(s);
	forget_dropping(s);
}

static void on_damaged(void *owner, uint64_t id, const char *file, const char *why)
{
	struct store *s = owner;

	if (!g_hash_table_contains(s->pending, &id))
		index_remove(s->index, id);
	s->set_aside++;
	if (s->events.set_aside)
		s->events.set_aside(s->events.userdata, file, why);
}

/* What the scan set aside is told from the main loop, as everything else is. */
struct aside_letter {
	struct letter letter;
	char *file, *why;
};

static void aside_deliver(struct letter *l, void *owner)
{
	struct aside_letter *a = (struct aside_letter *) l;
	struct store *s = owner;

	if (s->events.set_aside)
		s->events.set_aside(s->events.userdata, a->file, a->why);
}

static void aside_dispose(struct letter *l)
{
	struct aside_letter *a = (struct aside_letter *) l;

	g_free(a->file);
	g_free(a->why);
	g_free(a);
}

static void post_aside(struct store *s, const char *file, const char *why)
{
	struct aside_letter *a = g_new(struct aside_letter, 1);

	*a = (struct aside_letter) {
		.letter = { .deliver = aside_deliver, .dispose = aside_dispose }, .file = g_strdup(file), .why = g_strdup(why),
	};
	s->set_aside++;
	mailbox_post(s->mail, &a->letter);
}

/* Leaves the folders open for the writer when all is well. */
static void load(struct store *s, const char *dir, struct folders *f, GArray **ret_surplus)
{
	struct scan scan;

	scan_init(&scan);
	if (folders_open(dir, FOLDERS_CREATE | FOLDERS_LOCK, f) == 0)
		scan_folders(f, s->limits.max_reports, s->index, &scan);
	for (guint i = 0; i + 1 < scan.aside->len; i += 2)
		post_aside(s, g_ptr_array_index(scan.aside, i), g_ptr_array_index(scan.aside, i + 1));
	s->inflight = g_ptr_array_ref(scan.inflight);
	*ret_surplus = g_array_ref(scan.surplus);
	scan_clear(&scan);
}

int store_open(const char *dir, const struct store_limits *limits, const struct store_events *events, struct store **ret_)
{
	static const struct writer_events writer_events = { .written = on_written, .trouble = on_trouble };
	struct store *s = g_new0(struct store, 1);
	struct folders folders = FOLDERS_CLOSED;
	GArray *surplus;

	s->limits = *limits;
	s->events = *events;
	s->index = index_new();
	s->pending = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, report_release);
	s->mail = mailbox_new(s);
	load(s, dir, &folders, &surplus);
	s->reader = reader_new(dir, on_damaged, s->mail);
	s->writer = writer_new(dir, &folders, limits, &writer_events, s->mail);
	if (!s->writer) {
		g_array_unref(surplus);
		store_close(s, 0);
		return -ENOMEM;
	}
	for (guint i = 0; i < surplus->len; i++) {
		const struct report_key *key = &g_array_index(surplus, struct report_key, i);

		writer_remove(s->writer, key->began, key->id);
		s->pruned++;
	}
	g_array_unref(surplus);
	prune(s);
	*ret_ = s;
	return 0;
}

unsigned store_close(struct store *s, nsec_t timeout)
{
	unsigned left;

	if (!s)
		return 0;
	reader_close(s->reader);
	left = s->writer ? writer_close(s->writer, timeout) : 0;
	mailbox_close(s->mail);
	g_ptr_array_unref(s->inflight);
	g_hash_table_unref(s->pending);
	index_free(s->index);
	g_free(s->trouble);
	g_free(s->why);
	g_free(s);
	return left;
}

void store_set_limits(struct store *s, const struct store_limits *limits)
{
	s->limits = *limits;
	prune(s);
}

static void drop_surplus(struct store *s)
{
	while (g_hash_table_size(s->pending) > s->limits.max_pending) {
		uint64_t id;

		if (!writer_drop(s->writer, &id))
			return;
		index_remove(s->index, id);
		g_hash_table_remove(s->pending, &id);
		s->dropped++;
		s->dropping = true;
	}
}

static struct report *copy_of(const struct report *r)
{
	return (struct report *) g_atomic_rc_box_dup(sizeof(*r), r);
}

void store_put(struct store *s, const struct report *r)
{
	uint64_t id = id_from_text(r->id), *key;
	uint64_t obsolete = WRITER_NONE;
	struct report *mine;
	struct summary summary, before;
	size_t at;

	if (id == 0)
		return;
	summary_of_report(r, &summary);
	if (index_find(s->index, id, &at)) {
		index_get(s->index, at, &before);
		if (before.began_usec != summary.began_usec)
			obsolete = (uint64_t) before.began_usec;
	}
	index_put(s->index, &summary);
	mine = copy_of(r);
	key = g_new(uint64_t, 1);
	*key = id;
	g_hash_table_replace(s->pending, key, mine);
	writer_put(s->writer, mine, true, obsolete);
	drop_surplus(s);
	prune(s);
	if (s->dropping)
		update_trouble(s);
}

void store_put_inflight(struct store *s, const struct report *r)
{
	struct report *mine;

	if (id_from_text(r->id) == 0)
		return;
	mine = copy_of(r);
	writer_put(s->writer, mine, false, WRITER_NONE);
	g_atomic_rc_box_release(mine);
}

void store_take_inflight(struct store *s, void (*found)(const struct report *r, void *userdata), void *userdata)
{
	GPtrArray *list = s->inflight;

	s->inflight = g_ptr_array_new_with_free_func(report_release);
	for (guint i = 0; i < list->len; i++)
		found(g_ptr_array_index(list, i), userdata);
	g_ptr_array_unref(list);
}

uint32_t store_list(struct store *s, const struct store_filter *f, uint32_t offset, const struct summary **ret_, uint32_t max, uint32_t *ret_n)
{
	return index_list(s->index, f, offset, ret_, max, ret_n);
}

static int parse_prefix(const char *text, uint64_t *ret_prefix, unsigned *ret_digits)
{
	size_t n = strspn(text, "0123456789abcdefABCDEF");

	if (text[n] || n < 4 || n > REPORT_ID_LEN)
		return -EINVAL;
	*ret_prefix = strtoull(text, NULL, 16);
	*ret_digits = (unsigned) n;
	return 0;
}

static int find_position(struct store *s, const char *id, size_t *ret_)
{
	uint64_t prefix;
	unsigned digits;
	int r = parse_prefix(id, &prefix, &digits);

	return r < 0 ? r : index_find_prefix(s->index, prefix, digits, ret_);
}

int store_find(struct store *s, const char *id, const struct summary **ret_)
{
	struct summary *out;
	size_t at;
	int r = find_position(s, id, &at);

	if (r < 0)
		return r;
	out = index_scratch(s->index, 1);
	index_get(s->index, at, out);
	*ret_ = out;
	return 0;
}

bool store_domain_nth(struct store *s, uint32_t n, struct store_domain *ret_)
{
	return index_domain_nth(s->index, n, ret_);
}

bool store_domain_find(struct store *s, const char *uuid, struct store_domain *ret_)
{
	return index_domain_find(s->index, uuid, ret_);
}

void store_read(struct store *s, const char *id, void (*done)(int r, const char *json, void *userdata), void *userdata)
{
	struct summary summary;
	uint64_t number;
	size_t at;
	int r = find_position(s, id, &at);

	if (r < 0) {
		reader_refuse(s->reader, r, done, userdata);
		return;
	}
	index_get(s->index, at, &summary);
	number = id_from_text(summary.id);
	reader_read(s->reader, (uint64_t) summary.began_usec, number, g_hash_table_lookup(s->pending, &number), done, userdata);
}

void store_get_counters(const struct store *s, struct store_counters *ret_)
{
	struct store_counters c = {
		.reports = index_count(s->index), .bytes = index_bytes(s->index), .pending = g_hash_table_size(s->pending),
		.dropped = s->dropped, .set_aside = s->set_aside, .pruned = s->pruned,
	};

	writer_counters(s->writer, &c.written, &c.write_failures);
	*ret_ = c;
}

const char *store_trouble(const struct store *s)
{
	return s->trouble;
}
