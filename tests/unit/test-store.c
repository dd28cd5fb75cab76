/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "sample.h"
#include "store-util.h"
#include "store/report-json.h"
#include "store/scan.h"
#include "store/summary.h"

static int disk_hangs; /* atomic */

/* In place of the C library's: a disk that does not answer. */
int fsync(int fd)
{
	while (g_atomic_int_get(&disk_hangs))
		g_usleep(1000);
	return (int) syscall(SYS_fsync, fd);
}

static void put_nth(struct place *p, unsigned n, unsigned domains)
{
	struct report r;

	sample_nth(&r, n, domains);
	store_put(p->store, &r);
}

static void id_of_nth(unsigned n, char to[static REPORT_ID_LEN + 1])
{
	struct report r;

	sample_nth(&r, n, 1);
	memcpy(to, r.id, sizeof(r.id));
}

static char *file_of(const struct report *r)
{
	return g_strdup_printf("reports/%020" G_GINT64_FORMAT "-%s.json", report_began_usec(r), r->id);
}

static void test_put(void)
{
	const struct summary *list[4], *one;
	struct report r;
	struct stat st;
	struct place p;
	char *path, *file, *text, *want;
	uint32_t n;

	place_make(&p);
	place_open(&p);
	sample_nth(&r, 0, 1);
	store_put(p.store, &r);
	g_assert_cmpuint(store_list(p.store, NULL, 0, list, 4, &n), ==, 1);
	g_assert_cmpuint(list[0]->bytes, ==, 0); /* in the index at once, not on disk */
	wait_written(&p);
	g_assert_cmpint(store_find(p.store, r.id, &one), ==, 0);
	g_assert_cmpstr(one->id, ==, r.id);
	g_assert_cmpstr(one->uuid, ==, r.uuid);
	g_assert_cmpstr(one->name, ==, r.name);
	g_assert_cmpstr(one->uri, ==, r.uri);
	g_assert_cmpint(one->began_usec, ==, report_began_usec(&r));
	g_assert_true(one->total_known && one->blackout_known && one->blackout_lower_bound && one->paused);
	g_assert_cmpuint(one->total_usec, ==, 6530865);
	g_assert_cmpuint(one->blackout_usec, ==, 543064);
	file = file_of(&r);
	path = place_path(&p, file);
	g_assert_cmpint(lstat(path, &st), ==, 0);
	g_assert_cmpuint(st.st_mode & 07777, ==, 0640);
	g_assert_cmpuint(one->bytes, ==, (uint64_t) st.st_size);
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	want = report_to_text(&r);
	g_assert_true(g_str_has_prefix(text, want) && strcmp(text + strlen(want), "\n") == 0);
	g_free(path);
	path = place_path(&p, "reports");
	g_assert_cmpint(lstat(path, &st), ==, 0);
	g_assert_cmpuint(st.st_mode & 07777, ==, 0750);
	g_free(path);
	g_free(file);
	g_free(text);
	free(want);
	place_remove(&p);
}

static uint32_t matches(struct place *p, struct store_filter f)
{
	const struct summary *list[200];
	uint32_t n, all = store_list(p->store, &f, 0, list, 200, &n);

	g_assert_cmpuint(n, ==, MIN(all, 200));
	for (uint32_t i = 1; i < n; i++)
		g_assert_cmpint(list[i - 1]->began_usec, >=, list[i]->began_usec);
	return all;
}

