/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_HUGEPAGES_H
#define ROLLBACKD_HOST_HUGEPAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/report.h"

/* Free bytes of the host's hugetlb pool of one page size (bytes). 0 or a negative errno. sysfs reads never block. */
int hugepages_free(const char *sysfs, uint64_t page_size, uint64_t *ret_bytes);

/* The largest hugetlb part of a backing: the one whose return to the pool is watched. False when there is none. */
bool hugepages_of(const struct backing *b, uint64_t *ret_page_size, uint64_t *ret_bytes);

#endif
