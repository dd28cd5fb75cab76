/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* A start must not parse every report. Measured with 10,000 reports of 5.8 KB on a loaded 2-core virtual machine
 * (CPU time in parentheses, 2 runs): parsing all 3.5 to 4.4 s (1.1 s), with the index file 0.35 to 0.5 s
 * (0.13 s), nearly all of it one stat() a file. So summaries are kept in an index file, appended to as reports are
 * written and believed only for files whose length, inode and time of change still fit; the rest is parsed, here, before
 * the daemon says it is ready: it happens after a crash at most for the last few, after a restore from a backup for all. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rollbackd/names.h"
#include "store/index-file.h"
#include "store/report-json.h"
#include "store/report-limits.h"
#include "store/scan.h"
#include "store/summary.h"

/* More migrations than this are not under way on one host; more files are a fault. */
#define INFLIGHT_MAX 1024

struct walk {
	const struct folders *f;
	struct index *ix;
	struct index_file *known;
	GByteArray *fresh; /* the index file as it should be */
	struct scan *s;
};

static void report_release(void *r)
{
	g_atomic_rc_box_release(r);
}

void scan_init(struct scan *s)
{
	*s = (struct scan) {
		.inflight = g_ptr_array_new_with_free_func(report_release),
		.aside = g_ptr_array_new_with_free_func(g_free),
		.surplus = g_array_new(FALSE, FALSE, sizeof(struct report_key)),
	};
}

void scan_clear(struct scan *s)
{
	g_ptr_array_unref(s->inflight);
	g_ptr_array_unref(s->aside);
	g_array_unref(s->surplus);
	*s = (struct scan) { 0 };
}

static void set_aside(struct walk *w, int folder, const char *name, const char *why)
{
	int r = file_set_aside(w->f, folder, name);

	g_ptr_array_add(w->s->aside, g_strdup_printf("%s/%s", folder == w->f->reports ? RBD_REPORTS_DIR : RBD_INFLIGHT_DIR, name));
	g_ptr_array_add(w->s->aside, r < 0 ? g_strdup_printf("%s (and cannot be moved: %s)", why, g_strerror(-r)) : g_strdup(why));
}

/* False: set aside. */
static bool load(struct walk *w, int folder, const char *name, uint64_t id, struct report *ret_)
{
	char why[256] = "", *text;
	size_t n;
	int r = file_read(folder, name, REPORT_TEXT_MAX, &text, &n);

	if (r == -ENOENT)
		return false;
	if (r == 0) {
		r = report_from_text(text, n, ret_, why, sizeof(why));
		free(text);
	} else {
		g_strlcpy(why, r == -ENOTSUP ? "found no regular file" : r == -EFBIG ? "found more than 1 MiB" : g_strerror(-r), sizeof(why));
	}
	if (r == 0 && id_from_text(ret_->id) != id) {
		g_snprintf(why, sizeof(why), "found id %s, expected that of its name", ret_->id);
		r = -EINVAL;
	}
	if (r < 0)
		set_aside(w, folder, name, why);
	return r == 0;
}

/* Leaves alone what does not look like the store's own. */
static bool is_ours(const char *name)
{
	return name[0] != '.' && g_str_has_suffix(name, ".json");
}

static DIR *list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

static int compare_keys(const void *a, const void *b)
{
	const struct report_key *x = a, *y = b;

	if (x->began != y->began)
		return x->began < y->began ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static GArray *list_reports(struct walk *w)
{
	GArray *keys = g_array_new(FALSE, FALSE, sizeof(struct report_key));
	DIR *d = list(w->f->reports);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		struct report_key key;

		if (!is_ours(e->d_name))
			continue;
		if (report_file_parse(e->d_name, &key.began, &key.id) && key.id != 0)
			g_array_append_val(keys, key);
		else
			set_aside(w, w->f->reports, e->d_name, "expected a name of 20 digits, '-', 16 hex digits and .json");
	}
	if (d)
		closedir(d);
	g_array_sort(keys, compare_keys);
	return keys;
}

