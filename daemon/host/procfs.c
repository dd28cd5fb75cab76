/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/procfs.h"

/* A libvirt command line has a few KiB; one with hundreds of devices some dozens. */
#define CMDLINE_MAX (256 * 1024)

/* Many guests that roll back at once ask within milliseconds of each other. */
#define SCAN_AGE_MAX NSEC_PER_SEC

ssize_t procfs_read(const char *path, char *ret_, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t n = 0;

	if (fd < 0)
		return -errno;
	while (n < size - 1) {
		ssize_t r = read(fd, ret_ + n, size - 1 - n);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0) {
			int e = errno;

			close(fd);
			return -e;
		}
		if (r == 0)
			break;
		n += (size_t) r;
	}
	close(fd);
	ret_[n] = '\0';
	return (ssize_t) n;
}

bool procfs_kib_line(const char *text, const char *name, uint64_t *ret_bytes)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ':') {
			*ret_bytes = strtoull(line + n + 1, NULL, 10) * 1024;
			return true;
		}
	}
	return false;
}

/* The value of "key=" among QEMU's comma-separated options; the first option itself, which may go without its key, when
 * there is none. */
static const char *option(const char *argument, const char *key)
{
	size_t n = strlen(key);

	for (const char *o = argument; o; o = strchr(o, ',')) {
		o += *o == ',';
		if (strncmp(o, key, n) == 0 && o[n] == '=')
			return o + n + 1;
	}
	return argument;
}

uint64_t procfs_parse_memory(const char *argument)
{
	char *end;
	uint64_t n = strtoull(option(argument, "size"), &end, 10);

	switch (tolower((unsigned char) *end)) {
	case 'k':
		return n << 10;
	case 'g':
		return n << 30;
	case 't':
		return n << 40;
	default:
		return n << 20; /* QEMU's unit when none is given */
	}
}

uint32_t procfs_parse_smp(const char *argument)
{
	return (uint32_t) strtoul(option(argument, "cpus"), NULL, 10);
}

static uint64_t start_time(const char *proc, pid_t pid)
{
	char path[4096], text[1024], *p;

	snprintf(path, sizeof(path), "%s/%d/stat", proc, (int) pid);
	if (procfs_read(path, text, sizeof(text)) <= 0)
		return 0;
	p = strrchr(text, ')'); /* the name may hold anything */
	for (int field = 2; p && field < 22; field++)
		p = strchr(p + 1, ' ');
	return p ? strtoull(p + 1, NULL, 10) : 0;
}

/* Arguments are NUL-separated. */
static void parse_arguments(const char *text, size_t n, struct qemu_process *q)
{
	const char *end = text + n;

	for (const char *a = text, *next; a < end; a = next) {
		next = a + strlen(a) + 1;
		if (strcmp(a, "-incoming") == 0)
			q->incoming = true;
		if (next >= end)
			break;
		if (strcmp(a, "-uuid") == 0 && strlen(next) == REPORT_UUID_LEN)
			memcpy(q->uuid, next, REPORT_UUID_LEN + 1);
		if (strcmp(a, "-m") == 0)
			q->memory_bytes = procfs_parse_memory(next);
		if (strcmp(a, "-smp") == 0)
			q->vcpus = procfs_parse_smp(next);
	}
}

static bool is_qemu(const char *text)
{
	const char *name = strrchr(text, '/');

	name = name ? name + 1 : text;
	return g_str_has_prefix(name, "qemu-") || strcmp(name, "qemu-kvm") == 0 || strcmp(name, "kvm") == 0;
}

static bool read_process(const char *proc, pid_t pid, char *buffer, struct qemu_process *ret_)
{
	char path[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/cmdline", proc, (int) pid);
	n = procfs_read(path, buffer, CMDLINE_MAX);
	if (n <= 0 || !is_qemu(buffer))
		return false;
	*ret_ = (struct qemu_process) { .pid = pid };
	parse_arguments(buffer, (size_t) n, ret_);
	if (!ret_->uuid[0])
		return false;
	ret_->start = start_time(proc, pid);
	return ret_->start != 0;
}

static int scan(const char *proc, GArray *found)
{
	g_autofree char *buffer = g_malloc(CMDLINE_MAX);
	DIR *d = opendir(proc);
	struct dirent *e;

	if (!d)
		return -errno;
	while ((e = readdir(d))) {
		struct qemu_process q;
		pid_t pid = isdigit((unsigned char) e->d_name[0]) ? atoi(e->d_name) : 0;

		if (pid > 0 && read_process(proc, pid, buffer, &q))
			g_array_append_val(found, q);
	}
	closedir(d);
	return 0;
}

static bool fits_better(const struct qemu_process *q, const struct qemu_process *best, enum side side)
{
	if (!best)
		return true;
	if (side == SIDE_DESTINATION)
		return q->start > best->start;
	return q->start < best->start;
}

static const struct qemu_process *choose(GArray *found, const char *uuid, enum side side)
{
	const struct qemu_process *best = NULL;

	for (guint i = 0; i < found->len; i++) {
		const struct qemu_process *q = &g_array_index(found, struct qemu_process, i);

		if (strcmp(q->uuid, uuid) != 0 || (side == SIDE_DESTINATION && !q->incoming))
			continue;
		if (fits_better(q, best, side))
			best = q;
	}
	return best;
}

bool procfs_is_alive(const char *proc, const struct qemu_process *p)
{
	return start_time(proc, p->pid) == p->start;
}

/* The last scan, for those who ask right after. A process may have started since, so a miss scans again. */
static GMutex scan_lock;
static GArray *scan_last;
static char *scan_proc;
static nsec_t scan_at;

static int rescan(const char *proc)
{
	GArray *found = g_array_new(FALSE, FALSE, sizeof(struct qemu_process));
	int r = scan(proc, found);

	if (r < 0) {
		g_array_unref(found);
		return r;
	}
	if (scan_last)
		g_array_unref(scan_last);
	g_free(scan_proc);
	scan_last = found;
	scan_proc = g_strdup(proc);
	scan_at = clock_monotonic();
	return 0;
}

int procfs_find_qemu(const char *proc, const char *uuid, enum side side, struct qemu_process *ret_)
{
	const struct qemu_process *best = NULL;
	int r = 0;

	g_mutex_lock(&scan_lock);
	if (scan_last && strcmp(scan_proc, proc) == 0 && clock_monotonic() - scan_at < SCAN_AGE_MAX)
		best = choose(scan_last, uuid, side);
	/* For a destination the old scan may hold last migration's process only. */
	if (!best || side == SIDE_DESTINATION || !procfs_is_alive(proc, best)) {
		r = rescan(proc);
		best = r < 0 ? NULL : choose(scan_last, uuid, side);
	}
	if (best)
		*ret_ = *best;
	g_mutex_unlock(&scan_lock);
	return best ? 0 : r < 0 ? r : -ENOENT;
}
