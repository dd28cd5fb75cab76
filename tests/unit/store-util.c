/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ftw.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "store-util.h"
#include "store/report-json.h"

static void on_trouble(void *userdata, const char *trouble)
{
	struct place *p = userdata;

	if (trouble)
		p->troubles++;
	else
		p->recoveries++;
	g_free(p->last_trouble);
	p->last_trouble = g_strdup(trouble);
}

static void on_aside(void *userdata, const char *file, const char *why)
{
	struct place *p = userdata;

	p->aside++;
	g_ptr_array_add(p->reasons, g_strdup_printf("%s: %s", file, why));
}

static void make_in(struct place *p, char *dir)
{
	*p = (struct place) {
		.dir = dir,
		.limits = { .max_reports = 10000, .max_bytes = UINT64_C(1) << 30, .max_pending = 2000,
			    .retry_min = 20 * NSEC_PER_MSEC, .retry_max = 100 * NSEC_PER_MSEC },
		.reasons = g_ptr_array_new_with_free_func(g_free),
	};
	g_assert_nonnull(p->dir);
}

void place_make(struct place *p)
{
	make_in(p, g_dir_make_tmp("rollbackd-store-XXXXXX", NULL));
}

void place_make_in_memory(struct place *p)
{
	char *dir = g_strdup("/dev/shm/rollbackd-store-XXXXXX");

	if (g_mkdtemp(dir)) {
		make_in(p, dir);
		return;
	}
	g_free(dir);
	place_make(p);
}

void place_open(struct place *p)
{
	struct store_events events = { .trouble = on_trouble, .set_aside = on_aside, .userdata = p };

	g_assert_cmpint(store_open(p->dir, &p->limits, &events, &p->store), ==, 0);
}

unsigned place_close(struct place *p)
{
	unsigned left = store_close(p->store, 20 * NSEC_PER_SEC);

	p->store = NULL;
	return left;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st;
	(void) type;
	(void) ftw;
	return g_remove(path);
}

void place_remove(struct place *p)
{
	place_close(p);
	g_assert_cmpint(nftw(p->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT), ==, 0);
	g_ptr_array_unref(p->reasons);
	g_free(p->last_trouble);
	g_free(p->dir);
}

char *place_path(const struct place *p, const char *name)
{
	return g_build_filename(p->dir, name, NULL);
}

struct store_counters counters(struct place *p)
{
	struct store_counters c;

	store_get_counters(p->store, &c);
	return c;
}

void wait_written(struct place *p)
{
	wait_for(counters(p).pending == 0);
}

struct answer {
	bool come;
	int r;
	char *text;
};

static void on_read(int r, const char *json, void *userdata)
{
	struct answer *a = userdata;

	a->come = true;
	a->r = r;
	a->text = g_strdup(json);
}

char *read_text(struct place *p, const char *id, int *ret_)
{
	struct answer a = { 0 };

	store_read(p->store, id, on_read, &a);
	g_assert_false(a.come);
	wait_for(a.come);
	g_assert_true((a.r == 0) == (a.text != NULL));
	*ret_ = a.r;
	return a.text;
}

unsigned files_in(const struct place *p, const char *folder)
{
	char *path = place_path(p, folder);
	GDir *d = g_dir_open(path, 0, NULL);
	unsigned n = 0;

	g_assert_nonnull(d);
	while (g_dir_read_name(d))
		n++;
	g_dir_close(d);
	g_free(path);
	return n;
}

void write_file(const struct place *p, const char *name, const char *text, gssize n)
{
	char *path = place_path(p, name);

	g_assert_true(g_file_set_contents(path, text, n, NULL));
	g_free(path);
}

unsigned assert_whole_files(const struct place *p, const char *folder)
{
	char *path = place_path(p, folder);
	GDir *d = g_dir_open(path, 0, NULL);
	const char *name;
	unsigned n = 0;

	while (d && (name = g_dir_read_name(d))) {
		char *file = g_build_filename(path, name, NULL), *text, why[256] = "";
		struct report r;
		gsize len;

		if (g_str_has_suffix(name, ".json") && name[0] != '.') {
			g_assert_true(g_file_get_contents(file, &text, &len, NULL));
			if (report_from_text(text, len, &r, why, sizeof(why)) < 0)
				g_error("%s: %s", file, why);
			g_free(text);
			n++;
		}
		g_free(file);
	}
	if (d)
		g_dir_close(d);
	g_free(path);
	return n;
}