static void test_list(void)
{
	struct store_filter none = { 0 };
	const struct summary *list[8];
	struct place p;
	struct report r;
	uint32_t n;
	int64_t first;

	place_make(&p);
	place_open(&p);
	for (unsigned i = 0; i < 100; i++)
		put_nth(&p, (i * 37) % 100, 10); /* not in order of time */
	sample_nth(&r, 0, 10);
	first = report_began_usec(&r);
	g_assert_cmpuint(matches(&p, none), ==, 100);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .domain = "guest3" }), ==, 10);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .domain = "guest" }), ==, 0);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .domain = r.uuid }), ==, 10);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .domain = "5f7c8b52-6f2e-4a53-9d0e-ffffffffffff" }), ==, 0);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .since_usec = first + 90 * 1000000 }), ==, 10);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .until_usec = first + 9 * 1000000 }), ==, 10);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .outcomes = 1u << OUTCOME_FAILED }), ==, 100);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .outcomes = 1u << OUTCOME_CANCELLED }), ==, 0);
	g_assert_cmpuint(matches(&p, (struct store_filter) { .sides = 1u << SIDE_DESTINATION }), ==, 0);
	g_assert_cmpuint(store_list(p.store, &none, 95, list, 8, &n), ==, 100);
	g_assert_cmpuint(n, ==, 5);
	g_assert_cmpint(list[4]->began_usec, ==, first);
	g_assert_cmpuint(store_list(p.store, &none, UINT32_MAX, list, 8, &n), ==, 100);
	g_assert_cmpuint(n, ==, 0);
	g_assert_cmpuint(store_list(p.store, &none, 0, list, 0, &n), ==, 100);
	place_remove(&p);
}

static void test_find(void)
{
	const struct summary *one;
	struct report r;
	struct place p;

	place_make(&p);
	place_open(&p);
	sample_nth(&r, 0, 1);
	report_set_id(&r, 0xabcd000000000001);
	store_put(p.store, &r);
	report_set_id(&r, 0xabcd100000000001);
	store_put(p.store, &r);
	g_assert_cmpint(store_find(p.store, "abcd", &one), ==, -ENOTUNIQ);
	g_assert_cmpint(store_find(p.store, "abcd1", &one), ==, 0);
	g_assert_cmpstr(one->id, ==, "abcd100000000001");
	g_assert_cmpint(store_find(p.store, "ABCD0", &one), ==, 0);
	g_assert_cmpint(store_find(p.store, "abcd000000000001", &one), ==, 0);
	g_assert_cmpint(store_find(p.store, "abcd2", &one), ==, -ENOENT);
	g_assert_cmpint(store_find(p.store, "abc", &one), ==, -EINVAL);
	g_assert_cmpint(store_find(p.store, "", &one), ==, -EINVAL);
	g_assert_cmpint(store_find(p.store, "abcd00000000000100", &one), ==, -EINVAL);
	g_assert_cmpint(store_find(p.store, "0xabcd", &one), ==, -EINVAL);
	g_assert_cmpint(store_find(p.store, "../../", &one), ==, -EINVAL);
	place_remove(&p);
}

static void test_domains(void)
{
	struct store_domain d;
	struct place p;
	unsigned total = 0;
	char id[REPORT_ID_LEN + 1];

	place_make(&p);
	p.limits.max_reports = 50;
	place_open(&p);
	g_assert_false(store_domain_nth(p.store, 0, &d));
	for (unsigned i = 0; i < 30; i++)
		put_nth(&p, i, 10);
	for (unsigned i = 0; store_domain_nth(p.store, i, &d); i++) {
		g_assert_cmpuint(d.reports, ==, 3);
		total++;
	}
	g_assert_cmpuint(total, ==, 10);
	g_assert_true(store_domain_find(p.store, "5f7c8b52-6f2e-4a53-9d0e-000000000004", &d));
	id_of_nth(24, id);
	g_assert_cmpstr(d.last_id, ==, id);
	g_assert_cmpstr(d.name, ==, "guest4");
	g_assert_cmpint(d.last_outcome, ==, OUTCOME_FAILED);
	g_assert_false(store_domain_find(p.store, "guest4", &d));
	wait_written(&p);
	for (unsigned i = 30; i < 80; i++)
		put_nth(&p, i, 1000); /* one domain each; the ten of before go with their reports */
	wait_written(&p);
	for (total = 0; store_domain_nth(p.store, total, &d); total++)
		g_assert_cmpuint(d.reports, ==, 1);
	g_assert_cmpuint(total, ==, 50);
	place_remove(&p);
}

