/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "format.h"

enum rounding { ROUND_NEAREST, ROUND_DOWN, ROUND_UP };

static uint64_t rounded(unsigned __int128 value, uint64_t unit, enum rounding how)
{
	return (uint64_t) ((value + (how == ROUND_NEAREST ? unit / 2 : how == ROUND_UP ? unit - 1 : 0)) / unit);
}

/* value / unit with three digits. False when rounding reaches 1000: the next unit is due. */
static bool three_digits(char *buf, uint64_t value, uint64_t unit, enum rounding how, const char *name)
{
	for (unsigned decimals = unit == 1 ? 0 : 2;; decimals--) {
		uint64_t scale = decimals == 2 ? 100 : decimals == 1 ? 10 : 1;
		uint64_t x = rounded((unsigned __int128) value * scale, unit, how);

		if (x >= 1000 && decimals > 0)
			continue;
		if (x >= 1000 && unit > 1)
			return false;
		if (decimals)
			snprintf(buf, FORMAT_MAX, "%" PRIu64 ".%0*" PRIu64 " %s", x / scale, (int) decimals, x % scale, name);
		else
			snprintf(buf, FORMAT_MAX, "%" PRIu64 " %s", x, name);
		return true;
	}
}

static void two_units(char *buf, uint64_t value, unsigned ratio, const char *large, const char *small)
{
	snprintf(buf, FORMAT_MAX, "%" PRIu64 " %s %02u %s", value / ratio, large, (unsigned) (value % ratio), small);
}

static void long_duration(char *buf, uint64_t usec, enum rounding how)
{
	uint64_t seconds = rounded(usec, 1000000, how), minutes = rounded(seconds, 60, how), hours = rounded(minutes, 60, how);

	if (seconds < 3600)
		two_units(buf, seconds, 60, "min", "s");
	else if (minutes < 24 * 60)
		two_units(buf, minutes, 60, "h", "min");
	else
		two_units(buf, hours, 24, "d", "h");
}

const char *format_usec(char *buf, uint64_t usec, unsigned flags)
{
	enum rounding how = flags & FORMAT_LOWER_BOUND ? ROUND_DOWN : flags & FORMAT_UPPER_BOUND ? ROUND_UP : ROUND_NEAREST;
	/* From here on seconds with one decimal would be a minute. */
	uint64_t minute = how == ROUND_DOWN ? 60000000 : how == ROUND_UP ? 59900001 : 59950000;
	static const char *const signs[][2] = { [ROUND_NEAREST] = { "", "" }, [ROUND_DOWN] = { ">= ", "\u2265 " }, [ROUND_UP] = { "<= ", "\u2264 " } };
	char figure[FORMAT_MAX];

	if (usec < 1000)
		snprintf(figure, sizeof figure, "%" PRIu64 " us", usec);
	else if (!(usec < 1000000 && three_digits(figure, usec, 1000, how, "ms")) &&
		 !(usec < minute && three_digits(figure, usec, 1000000, how, "s")))
		long_duration(figure, usec, how);
	snprintf(buf, FORMAT_MAX, "%s%.50s", signs[how][!!(flags & FORMAT_UTF8)], figure);
	return buf;
}

const char *format_bytes(char *buf, uint64_t bytes)
{
	static const char *const names[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	unsigned i = 0;
	uint64_t unit = 1;

	while (i < 6 && bytes / unit >= 1024) {
		unit *= 1024;
		i++;
	}
	if (bytes % unit == 0) {
		snprintf(buf, FORMAT_MAX, "%" PRIu64 " %s", bytes / unit, names[i]);
		return buf;
	}
	/* 1000 to 1023 of a unit have four digits: three_digits() would pass them on. */
	if (bytes / unit >= 999)
		snprintf(buf, FORMAT_MAX, "%" PRIu64 " %s", bytes / unit, names[i]);
	else
		three_digits(buf, bytes, unit, ROUND_NEAREST, names[i]);
	return buf;
}

static struct tm local(int64_t real_usec)
{
	time_t t = (time_t) (real_usec / 1000000 - (real_usec % 1000000 < 0));
	struct tm tm = { .tm_mday = 1 };

	localtime_r(&t, &tm);
	return tm;
}

const char *format_date(char *buf, int64_t real_usec)
{
	struct tm tm = local(real_usec);

	if (strftime(buf, FORMAT_MAX, "%Y-%m-%d %H:%M", &tm) == 0)
		snprintf(buf, FORMAT_MAX, "%" PRId64 " us", real_usec);
	return buf;
}

const char *format_date_exact(char *buf, int64_t real_usec)
{
	int fraction = (int) ((real_usec % 1000000 + 1000000) % 1000000);
	struct tm tm = local(real_usec);
	char seconds[FORMAT_MAX] = "?", zone[FORMAT_MAX] = "";

	if (strftime(seconds, sizeof seconds, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		strcpy(seconds, "?");
	if (strftime(zone, sizeof zone, "%Z", &tm) == 0)
		*zone = 0;
	snprintf(buf, FORMAT_MAX, "%.30s.%06d %.20s", seconds, fraction, zone);
	return buf;
}

/* part * width / whole, rounded to nearest, at most width. */
static unsigned cells(uint64_t part, uint64_t whole, unsigned width)
{
	if (whole == 0 || part >= whole)
		return whole ? width : 0;
	return (unsigned) (((unsigned __int128) part * width + whole / 2) / whole);
}

static char *repeat(char *p, const char *what, unsigned n)
{
	while (n--)
		p = stpcpy(p, what);
	return p;
}

const char *format_span(char *buf, uint64_t from, uint64_t to, uint64_t whole, unsigned width, bool utf8)
{
	unsigned start = cells(from, whole, width), end = cells(to, whole, width);
	char *p = buf;

	*p = 0;
	if (whole == 0 || to < from || width == 0)
		return buf;
	if (end <= start) {
		start = start < width ? start : width - 1;
		p = repeat(p, " ", start);
		repeat(p, utf8 ? "\u258f" : "|", 1);
		return buf;
	}
	p = repeat(p, " ", start);
	repeat(p, utf8 ? "\u2588" : "#", end - start);
	return buf;
}

const char *format_bar(char *buf, uint64_t part, uint64_t whole, unsigned width, bool utf8)
{
	static const char *const eighths[] = { "", "\u258f", "\u258e", "\u258d", "\u258c", "\u258b", "\u258a", "\u2589" };
	unsigned full = cells(part, whole, width), fine;
	char *p = stpcpy(buf, utf8 ? "" : "[");

	if (!utf8) {
		p = repeat(p, "#", full);
		p = repeat(p, ".", width - full);
		strcpy(p, "]");
		return buf;
	}
	fine = cells(part, whole, width * 8);
	p = repeat(p, "\u2588", fine / 8);
	p = repeat(p, eighths[fine % 8], 1);
	repeat(p, " ", width - fine / 8 - (fine % 8 != 0));
	return buf;
}
