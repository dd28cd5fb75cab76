/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "store/disk.h"
#include "store/index-file.h"
#include "store/report-json.h"
#include "store/summary.h"

void disk_done(struct disk *d)
{
	folders_close(&d->folders);
	g_free(d->dir);
}

/* A folder that somebody removed under us has no name left. */
static bool is_gone(int folder)
{
	struct stat st;

	return fstat(folder, &st) == 0 && st.st_nlink == 0;
}

static int ensure_folders(struct disk *d)
{
	if (d->folders.top >= 0 && (is_gone(d->folders.reports) || is_gone(d->folders.inflight)))
		folders_close(&d->folders);
	return d->folders.top >= 0 ? 0 : folders_open(d->dir, FOLDERS_CREATE | FOLDERS_LOCK, &d->folders);
}

int disk_probe(struct disk *d)
{
	int r = ensure_folders(d);

	if (r < 0)
		return r;
	return faccessat(d->folders.reports, ".", W_OK, AT_EACCESS) < 0 ? -errno : 0;
}

static int write_finished(struct disk *d, const struct report *r, const char *text, size_t n)
{
	char name[REPORT_FILE_SIZE], inflight[REPORT_FILE_SIZE];
	uint64_t id = id_from_text(r->id);
	struct summary s;
	struct stat st;
	int k;

	summary_of_report(r, &s);
	report_file_name(name, (uint64_t) s.began_usec, id);
	k = file_replace(d->folders.reports, name, text, n, &st);
	if (k == -EISDIR && file_set_aside(&d->folders, d->folders.reports, name) == 0)
		k = file_replace(d->folders.reports, name, text, n, &st);
	if (k < 0)
		return k;
	index_file_append(d->folders.top, &s, &st);
	inflight_file_name(inflight, id);
	unlinkat(d->folders.inflight, inflight, 0);
	return 0;
}

static int write_inflight(struct disk *d, const struct report *r, const char *text, size_t n)
{
	char name[REPORT_FILE_SIZE];

	inflight_file_name(name, id_from_text(r->id));
	return file_replace(d->folders.inflight, name, text, n, NULL);
}

int disk_write(struct disk *d, const struct report *r, bool finished, uint64_t *ret_bytes)
{
	int k = ensure_folders(d);
	char *text;
	size_t n;

	if (k < 0)
		return k;
	text = report_to_text(r);
	if (!text)
		return -ENOMEM;
	n = strlen(text);
	text[n++] = '\n'; /* in place of the NUL: n bytes are written, nothing reads it as a string again */
	k = finished ? write_finished(d, r, text, n) : write_inflight(d, r, text, n);
	free(text);
	if (k == 0)
		*ret_bytes = n;
	return k;
}

int disk_remove(struct disk *d, uint64_t began, uint64_t id)
{
	char name[REPORT_FILE_SIZE];
	int r = ensure_folders(d);

	if (r < 0)
		return r;
	report_file_name(name, began, id);
	if (unlinkat(d->folders.reports, name, 0) == 0)
		return 0;
	return errno == EROFS || errno == EIO || errno == ENOSPC || errno == EDQUOT ? -errno : 0;
}