/* A second put of an id replaces the first, on disk too, even where its begin moved. */
static void test_put_again(void)
{
	const struct summary *one;
	struct report r;
	struct place p;

	place_make(&p);
	place_open(&p);
	for (int i = 0; i < 3; i++) {
		sample_nth(&r, 0, 1);
		r.marks[MARK_T0].at -= (unsigned) i * NSEC_PER_SEC;
		r.outcome = i == 2 ? OUTCOME_CANCELLED : OUTCOME_FAILED;
		store_put(p.store, &r);
		if (i != 1)
			wait_written(&p);
	}
	g_assert_cmpint(store_find(p.store, r.id, &one), ==, 0);
	g_assert_cmpint(one->outcome, ==, OUTCOME_CANCELLED);
	g_assert_cmpuint(one->bytes, >, 0);
	place_close(&p);
	place_open(&p);
	g_assert_cmpuint(counters(&p).reports, ==, 1);
	g_assert_cmpint(store_find(p.store, r.id, &one), ==, 0);
	g_assert_cmpint(one->outcome, ==, OUTCOME_CANCELLED);
	g_assert_cmpuint(files_in(&p, "reports"), ==, 1);
	place_remove(&p);
}

/* Killed before the older state was removed: the file written later counts, whichever begin it names. */
static void test_two_states(void)
{
	for (int later = 0; later < 2; later++) {
		const struct summary *one;
		struct place p;

		place_make(&p);
		place_open(&p);
		place_close(&p);
		for (int i = 0; i < 2; i++) {
			struct report r;
			char *file, *text;

			sample_nth(&r, 0, 1);
			r.real_offset += (unsigned) (i == later) * NSEC_PER_SEC;
			r.outcome = i == 0 ? OUTCOME_FAILED : OUTCOME_CANCELLED;
			file = file_of(&r);
			text = report_to_text(&r);
			write_file(&p, file, text, -1);
			free(text);
			g_free(file);
			g_usleep(20000);
		}
		place_open(&p);
		g_assert_cmpuint(store_list(p.store, NULL, 0, &one, 1, &(uint32_t) { 0 }), ==, 1);
		g_assert_cmpint(one->outcome, ==, OUTCOME_CANCELLED);
		place_close(&p);
		g_assert_cmpuint(files_in(&p, "reports"), ==, 1);
		place_remove(&p);
	}
}

static char *dump(struct place *p)
{
	GString *s = g_string_new(NULL);
	const struct summary *list[2000];
	struct store_domain d;
	uint32_t n, domains = 0;

	store_list(p->store, NULL, 0, list, 2000, &n);
	for (uint32_t i = 0; i < n; i++)
		g_string_append_printf(s, "%s %s %s %s %d %d %d %d %d %" G_GINT64_FORMAT " %d%d%d%d %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT "\n",
				       list[i]->id, list[i]->uuid, list[i]->name, list[i]->uri, list[i]->side, list[i]->operation, list[i]->driver,
				       list[i]->outcome, list[i]->cause, list[i]->began_usec, list[i]->total_known, list[i]->blackout_known,
				       list[i]->blackout_lower_bound, list[i]->paused, list[i]->total_usec, list[i]->blackout_usec, list[i]->bytes);
	while (store_domain_nth(p->store, domains, &d))
		domains++;
	g_string_append_printf(s, "%u domains\n", domains);
	return g_string_free(s, FALSE);
}

static size_t parsed_on_open(struct place *p)
{
	struct folders f;
	struct scan s;
	struct index *ix = index_new();
	size_t parsed;

	g_assert_cmpint(folders_open(p->dir, 0, &f), ==, 0);
	scan_init(&s);
	scan_folders(&f, UINT32_MAX, ix, &s);
	parsed = s.parsed;
	scan_clear(&s);
	folders_close(&f);
	index_free(ix);
	return parsed;
}

static void spoil_index(struct place *p, gsize keep, int flip)
{
	char *path = place_path(p, "index"), *bytes;
	gsize n;

	g_assert_true(g_file_get_contents(path, &bytes, &n, NULL));
	if (flip >= 0)
		bytes[flip] ^= 0x40;
	g_assert_true(g_file_set_contents(path, bytes, (gssize) MIN(n, keep), NULL));
	g_free(bytes);
	g_free(path);
}