static bool is_newer(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* A crash before an older state of a report was removed leaves two files of one id: the one written later counts. */
static bool is_superseded(struct walk *w, const struct report_key *key, const struct stat *st)
{
	struct report_key other = { .id = key->id };
	char name[REPORT_FILE_SIZE];
	struct summary s;
	struct stat other_st;
	bool superseded;
	size_t at;

	if (!index_find(w->ix, key->id, &at))
		return false;
	index_get(w->ix, at, &s);
	other.began = (uint64_t) s.began_usec;
	report_file_name(name, other.began, other.id);
	superseded = fstatat(w->f->reports, name, &other_st, AT_SYMLINK_NOFOLLOW) == 0 && is_newer(&other_st.st_mtim, &st->st_mtim);
	g_array_append_vals(w->s->surplus, superseded ? key : &other, 1);
	return superseded;
}

static void take_in(struct walk *w, const struct report_key *key, const struct summary *s, const struct stat *st)
{
	struct summary summary = *s;

	if (is_superseded(w, key, st))
		return;
	/* The name decides about the order, whatever another version made of the marks. */
	summary.began_usec = (int64_t) key->began;
	summary.bytes = (uint64_t) st->st_size;
	index_put(w->ix, &summary);
	index_file_encode(w->fresh, &summary, st);
}

static void take_report(struct walk *w, const struct report_key *key)
{
	char name[REPORT_FILE_SIZE];
	struct index_record record;
	struct summary summary;
	struct report r;
	struct stat st;

	report_file_name(name, key->began, key->id);
	if (fstatat(w->f->reports, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	if (S_ISREG(st.st_mode) && index_file_find(w->known, key->id, &st, &record)) {
		take_in(w, key, &record.summary, &st);
		return;
	}
	w->s->parsed++;
	if (!load(w, w->f->reports, name, key->id, &r))
		return;
	if (!mig_state_is_end(r.state)) {
		set_aside(w, w->f->reports, name, "found a migration under way, expected one that has ended");
		return;
	}
	summary_of_report(&r, &summary);
	take_in(w, key, &summary, &st);
}

static void scan_reports(struct walk *w, uint32_t max_reports)
{
	GArray *keys = list_reports(w);
	guint surplus = keys->len > max_reports ? keys->len - max_reports : 0;

	if (surplus)
		g_array_append_vals(w->s->surplus, keys->data, surplus);
	for (guint i = surplus; i < keys->len; i++)
		take_report(w, &g_array_index(keys, struct report_key, i));
	g_array_unref(keys);
	/* Records of reports that are gone are carried along until they are a quarter. */
	if (w->s->parsed > 0 || !index_file_is_there(w->known) ||
	    index_file_records(w->known) > index_count(w->ix) + index_count(w->ix) / 4 + 16)
		index_file_write(w->f->top, w->fresh);
}

static void take_inflight(struct walk *w, const char *name)
{
	struct report r;
	uint64_t id;
	size_t at;

	if (!inflight_file_parse(name, &id) || id == 0) {
		set_aside(w, w->f->inflight, name, "expected a name of 16 hex digits and .json");
		return;
	}
	if (index_find(w->ix, id, &at)) {
		unlinkat(w->f->inflight, name, 0);
		return;
	}
	if (w->s->inflight->len >= INFLIGHT_MAX)
		set_aside(w, w->f->inflight, name, "found more than 1024 migrations under way");
	else if (load(w, w->f->inflight, name, id, &r))
		g_ptr_array_add(w->s->inflight, g_atomic_rc_box_dup(sizeof(r), &r));
}

static int compare_begin(const void *a, const void *b)
{
	int64_t x = report_began_usec(*(struct report *const *) a), y = report_began_usec(*(struct report *const *) b);

	return x < y ? -1 : x > y;
}

static void scan_inflight(struct walk *w)
{
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	DIR *d = list(w->f->inflight);
	struct dirent *e;

	/* Names first: files are moved out of the folder meanwhile. */
	while (d && (e = readdir(d)))
		if (is_ours(e->d_name))
			g_ptr_array_add(names, g_strdup(e->d_name));
	if (d)
		closedir(d);
	for (guint i = 0; i < names->len; i++)
		take_inflight(w, g_ptr_array_index(names, i));
	g_ptr_array_unref(names);
	g_ptr_array_sort(w->s->inflight, compare_begin);
}

void scan_folders(const struct folders *f, uint32_t max_reports, struct index *ix, struct scan *s)
{
	struct walk w = { .f = f, .ix = ix, .s = s, .known = index_file_load(f->top), .fresh = g_byte_array_new() };

	remove_leftovers(f->top);
	remove_leftovers(f->reports);
	remove_leftovers(f->inflight);
	index_file_begin(w.fresh);
	scan_reports(&w, max_reports);
	scan_inflight(&w);
	index_file_free(w.known);
	g_byte_array_unref(w.fresh);
}
