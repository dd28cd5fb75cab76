/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The store on file systems that refuse: a small tmpfs that gets full, a mount that becomes read-only. Both are mounted
 * in a mount namespace of the test's own. */

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "sample.h"
#include "store-util.h"

static const char *no_mounts; /* why not */

static void enter_namespace(void)
{
	if (unshare(CLONE_NEWNS) < 0)
		no_mounts = "needs the right to make a mount namespace";
	else if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		no_mounts = "needs the right to mount";
}

static bool skip(void)
{
	if (no_mounts)
		g_test_skip(no_mounts);
	return no_mounts != NULL;
}

static void put_nth(struct place *p, unsigned n)
{
	struct report r;

	sample_nth(&r, n, 5);
	store_put(p->store, &r);
}

static char *read_nth(struct place *p, unsigned n, int *ret_)
{
	struct report r;

	sample_nth(&r, n, 5);
	return read_text(p, r.id, ret_);
}

static void fill_up(const struct place *p)
{
	char *path = place_path(p, "ballast");
	static const char zeros[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	g_assert_cmpint(fd, >=, 0);
	while (write(fd, zeros, sizeof(zeros)) == sizeof(zeros))
		;
	g_assert_cmpint(errno, ==, ENOSPC);
	close(fd);
	g_free(path);
}

static void free_up(const struct place *p)
{
	char *path = place_path(p, "ballast");

	g_assert_cmpint(g_remove(path), ==, 0);
	g_free(path);
}

static void test_full(void)
{
	struct place p;
	struct store_counters c;
	char *text;
	int r;

	if (skip())
		return;
	place_make(&p);
	g_assert_cmpint(mount("tmpfs", p.dir, "tmpfs", 0, "size=1m"), ==, 0);
	place_open(&p);
	for (unsigned i = 0; i < 5; i++)
		put_nth(&p, i);
	wait_written(&p);
	g_assert_cmpuint(p.troubles, ==, 0);
	fill_up(&p);
	for (unsigned i = 5; i < 105; i++)
		put_nth(&p, i);
	wait_for(counters(&p).write_failures >= 5);
	g_assert_cmpuint(p.troubles, ==, 1); /* once, however often it fails */
	g_assert_nonnull(strstr(p.last_trouble, "No space left on device"));
	g_assert_cmpstr(store_trouble(p.store), ==, p.last_trouble);
	c = counters(&p);
	g_assert_cmpuint(c.pending, ==, 100);
	g_assert_cmpuint(c.reports, ==, 105);
	g_assert_cmpuint(c.dropped, ==, 0);
	text = read_nth(&p, 50, &r); /* from memory */
	g_assert_cmpint(r, ==, 0);
	g_assert_nonnull(strstr(text, "\"guest0\""));
	g_free(text);
	g_assert_cmpuint(files_in(&p, "reports"), ==, 5);
	free_up(&p);
	wait_written(&p);
	wait_for(p.recoveries == 1);
	g_assert_null(store_trouble(p.store));
	g_assert_cmpuint(p.troubles, ==, 1);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 105);
	g_assert_cmpuint(place_close(&p), ==, 0);
	place_open(&p);
	g_assert_cmpuint(counters(&p).reports, ==, 105);
	place_close(&p);
	g_assert_cmpint(umount(p.dir), ==, 0);
	place_remove(&p);
}

/* What waits in memory is bounded; the oldest go, that is told once, and closing tells how many are lost. */
static void test_full_for_long(void)
{
	struct place p;
	struct store_counters c;
	const struct summary *list[64];
	struct report r;
	uint32_t n;

	if (skip())
		return;
	place_make(&p);
	p.limits.max_pending = 20;
	g_assert_cmpint(mount("tmpfs", p.dir, "tmpfs", 0, "size=1m"), ==, 0);
	place_open(&p);
	put_nth(&p, 0);
	wait_written(&p);
	fill_up(&p);
	put_nth(&p, 1);
	wait_for(p.troubles == 1);
	for (unsigned i = 2; i < 60; i++)
		put_nth(&p, i);
	wait_for(counters(&p).write_failures >= 4);
	c = counters(&p);
	g_assert_cmpuint(c.pending, ==, 20);
	g_assert_cmpuint(c.dropped, ==, 39);
	g_assert_cmpuint(c.reports, ==, 21);
	g_assert_cmpuint(p.troubles, ==, 2);
	g_assert_nonnull(strstr(p.last_trouble, "more than 20 reports wait, the oldest are dropped"));
	store_list(p.store, NULL, 0, list, 64, &n);
	sample_nth(&r, 59, 5);
	g_assert_cmpstr(list[0]->id, ==, r.id); /* the newest is there */
	g_assert_cmpuint(place_close(&p), ==, 20);
	place_open(&p);
	g_assert_cmpuint(counters(&p).reports, ==, 1);
	place_close(&p);
	g_assert_cmpint(umount(p.dir), ==, 0);
	place_remove(&p);
}