/* What a start knows is the same from the index file, without it, and with any damage to it; and only what the index file
 * does not describe is parsed. */
static void test_reopen(void)
{
	struct place p;
	struct report r;
	char *before, *after, *file, *text;

	place_make_in_memory(&p);
	place_open(&p);
	for (unsigned i = 0; i < samples_n; i++) {
		samples[i].make(&r);
		store_put(p.store, &r);
	}
	for (unsigned i = 0; i < 300; i++)
		put_nth(&p, i, 7);
	wait_written(&p);
	/* One sample is in flight and does not belong among the finished. */
	samples[4].make(&r);
	g_assert_cmpint(r.state, ==, MIG_SWITCHOVER);
	file = file_of(&r);
	text = place_path(&p, file);
	g_assert_cmpint(g_remove(text), ==, 0);
	g_free(text);
	g_free(file);
	place_close(&p);
	place_open(&p);
	before = dump(&p);
	place_close(&p);
	g_assert_cmpuint(parsed_on_open(&p), ==, 0);
	for (int i = 0; i < 5; i++) {
		char *path = place_path(&p, "index");

		if (i == 0)
			g_assert_cmpint(g_remove(path), ==, 0);
		else
			spoil_index(&p, i == 1 ? 20000 : i == 2 ? 3 : SIZE_MAX, i == 3 ? 4 : i == 4 ? 15000 : -1);
		place_open(&p);
		after = dump(&p);
		g_assert_cmpstr(after, ==, before);
		g_free(after);
		g_assert_cmpuint(p.aside, ==, 0);
		place_close(&p);
		g_assert_cmpuint(parsed_on_open(&p), ==, 0);
		g_free(path);
	}
	/* A report written by somebody else, with the same length. */
	sample_nth(&r, 5, 7);
	r.driver = DRIVER_UNKNOWN;
	file = file_of(&r);
	text = report_to_text(&r);
	write_file(&p, file, text, -1);
	free(text);
	g_free(file);
	g_assert_cmpuint(parsed_on_open(&p), ==, 1);
	g_free(before);
	place_remove(&p);
}

static void test_read(void)
{
	struct report r;
	struct place p;
	char *text, *want, *path, *file;
	int k;

	place_make(&p);
	place_open(&p);
	sample_nth(&r, 0, 1);
	want = report_to_text(&r);
	store_put(p.store, &r);
	text = read_text(&p, r.id, &k); /* from memory or from disk, as the writer is fast */
	g_assert_cmpstr(text, ==, want);
	g_free(text);
	wait_written(&p);
	text = read_text(&p, r.id, &k);
	g_assert_cmpstr(text, ==, want);
	g_free(text);
	g_assert_null(read_text(&p, "ffffffffffffffff", &k));
	g_assert_cmpint(k, ==, -ENOENT);
	g_assert_null(read_text(&p, "x", &k));
	g_assert_cmpint(k, ==, -EINVAL);
	/* Damaged after it was taken in: set aside and gone from the index. */
	file = file_of(&r);
	write_file(&p, file, want, 100);
	g_assert_null(read_text(&p, r.id, &k));
	g_assert_cmpint(k, ==, -EBADMSG);
	g_assert_cmpuint(p.aside, ==, 1);
	g_assert_cmpuint(counters(&p).reports, ==, 0);
	g_assert_cmpuint(files_in(&p, "aside"), ==, 1);
	/* Removed by a person. */
	store_put(p.store, &r);
	wait_written(&p);
	path = place_path(&p, file);
	g_assert_cmpint(g_remove(path), ==, 0);
	g_assert_null(read_text(&p, r.id, &k));
	g_assert_cmpint(k, ==, -ENOENT);
	g_free(path);
	g_free(file);
	free(want);
	place_remove(&p);
}

struct tally {
	unsigned good, again, cancelled;
};

static void count_read(int r, const char *json, void *userdata)
{
	struct tally *t = userdata;

	t->good += r == 0 && json;
	t->again += r == -EAGAIN;
	t->cancelled += r == -ECANCELED;
}

