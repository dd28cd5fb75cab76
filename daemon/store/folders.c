/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "rollbackd/names.h"
#include "store/folders.h"

#define TEMPORARY ".tmp-"

static int open_folder(int at, const char *name, unsigned flags, int extra)
{
	int fd;

	if ((flags & FOLDERS_CREATE) && mkdirat(at, name, 0750) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | extra);
	return fd < 0 ? -errno : fd;
}

int folders_open(const char *dir, unsigned flags, struct folders *ret_)
{
	static const char *const names[] = { RBD_REPORTS_DIR, RBD_INFLIGHT_DIR, RBD_ASIDE_DIR };
	struct folders f = FOLDERS_CLOSED;
	int *fds[] = { &f.reports, &f.inflight, &f.aside }, r = 0;

	f.top = open_folder(AT_FDCWD, dir, flags, 0);
	if (f.top < 0)
		return f.top;
	if ((flags & FOLDERS_LOCK) && flock(f.top, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? -EBUSY : -errno;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && r == 0; i++) {
		*fds[i] = open_folder(f.top, names[i], flags, O_NOFOLLOW);
		if (*fds[i] < 0)
			r = *fds[i];
	}
	if (r < 0) {
		folders_close(&f);
		return r;
	}
	*ret_ = f;
	return 0;
}

void folders_close(struct folders *f)
{
	const int fds[] = { f->top, f->reports, f->inflight, f->aside };

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	*f = FOLDERS_CLOSED;
}

void report_file_name(char to[static REPORT_FILE_SIZE], uint64_t began, uint64_t id)
{
	snprintf(to, REPORT_FILE_SIZE, "%020" PRIu64 "-%016" PRIx64 ".json", began, id);
}

void inflight_file_name(char to[static REPORT_FILE_SIZE], uint64_t id)
{
	snprintf(to, REPORT_FILE_SIZE, "%016" PRIx64 ".json", id);
}

/* Names are parsed by writing them again: only what is exactly a name passes. */
bool report_file_parse(const char *name, uint64_t *ret_began, uint64_t *ret_id)
{
	char back[REPORT_FILE_SIZE];
	uint64_t began, id;

	if (sscanf(name, "%20" SCNu64 "-%16" SCNx64, &began, &id) != 2 || began > INT64_MAX)
		return false;
	report_file_name(back, began, id);
	if (strcmp(back, name) != 0)
		return false;
	*ret_began = began;
	*ret_id = id;
	return true;
}

bool inflight_file_parse(const char *name, uint64_t *ret_id)
{
	char back[REPORT_FILE_SIZE];
	uint64_t id;

	if (sscanf(name, "%16" SCNx64, &id) != 1)
		return false;
	inflight_file_name(back, id);
	if (strcmp(back, name) != 0)
		return false;
	*ret_id = id;
	return true;
}

static int write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t k = write(fd, data, n);

		if (k < 0 && errno == EINTR)
			continue;
		if (k < 0)
			return -errno;
		data += k;
		n -= (size_t) k;
	}
	return 0;
}

static int fill(int fd, const void *data, size_t n, struct stat *ret_)
{
	int r = write_all(fd, data, n);

	if (r == 0 && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && ret_ && fstat(fd, ret_) < 0)
		r = -errno;
	/* NFS tells of a full disk here. */
	if (close(fd) < 0 && r == 0 && errno != EINTR)
		r = -errno;
	return r;
}

int file_replace(int folder, const char *name, const void *data, size_t n, struct stat *ret_)
{
	char tmp[REPORT_FILE_SIZE + sizeof(TEMPORARY)];
	int fd, r;

	snprintf(tmp, sizeof(tmp), TEMPORARY "%s", name);
	unlinkat(folder, tmp, 0);
	fd = openat(folder, tmp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (fd < 0)
		return -errno;
	r = fill(fd, data, n, ret_);
	if (r == 0 && renameat(folder, tmp, folder, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(folder, tmp, 0);
	else if (fsync(folder) < 0)
		r = -errno;
	return r;
}

static int read_up_to(int fd, char *to, size_t max, size_t *ret_)
{
	size_t used = 0;
	ssize_t n;

	while ((n = read(fd, to + used, max - used)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		used += (size_t) n;
		if (used == max)
			break;
	}
	*ret_ = used;
	return 0;
}

/* One byte more than the length is asked for: a file that grows meanwhile is read to its old end and fails as JSON. */
static int read_open(int fd, size_t max, char **ret_, size_t *ret_n)
{
	struct stat st;
	char *text;
	int r;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOTSUP;
	if (st.st_size > (off_t) max)
		return -EFBIG;
	text = malloc((size_t) st.st_size + 1);
	if (!text)
		return -ENOMEM;
	r = read_up_to(fd, text, (size_t) st.st_size + 1, ret_n);
	if (r < 0) {
		free(text);
		return r;
	}
	*ret_ = text;
	return 0;
}

int file_read(int folder, const char *name, size_t max, char **ret_, size_t *ret_n)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), r;

	if (fd < 0)
		return errno == ELOOP ? -ENOTSUP : -errno;
	r = read_open(fd, max, ret_, ret_n);
	close(fd);
	return r;
}

/* A list of its own, for the folder's descriptor keeps its place. NULL when that cannot be had. */
static DIR *list(int folder)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !d)
		close(fd);
	return d;
}

void remove_leftovers(int folder)
{
	DIR *d = list(folder);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (strncmp(e->d_name, TEMPORARY, strlen(TEMPORARY)) == 0)
			unlinkat(folder, e->d_name, 0);
	if (d)
		closedir(d);
}
