/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/folders.h"

/* A person looks at a few of them; more come only from a fault that repeats. */
#define ASIDE_MAX 100

struct oldest {
	char name[256];
	struct timespec at;
	unsigned files;
};

static bool is_before(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* The rename into the folder set ctime. Folders that came here count as files do. */
static int find_oldest(int aside, struct oldest *o)
{
	int fd = openat(aside, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	struct stat st;

	if (!d) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	*o = (struct oldest) { 0 };
	while ((e = readdir(d))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (fstatat(aside, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (o->files++ == 0 || is_before(&st.st_ctim, &o->at)) {
			o->at = st.st_ctim;
			snprintf(o->name, sizeof(o->name), "%s", e->d_name);
		}
	}
	closedir(d);
	return 0;
}

/* Makes room for one more. A folder that is not empty is left to a person. */
static void make_room(int aside)
{
	struct oldest o;

	while (find_oldest(aside, &o) == 0 && o.files >= ASIDE_MAX)
		if (unlinkat(aside, o.name, 0) < 0 && unlinkat(aside, o.name, AT_REMOVEDIR) < 0)
			return;
}

int file_set_aside(const struct folders *f, int folder, const char *name)
{
	char to[260];

	make_room(f->aside);
	if (renameat2(folder, name, f->aside, name, RENAME_NOREPLACE) == 0)
		return 0;
	for (int i = 1; i < 10 && errno == EEXIST; i++) {
		snprintf(to, sizeof(to), "%.250s.%d", name, i);
		if (renameat2(folder, name, f->aside, to, RENAME_NOREPLACE) == 0)
			return 0;
	}
	/* No name is free, or the file system knows no RENAME_NOREPLACE. */
	return renameat(folder, name, f->aside, name) < 0 ? -errno : 0;
}