static void test_read_limits(void)
{
	struct tally t = { 0 };
	struct place p;
	char id[REPORT_ID_LEN + 1];

	place_make(&p);
	place_open(&p);
	put_nth(&p, 0, 1);
	id_of_nth(0, id);
	for (int i = 0; i < 200; i++)
		store_read(p.store, id, count_read, &t);
	wait_for(t.good + t.again == 200);
	g_assert_cmpuint(t.good, ==, 64);
	for (int i = 0; i < 40; i++)
		store_read(p.store, id, count_read, &t);
	place_close(&p);
	g_assert_cmpuint(t.cancelled, ==, 40);
	while (g_main_context_iteration(NULL, FALSE))
		;
	g_assert_cmpuint(t.good, ==, 64);
	place_remove(&p);
}

struct found {
	unsigned n;
	char last[REPORT_ID_LEN + 1];
	uint32_t iterations;
};

static void on_found(const struct report *r, void *userdata)
{
	struct found *f = userdata;

	f->n++;
	memcpy(f->last, r->id, sizeof(f->last));
	f->iterations = r->iterations;
}

static void test_inflight(void)
{
	struct found f = { 0 };
	struct report r;
	struct place p;

	place_make(&p);
	place_open(&p);
	for (unsigned n = 0; n < 3; n++)
		for (uint32_t k = 1; k <= 50; k++) {
			sample_nth(&r, 2 - n, 3); /* youngest first */
			r.state = MIG_PRECOPY;
			r.outcome = OUTCOME_NONE;
			r.iterations = k;
			store_put_inflight(p.store, &r);
		}
	g_assert_cmpuint(place_close(&p), ==, 0);
	g_assert_cmpuint(assert_whole_files(&p, "inflight"), ==, 3);
	place_open(&p);
	store_take_inflight(p.store, on_found, &f);
	g_assert_cmpuint(f.n, ==, 3);
	g_assert_cmpuint(f.iterations, ==, 50);
	sample_nth(&r, 2, 3);
	g_assert_cmpstr(f.last, ==, r.id); /* oldest first */
	store_take_inflight(p.store, on_found, &f);
	g_assert_cmpuint(f.n, ==, 3);
	g_assert_cmpuint(files_in(&p, "inflight"), ==, 3);
	store_put(p.store, &r);
	store_put_inflight(p.store, &r); /* late: ignored */
	wait_written(&p);
	g_assert_cmpuint(files_in(&p, "inflight"), ==, 2);
	g_assert_cmpuint(counters(&p).reports, ==, 1);
	place_close(&p);
	/* Killed between the two steps: the finished one wins. */
	write_file(&p, "inflight/0123456789abcdef.json", "{}", -1);
	{
		char *text, *name = g_strdup_printf("inflight/%s.json", r.id);

		text = report_to_text(&r);
		write_file(&p, name, text, -1);
		free(text);
		g_free(name);
	}
	place_open(&p);
	f.n = 0;
	store_take_inflight(p.store, on_found, &f);
	g_assert_cmpuint(f.n, ==, 2);
	wait_for(p.aside == 1);
	g_assert_cmpuint(files_in(&p, "inflight"), ==, 2);
	place_remove(&p);
}

static void assert_told(const struct place *p, const char *part)
{
	for (guint i = 0; i < p->reasons->len; i++)
		if (strstr(g_ptr_array_index(p->reasons, i), part))
			return;
	g_error("nothing told about \"%s\"", part);
}

#define NAME(n) "reports/0179606182312345" n "-000000000000" n ".json"

