/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is behind a guest, from its running process. /proc/PID/maps lists mappings without walking page tables; the file
 * behind each hugetlb mapping says its page size by statfs(2) through map_files. /proc/PID/smaps would say it too, but
 * walks every page table under the mmap lock, for a second and more on a large guest. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>
#include <linux/magic.h>

#include "host/procfs.h"

/* smaps_rollup is the only per-process word on transparent huge pages. It walks 4 KiB entries at about 20 ns each: up to
 * this size that stays under 100 ms, and a huge page costs one entry. */
#define ROLLUP_MAX (16ull << 30)

static void add(struct backing *b, enum page_kind kind, uint64_t page_size, uint64_t bytes)
{
	if (!bytes)
		return;
	for (unsigned i = 0; i < b->n; i++) {
		if (b->pages[i].kind != kind || b->pages[i].page_size != page_size)
			continue;
		b->pages[i].bytes += bytes;
		return;
	}
	if (b->n == REPORT_PAGES_MAX)
		return;
	b->pages[b->n].kind = kind;
	b->pages[b->n].page_size = page_size;
	b->pages[b->n++].bytes = bytes;
}

static void because(struct backing *b, const char *what, int error)
{
	if (!b->reason[0])
		snprintf(b->reason, sizeof(b->reason), "%s: %s", what, strerror(error));
}

/* Names under which the kernel shows hugetlb mappings: a file on hugetlbfs has any name, so only size is a hint there;
 * every file mapping that is shared or large is asked. */
static bool worth_asking(uint64_t bytes, const char *name)
{
	return bytes >= (64u << 10) && name[0] && name[0] != '[' && !strstr(name, ".so");
}

static void look_at_mapping(const char *proc, struct backing *b, const char *line)
{
	unsigned long long start, end;
	char perms[5], path[4096];
	int name_at = 0;
	struct statfs fs;

	if (sscanf(line, "%llx-%llx %4s %*x %*s %*u %n", &start, &end, perms, &name_at) != 3 || end <= start)
		return;
	if (!worth_asking(end - start, line + name_at))
		return;
	snprintf(path, sizeof(path), "%s/%d/map_files/%llx-%llx", proc, (int) b->pid, start, end);
	if (statfs(path, &fs) < 0) {
		if (errno != ENOENT)
			because(b, "map_files", errno);
		return;
	}
	if (fs.f_type == HUGETLBFS_MAGIC)
		add(b, PAGE_HUGETLB, (uint64_t) fs.f_bsize, end - start);
}

static void hugetlb_mappings(const char *proc, struct backing *b)
{
	char path[4096], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%d/maps", proc, (int) b->pid);
	f = fopen(path, "re");
	if (!f) {
		because(b, "maps", errno);
		return;
	}
	while (getline(&line, &size, f) >= 0)
		look_at_mapping(proc, b, line);
	free(line);
	fclose(f);
}

/* 0 when there are none or nobody says. */
static uint64_t transparent_bytes(const char *proc, struct backing *b)
{
	char path[4096], text[4096];
	uint64_t anon = 0, shmem = 0;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/smaps_rollup", proc, (int) b->pid);
	n = procfs_read(path, text, sizeof(text));
	if (n < 0) {
		because(b, "smaps_rollup", (int) -n);
		return 0;
	}
	procfs_kib_line(text, "AnonHugePages", &anon);
	procfs_kib_line(text, "ShmemPmdMapped", &shmem);
	return anon + shmem;
}

static uint64_t thp_size(void)
{
	char text[64];

	if (procfs_read("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size", text, sizeof(text)) <= 0)
		return 0;
	return strtoull(text, NULL, 10);
}

int procfs_hugetlb_held(const char *proc, pid_t pid, uint64_t *ret_bytes)
{
	char path[4096], text[8192];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/status", proc, (int) pid);
	n = procfs_read(path, text, sizeof(text));
	if (n < 0)
		return (int) n;
	return procfs_kib_line(text, "HugetlbPages", ret_bytes) ? 0 : -ENODATA;
}

void procfs_backing(const char *proc, pid_t pid, struct backing *b)
{
	char path[4096], text[8192];
	uint64_t anon = 0, shmem = 0, thp = 0, size = thp_size();
	ssize_t n;

	*b = (struct backing) { .pid = pid };
	snprintf(path, sizeof(path), "%s/%d/status", proc, (int) pid);
	n = procfs_read(path, text, sizeof(text));
	if (n < 0) {
		because(b, "status", (int) -n);
		return;
	}
	hugetlb_mappings(proc, b);
	procfs_kib_line(text, "RssAnon", &anon);
	procfs_kib_line(text, "RssShmem", &shmem);
	if (size && anon + shmem <= ROLLUP_MAX)
		thp = transparent_bytes(proc, b);
	else if (size)
		snprintf(b->reason, sizeof(b->reason), "over 16 GiB outside hugetlb: transparent huge pages not counted");
	if (thp > anon + shmem)
		thp = anon + shmem;
	add(b, PAGE_THP, size, thp);
	add(b, PAGE_BASE, (uint64_t) sysconf(_SC_PAGESIZE), anon + shmem - thp);
}