static void remount(const char *dir, unsigned long flags)
{
	/* A bind mount's own flag: descriptors open for writing elsewhere do not matter. */
	g_assert_cmpint(mount(NULL, dir, NULL, MS_REMOUNT | MS_BIND | flags, NULL), ==, 0);
}

static void test_read_only(void)
{
	struct place p;
	char *text;
	int r;

	if (skip())
		return;
	place_make(&p);
	place_open(&p);
	put_nth(&p, 0);
	wait_written(&p);
	place_close(&p);
	g_assert_cmpint(mount(p.dir, p.dir, NULL, MS_BIND, NULL), ==, 0);
	remount(p.dir, MS_RDONLY);
	place_open(&p);
	wait_for(p.troubles == 1); /* before anything is to be written */
	g_assert_nonnull(strstr(p.last_trouble, "Read-only file system"));
	g_assert_cmpuint(counters(&p).reports, ==, 1);
	text = read_nth(&p, 0, &r);
	g_assert_cmpint(r, ==, 0);
	g_free(text);
	put_nth(&p, 1);
	text = read_nth(&p, 1, &r);
	g_assert_cmpint(r, ==, 0);
	g_free(text);
	g_usleep(300000);
	while (g_main_context_iteration(NULL, FALSE))
		;
	g_assert_cmpuint(p.troubles, ==, 1);
	g_assert_cmpuint(counters(&p).pending, ==, 1);
	remount(p.dir, 0);
	wait_for(p.recoveries == 1);
	wait_written(&p);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 2);
	place_close(&p);
	g_assert_cmpint(umount2(p.dir, MNT_DETACH), ==, 0);
	place_remove(&p);
}

/* No folder and no way to make one; then there is. */
static void test_no_folder(void)
{
	struct place p;
	char *parent, *real;

	place_make(&p);
	parent = p.dir;
	real = g_build_filename(parent, "below", "state", NULL);
	p.dir = real;
	place_open(&p);
	wait_for(p.troubles == 1);
	g_assert_nonnull(strstr(p.last_trouble, "No such file or directory"));
	put_nth(&p, 0);
	p.dir = g_path_get_dirname(real);
	g_assert_cmpint(g_mkdir(p.dir, 0755), ==, 0);
	g_free(p.dir);
	p.dir = real;
	wait_for(p.recoveries == 1);
	wait_written(&p);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 1);
	place_close(&p);
	p.dir = parent;
	g_free(real);
	place_remove(&p);
}

/* Somebody removes the folder under a running daemon. */
static void test_folder_removed(void)
{
	struct place p;
	char *reports;

	place_make(&p);
	place_open(&p);
	put_nth(&p, 0);
	wait_written(&p);
	reports = place_path(&p, "reports");
	while (assert_whole_files(&p, "reports") > 0) {
		GDir *d = g_dir_open(reports, 0, NULL);
		char *path = g_build_filename(reports, g_dir_read_name(d), NULL);

		g_assert_cmpint(g_remove(path), ==, 0);
		g_free(path);
		g_dir_close(d);
	}
	g_assert_cmpint(g_rmdir(reports), ==, 0);
	put_nth(&p, 1);
	wait_written(&p);
	g_assert_cmpuint(assert_whole_files(&p, "reports"), ==, 1);
	g_free(reports);
	place_remove(&p);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	enter_namespace();
	g_test_add_func("/store-disk/full", test_full);
	g_test_add_func("/store-disk/full-for-long", test_full_for_long);
	g_test_add_func("/store-disk/read-only", test_read_only);
	g_test_add_func("/store-disk/no-folder", test_no_folder);
	g_test_add_func("/store-disk/folder-removed", test_folder_removed);
	return g_test_run();
}