static void test_aside(void)
{
	struct place p;
	struct report r;
	char *text, *future, *big = g_strnfill((1 << 20) + 1, ' '), *path, *secret;

	place_make(&p);
	place_open(&p);
	put_nth(&p, 0, 1);
	wait_written(&p);
	place_close(&p);
	samples[0].make(&r);
	text = report_to_text(&r);
	future = g_strdup(text);
	memcpy(strstr(future, "1.0"), "7.0", 3);
	secret = place_path(&p, "secret");
	write_file(&p, "secret", text, -1);
	write_file(&p, NAME("6001"), "", 0);
	write_file(&p, NAME("6002"), text, (gssize) strlen(text) / 2);
	write_file(&p, NAME("6003"), future, -1);
	write_file(&p, NAME("6004"), big, (1 << 20) + 1);
	write_file(&p, NAME("6005"), "[[[[[[[[[[[[[[[[[[[[[[[[", -1);
	write_file(&p, NAME("6006"), text, -1); /* another id than its name */
	path = place_path(&p, NAME("6007"));
	g_assert_cmpint(symlink(secret, path), ==, 0);
	g_free(path);
	path = place_path(&p, NAME("6008"));
	g_assert_cmpint(mkfifo(path, 0600), ==, 0);
	g_free(path);
	path = place_path(&p, NAME("6009"));
	g_assert_cmpint(g_mkdir(path, 0700), ==, 0);
	g_free(path);
	write_file(&p, "reports/hello.json", text, -1);
	write_file(&p, "reports/README", "not ours", -1);
	write_file(&p, "reports/.tmp-x", "left over", -1);
	write_file(&p, "inflight/.tmp-x", "left over", -1);
	write_file(&p, ".tmp-index", "left over", -1);
	samples[4].make(&r);
	free(text);
	text = report_to_text(&r);
	path = file_of(&r);
	write_file(&p, path, text, -1); /* under way, among the finished */
	g_free(path);

	place_open(&p);
	wait_for(p.aside == 11);
	assert_told(&p, "6001-0000000000006001.json: found nothing, expected a report");
	assert_told(&p, "it ends in the middle");
	assert_told(&p, "schema: found version 7.0, expected at most 1.x");
	assert_told(&p, "found more than 1 MiB");
	assert_told(&p, "nesting too deep");
	assert_told(&p, "expected that of its name");
	assert_told(&p, "6007.json: found no regular file");
	assert_told(&p, "6008.json: found no regular file");
	assert_told(&p, "6009.json: found no regular file");
	assert_told(&p, "reports/hello.json: expected a name of");
	assert_told(&p, "found a migration under way");
	g_assert_cmpuint(counters(&p).reports, ==, 1);
	g_assert_cmpuint(counters(&p).set_aside, ==, 11);
	g_assert_cmpuint(files_in(&p, "aside"), ==, 11);
	g_assert_cmpuint(files_in(&p, "reports"), ==, 2); /* the good one and README */
	g_assert_cmpuint(files_in(&p, "inflight"), ==, 0);
	g_assert_true(g_file_test(secret, G_FILE_TEST_IS_REGULAR));
	g_free(secret);
	g_free(big);
	g_free(future);
	free(text);
	place_remove(&p);
}

static bool exists(const struct place *p, const char *name)
{
	char *path = place_path(p, name);
	bool is = g_file_test(path, G_FILE_TEST_EXISTS);

	g_free(path);
	return is;
}

/* One does not replace another of the same name. */
static void test_aside_twice(void)
{
	struct place p;

	place_make(&p);
	place_open(&p);
	for (int i = 0; i < 3; i++) {
		place_close(&p);
		write_file(&p, "reports/x.json", "x", -1);
		place_open(&p);
	}
	g_assert_true(exists(&p, "aside/x.json") && exists(&p, "aside/x.json.1") && exists(&p, "aside/x.json.2"));
	place_remove(&p);
}

/* Not more than 100; the oldest go. */
static void test_aside_bounded(void)
{
	struct place p;

	place_make(&p);
	for (int round = 0; round < 3; round++) {
		place_open(&p);
		place_close(&p);
		for (int i = 0; i < 60; i++) {
			char *name = g_strdup_printf("reports/%d-%d.json", round, i);

			write_file(&p, name, "x", -1);
			g_free(name);
		}
	}
	place_open(&p);
	wait_for(p.aside == 60);
	g_assert_cmpuint(files_in(&p, "aside"), ==, 100);
	for (int i = 0; i < 60; i++) {
		char *name = g_strdup_printf("aside/2-%d.json", i);

		g_assert_true(exists(&p, name));
		g_free(name);
	}
	place_remove(&p);
}

