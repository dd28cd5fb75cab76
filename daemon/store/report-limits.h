/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_REPORT_LIMITS_H
#define ROLLBACKD_STORE_REPORT_LIMITS_H

#include "core/report.h"

/* What the reader accepts and the writer keeps to. */
#define REPORT_USEC_MAX       ((uint64_t) INT64_MAX / NSEC_PER_USEC) /* 292 years of monotonic clock */
#define REPORT_RESOLUTION_MAX ((uint64_t) 3600 * 1000000)           /* us; a source coarser than an hour tells no time */
#define REPORT_BYTES_MAX      ((uint64_t) INT64_MAX)
#define REPORT_TEXT_MAX       ((size_t) 1 << 20)                    /* bytes of a whole report; real ones have 3 to 25 KiB */

/* The marks that a report of this side lists even when they are missing. */
static inline bool report_lists_mark(enum side side, enum mark_id m)
{
	switch (side) {
	case SIDE_SOURCE:
		return m < MARK_D0;
	case SIDE_DESTINATION:
		return m >= MARK_D0 || m == MARK_TE;
	case SIDE_UNKNOWN:
	case SIDE_MAX:
	case SIDE_INVALID:
		break;
	}
	return true;
}

#endif
