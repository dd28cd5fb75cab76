/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/hugepages.h"
#include "host/procfs.h"

int hugepages_free(const char *sysfs, uint64_t page_size, uint64_t *ret_bytes)
{
	char path[4096], text[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/kernel/mm/hugepages/hugepages-%" PRIu64 "kB/free_hugepages", sysfs, page_size / 1024);
	n = procfs_read(path, text, sizeof(text));
	if (n < 0)
		return (int) n;
	*ret_bytes = strtoull(text, NULL, 10) * page_size;
	return 0;
}

bool hugepages_of(const struct backing *b, uint64_t *ret_page_size, uint64_t *ret_bytes)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < b->n; i++) {
		if (b->pages[i].kind != PAGE_HUGETLB || b->pages[i].bytes <= most)
			continue;
		most = b->pages[i].bytes;
		*ret_page_size = b->pages[i].page_size;
	}
	*ret_bytes = most;
	return most > 0;
}