/* A folder that is a link elsewhere is not followed: nothing is read or written there. */
static void test_linked_folder(void)
{
	struct place p, elsewhere;
	char *path;

	place_make(&elsewhere);
	place_make(&p);
	path = place_path(&p, "reports");
	g_assert_cmpint(symlink(elsewhere.dir, path), ==, 0);
	place_open(&p);
	wait_for(p.troubles == 1);
	put_nth(&p, 0, 1);
	g_assert_cmpuint(place_close(&p), ==, 1);
	g_assert_cmpuint(files_in(&elsewhere, ""), ==, 0);
	g_assert_cmpint(g_remove(path), ==, 0);
	g_free(path);
	place_remove(&elsewhere);
	place_remove(&p);
}

static void test_retention(void)
{
	const struct summary *list[2000];
	struct place p;
	struct store_counters c;
	char oldest[REPORT_ID_LEN + 1];
	uint32_t n;

	place_make_in_memory(&p);
	p.limits.max_reports = 1000;
	place_open(&p);
	for (unsigned i = 0; i < 1200; i++)
		put_nth(&p, i, 50);
	wait_written(&p);
	c = counters(&p);
	g_assert_cmpuint(c.reports, ==, 1000);
	g_assert_cmpuint(c.written, ==, 1200);
	g_assert_cmpuint(c.pruned, ==, 200);
	store_list(p.store, NULL, 0, list, 2000, &n);
	id_of_nth(200, oldest);
	g_assert_cmpstr(list[999]->id, ==, oldest);
	place_close(&p);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 1000);
	p.limits.max_reports = 300; /* smaller at the next start */
	place_open(&p);
	g_assert_cmpuint(counters(&p).reports, ==, 300);
	place_close(&p);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 300);
	p.limits.max_bytes = 100000;
	place_open(&p);
	c = counters(&p);
	g_assert_cmpuint(c.bytes, <=, 100000);
	g_assert_cmpuint(c.reports, <, 300);
	g_assert_cmpuint(c.reports, >, 10);
	p.limits.max_reports = 5;
	store_set_limits(p.store, &p.limits);
	g_assert_cmpuint(counters(&p).reports, ==, 5);
	place_close(&p);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 5);
	place_remove(&p);
}

static void endless_writes(const char *dir, unsigned seed)
{
	struct store_limits limits = { .max_reports = 200, .max_bytes = 1 << 30, .max_pending = 100 };
	struct store_events events = { 0 };
	struct store *s;
	struct report r;

	store_open(dir, &limits, &events, &s);
	for (unsigned i = 0;; i++) {
		sample_nth(&r, seed * 100000 + i, 20);
		store_put_inflight(s, &r);
		store_put(s, &r);
		if (i % 16 == 0)
			g_usleep(500);
		g_main_context_iteration(NULL, FALSE);
	}
}

/* Killed at any moment there is never half a file under a report's name, and the next start finds only whole ones. */
static void test_killed(void)
{
	struct place p;
	unsigned most = 0, start = 2000; /* us: how long a process needs here until it writes */

	place_make(&p);
	for (unsigned i = 0; i < 60; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0)
			endless_writes(p.dir, i);
		g_assert_cmpint(pid, >, 0);
		g_usleep(start + i * 977 % 40000);
		g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
		g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
		g_assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		most = MAX(most, assert_whole_files(&p, "reports"));
		assert_whole_files(&p, "inflight");
		if (most == 0 && start < 1000000)
			start *= 2;
		if (i % 10 == 9) {
			place_open(&p);
			while (g_main_context_iteration(NULL, FALSE))
				;
			g_assert_cmpuint(p.aside, ==, 0);
			place_close(&p);
		}
	}
	g_assert_cmpuint(most, >, 0); /* it did write */
	place_open(&p);
	place_close(&p);
	g_assert_cmpuint(files_in(&p, "inflight"), ==, assert_whole_files(&p, "inflight"));
	place_remove(&p);
}

