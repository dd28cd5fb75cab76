/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "doctor.h"
#include "format.h"

#define SIZES_MAX 32

/* A table is one page of 8-byte entries: an entry one level up covers that many pages. */
static uint64_t block_size(uint64_t page_size)
{
	return page_size * (page_size / 8);
}

static void look_at_pages(struct doctor *d)
{
	char page[FORMAT_MAX], block[FORMAT_MAX];

	doctor_add(d, "page-size", DOCTOR_OK, 0, "page size", NULL, NULL, "%s; the smallest block is %s (%" PRIu64 " pages)",
		   format_bytes(page, d->page_size), format_bytes(block, block_size(d->page_size)), d->page_size / 8);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Sizes of the hugetlb pools in KiB, from the names of their folders. Negative errno when there are none at all. */
static int read_sizes(const struct doctor *d, uint64_t sizes[SIZES_MAX])
{
	_cleanup_free_ char *path = xprintf("%s/kernel/mm/hugepages", d->sys);
	DIR *dir = opendir(path);
	struct dirent *e;
	int n = 0;

	if (!dir)
		return -errno;
	while (n < SIZES_MAX && (e = readdir(dir)))
		if (doctor_number(e->d_name, "hugepages-", 10, &sizes[n]))
			n++;
	closedir(dir);
	qsort(sizes, (size_t) n, sizeof sizes[0], by_size);
	return n;
}

static char *pool_text(const struct doctor *d, uint64_t kib)
{
	_cleanup_free_ char *all = doctor_read(DOCTOR_SMALL, d->sys, "kernel/mm/hugepages/hugepages-%" PRIu64 "kB/nr_hugepages", kib);
	_cleanup_free_ char *unused = doctor_read(DOCTOR_SMALL, d->sys, "kernel/mm/hugepages/hugepages-%" PRIu64 "kB/free_hugepages", kib);
	char size[FORMAT_MAX];
	uint64_t n, left;

	format_bytes(size, kib * 1024);
	if (!all || !unused || !doctor_number(all, "", 10, &n) || !doctor_number(unused, "", 10, &left))
		return xprintf("%s: cannot be read", size);
	return n ? xprintf("%s: %" PRIu64 " of %" PRIu64 " free", size, left, n) : xprintf("%s: none reserved", size);
}

static void look_at_hugetlb(struct doctor *d)
{
	static const char lost[] = "no guest can be backed by hugetlb pages";
	uint64_t sizes[SIZES_MAX];
	int n = read_sizes(d, sizes);
	char *text;

	if (n <= 0) {
		doctor_add(d, "hugetlb", n == -ENOENT || n == 0 ? DOCTOR_MISSING : DOCTOR_UNKNOWN, 0, "hugetlb pools", lost,
			   "a kernel with CONFIG_HUGETLBFS", "%s", n == -ENOENT || n == 0 ? "none in this kernel" : strerror(-n));
		return;
	}
	text = pool_text(d, sizes[0]);
	for (int i = 1; i < n; i++) {
		_cleanup_free_ char *more = pool_text(d, sizes[i]);
		char *longer = xprintf("%s; %s", text, more);

		free(text);
		text = longer;
	}
	doctor_add(d, "hugetlb", DOCTOR_OK, 0, "hugetlb pools", lost, NULL, "%s", text);
	free(text);
}

static void look_at_thp(struct doctor *d)
{
	static const char lost[] = "guests without hugetlb pages are mapped page by page all the time";
	_cleanup_free_ char *enabled = doctor_read(DOCTOR_SMALL, d->sys, "kernel/mm/transparent_hugepage/enabled");
	int error = errno;
	_cleanup_free_ char *size = doctor_read(DOCTOR_SMALL, d->sys, "kernel/mm/transparent_hugepage/hpage_pmd_size");
	_cleanup_free_ char *mode = enabled ? doctor_chosen(enabled) : NULL;
	char text[FORMAT_MAX] = "size not known";
	uint64_t bytes;

	if (size && doctor_number(size, "", 10, &bytes))
		format_bytes(text, bytes);
	if (!enabled)
		doctor_add(d, "thp", error == ENOENT ? DOCTOR_MISSING : DOCTOR_UNKNOWN, 0, "transparent huge pages", lost,
			   "a kernel with CONFIG_TRANSPARENT_HUGEPAGE", "%s", error == ENOENT ? "not in this kernel" : strerror(error));
	else if (!mode)
		doctor_add(d, "thp", DOCTOR_UNKNOWN, 0, "transparent huge pages", lost, NULL, "their state has an unknown format");
	else if (strcmp(mode, "never") == 0)
		doctor_add(d, "thp", DOCTOR_MISSING, 0, "transparent huge pages", lost,
			   "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: QEMU asks for them", "never (%s)", text);
	else
		doctor_add(d, "thp", DOCTOR_OK, 0, "transparent huge pages", lost, NULL, "%s (%s)", mode, text);
}

void doctor_memory(struct doctor *d)
{
	look_at_pages(d);
	look_at_hugetlb(d);
	look_at_thp(d);
}
