/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_FORMAT_H
#define ROLLBACKCTL_FORMAT_H

/* Figures for people. Results fit FORMAT_MAX bytes and are returned for use in place. */

#include <stdbool.h>
#include <stdint.h>

#define FORMAT_MAX 64

/* Three digits and a unit: "57 us", "1.53 s", "2 min 05 s", "3 h 07 min", "4 d 02 h". A lower bound gets ">= " or "≥ " in
 * front and is cut, not rounded, so that it stays true; an upper bound gets "<= " or "≤ " and is rounded up. */
enum format_flags {
	FORMAT_LOWER_BOUND = 1 << 0,
	FORMAT_UTF8        = 1 << 1,
	FORMAT_UPPER_BOUND = 1 << 2, /* not beside FORMAT_LOWER_BOUND */
};
const char *format_usec(char *buf, uint64_t usec, unsigned flags);

/* "512 MiB", "1.50 GiB", "4096 B" only where no larger unit is exact or at least 1. */
const char *format_bytes(char *buf, uint64_t bytes);

/* Local time: "2026-11-30 18:03", or with microseconds and zone: "2026-11-30 18:03:43.123456 UTC". */
const char *format_date(char *buf, int64_t real_usec);
const char *format_date_exact(char *buf, int64_t real_usec);

/* Where the part from..to of a whole lies on a line of width cells; an interval smaller than one cell is drawn as a thin
 * stroke where it lies, never as a full cell. Writes at most 4 * width + 1 bytes. */
const char *format_span(char *buf, uint64_t from, uint64_t to, uint64_t whole, unsigned width, bool utf8);

/* A bar filled from the left: "[####....]" or blocks with eighths. At most 4 * width + 3 bytes. */
const char *format_bar(char *buf, uint64_t part, uint64_t whole, unsigned width, bool utf8);

#endif