/* One process at a time. */
static void test_locked(void)
{
	struct place p, second;
	char *own;

	place_make(&p);
	place_open(&p);
	place_make(&second);
	own = second.dir;
	second.dir = p.dir;
	place_open(&second);
	wait_for(second.troubles == 1);
	g_assert_nonnull(strstr(store_trouble(second.store), "another process uses the folder"));
	put_nth(&second, 1, 1);
	place_close(&p);
	wait_for(second.recoveries == 1); /* takes over */
	wait_written(&second);
	g_assert_null(store_trouble(second.store));
	place_close(&second);
	second.dir = own;
	place_remove(&second);
	place_remove(&p);
}

/* The main thread goes on, memory stays bounded, closing takes as long as it may and no longer. */
static void test_hanging_disk(void)
{
	struct place p;
	int64_t start;
	char *text, id[REPORT_ID_LEN + 1];
	int r;

	place_make(&p);
	p.limits.max_pending = 20;
	place_open(&p);
	put_nth(&p, 0, 1);
	wait_written(&p);
	g_atomic_int_set(&disk_hangs, 1);
	for (unsigned i = 1; i <= 40; i++)
		put_nth(&p, i, 1);
	g_assert_cmpuint(counters(&p).pending, ==, 20);
	g_assert_cmpuint(counters(&p).dropped, ==, 20);
	wait_for(p.troubles == 1);
	g_assert_nonnull(strstr(p.last_trouble, "reports are written too slowly; more than 20 reports wait"));
	id_of_nth(40, id);
	text = read_text(&p, id, &r);
	g_assert_cmpint(r, ==, 0);
	g_free(text);
	start = g_get_monotonic_time();
	g_assert_cmpuint(store_close(p.store, 100 * NSEC_PER_MSEC), ==, 20);
	g_assert_cmpint(g_get_monotonic_time() - start, >=, 100000);
	g_assert_cmpint(g_get_monotonic_time() - start, <, 5000000);
	p.store = NULL;
	/* The abandoned thread still has the folder; when the disk answers it writes what it has and goes. */
	place_open(&p);
	g_atomic_int_set(&disk_hangs, 0);
	wait_for(p.recoveries == 1 || p.troubles == 1);
	wait_for(assert_whole_files(&p, "reports") == 21);
	wait_for(store_trouble(p.store) == NULL);
	place_remove(&p);
}

static void test_memory(void)
{
	enum { REPORTS = 10000, DOMAINS = 1000 };
	struct index *ix;
	size_t before = mallinfo2().uordblks, used;
	struct report r;
	struct summary s;

	ix = index_new();
	for (unsigned i = 0; i < REPORTS; i++) {
		sample_nth(&r, i, DOMAINS);
		summary_of_report(&r, &s);
		index_put(ix, &s);
	}
	used = mallinfo2().uordblks - before;
	g_test_message("%d reports of %d domains take %zu bytes: %zu a report", REPORTS, DOMAINS, used, used / REPORTS);
	if (used > 0) /* address sanitizer keeps no such count */
		g_assert_cmpuint(used, <, REPORTS * 130 + DOMAINS * 250);
	index_free(ix);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/store/killed", test_killed); /* first: forks while there is one thread only */
	g_test_add_func("/store/put", test_put);
	g_test_add_func("/store/list", test_list);
	g_test_add_func("/store/find", test_find);
	g_test_add_func("/store/domains", test_domains);
	g_test_add_func("/store/put-again", test_put_again);
	g_test_add_func("/store/two-states", test_two_states);
	g_test_add_func("/store/reopen", test_reopen);
	g_test_add_func("/store/read", test_read);
	g_test_add_func("/store/read-limits", test_read_limits);
	g_test_add_func("/store/inflight", test_inflight);
	g_test_add_func("/store/aside", test_aside);
	g_test_add_func("/store/aside-twice", test_aside_twice);
	g_test_add_func("/store/aside-bounded", test_aside_bounded);
	g_test_add_func("/store/linked-folder", test_linked_folder);
	g_test_add_func("/store/retention", test_retention);
	g_test_add_func("/store/locked", test_locked);
	g_test_add_func("/store/hanging-disk", test_hanging_disk);
	g_test_add_func("/store/memory", test_memory);
	return g_test_run();
}
