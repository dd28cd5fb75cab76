/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_WHEN_H
#define ROLLBACKCTL_WHEN_H

/* Moments and figures as people type them. */

#include <stdbool.h>
#include <stdint.h>

#define WHEN_EXPECTED "a date such as 2026-11-30T18:03:43Z or 2026-11-30, a span such as 90s, 2h or \"1d 4h\", today or yesterday"

/* RFC 3339 ('T' or a space; no zone means local time; time of day optional), a span back from now ("2h", "1d 4h", "2 hours ago"),
 * "now", "today" (midnight) or "yesterday". False for anything else, then *ret_ is untouched. Microseconds since the epoch. */
bool when_parse(const char *word, int64_t now_usec, int64_t *ret_);

/* RFC 3339 with zone only, as reports have it. */
bool when_parse_rfc3339(const char *word, int64_t *ret_);

/* A whole decimal number within min..max. */
bool when_parse_number(const char *word, uint64_t min, uint64_t max, uint64_t *ret_);

int64_t when_now(void);

#endif
