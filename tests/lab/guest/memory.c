/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_HUGE_1GB
#define MAP_HUGE_1GB (30 << 26)
#endif

static const char *const backing_names[_BACKING_MAX] = {
	[BACKING_PMD] = "pmd",
	[BACKING_1G] = "1g",
	[BACKING_THP] = "thp",
	[BACKING_BASE] = "base",
};

const char *backing_to_string(enum backing backing)
{
	return backing_names[backing];
}

enum backing backing_from_string(const char *name)
{
	for (int i = 0; i < _BACKING_MAX; i++)
		if (strcmp(backing_names[i], name) == 0)
			return i;
	return _BACKING_INVALID;
}

/* The number after "KEY" in a file of "KEY: n" or plain "n" lines; -1 if none. */
static long file_number(const char *path, const char *key)
{
	char line[256];
	long value = -1;
	FILE *f = fopen(path, "re");

	if (!f)
		return -1;
	while (value < 0 && fgets(line, sizeof(line), f))
		if (strncmp(line, key, strlen(key)) == 0)
			value = strtol(line + strlen(key), NULL, 10);
	fclose(f);
	return value;
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

size_t backing_block(enum backing backing)
{
	long kib = file_number("/proc/meminfo", "Hugepagesize:");

	switch (backing) {
	case BACKING_1G:
		return (size_t)1 << 30;
	case BACKING_BASE:
		return (size_t)sysconf(_SC_PAGESIZE);
	case BACKING_PMD:
	case BACKING_THP: /* both are the PMD size */
	case _BACKING_MAX:
	case _BACKING_INVALID:
		break;
	}
	return kib < 0 ? 0 : (size_t)kib << 10;
}

static bool all_huge(void *memory, size_t size)
{
	char line[256], want[32];
	bool inside = false;
	long kib = 0;
	FILE *f = fopen("/proc/self/smaps", "re");

	if (!f)
		return false;
	snprintf(want, sizeof(want), "%lx-", (unsigned long)memory);
	while (fgets(line, sizeof(line), f)) {
		if (strncmp(line, want, strlen(want)) == 0)
			inside = true;
		if (inside && sscanf(line, "AnonHugePages: %ld kB", &kib) == 1)
			break;
	}
	fclose(f);
	return (size_t)kib << 10 >= size;
}

/* An aligned hole of the address space, so that HVA and IPA agree in a block. */
static void *map_aligned(size_t size, size_t align, int flags)
{
	uint8_t *area = mmap(NULL, size + align, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	uint8_t *at;

	if (area == MAP_FAILED)
		return area;
	at = (uint8_t *)(((uintptr_t)area + align - 1) & ~((uintptr_t)align - 1));
	munmap(area, (size_t)(at - area));
	munmap(at + size, align - (size_t)(at - area));
	return mmap(at, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | flags, -1, 0);
}

int memory_map(enum backing backing, size_t size, void **ret_memory)
{
	size_t block = backing_block(backing);
	int flags = 0;
	void *memory;

	if (block == 0)
		return -ENOTSUP;
	if (backing == BACKING_PMD)
		flags = MAP_HUGETLB;
	else if (backing == BACKING_1G)
		flags = MAP_HUGETLB | MAP_HUGE_1GB;
	memory = map_aligned(size, block, flags);
	if (memory == MAP_FAILED)
		return -errno;
	if (backing == BACKING_THP || backing == BACKING_BASE)
		madvise(memory, size, backing == BACKING_THP ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory, 0, size);
	if (backing == BACKING_THP && !all_huge(memory, size)) {
		munmap(memory, size);
		return -ENOTSUP;
	}
	*ret_memory = memory;
	return 0;
}

void memory_unmap(void *memory, size_t size)
{
	munmap(memory, size);
}

long memory_table_kib(void)
{
	/* synchronize_rcu() on behalf of this process, then time for callbacks queued before it */
	syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	usleep(50000);
	write_file("/proc/sys/vm/stat_refresh", "1");
	return file_number("/proc/meminfo", "SecPageTables:");
}
