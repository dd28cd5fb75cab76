/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "when.h"

#define SEC INT64_C(1000000)
/* A century: what is further back is a typing mistake, and nothing overflows below it. */
#define SPAN_MAX (INT64_C(100) * 366 * 86400 * SEC)

bool when_parse_number(const char *word, uint64_t min, uint64_t max, uint64_t *ret_)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char) *word))
		return false;
	errno = 0;
	v = strtoull(word, &end, 10);
	if (errno || *end || v < min || v > max)
		return false;
	*ret_ = v;
	return true;
}

static const char *digits(const char *s, unsigned n, int *ret_)
{
	int v = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!isdigit((unsigned char) s[i]))
			return NULL;
		v = v * 10 + s[i] - '0';
	}
	*ret_ = v;
	return s + n;
}

static const char *parse_day(const char *s, struct tm *tm)
{
	if (!(s = digits(s, 4, &tm->tm_year)) || *s++ != '-' || !(s = digits(s, 2, &tm->tm_mon)) || *s++ != '-')
		return NULL;
	s = digits(s, 2, &tm->tm_mday);
	if (!s || tm->tm_year < 1970 || tm->tm_mon < 1 || tm->tm_mon > 12 || tm->tm_mday < 1 || tm->tm_mday > 31)
		return NULL;
	tm->tm_year -= 1900;
	tm->tm_mon--;
	return s;
}

/* hh:mm, hh:mm:ss or hh:mm:ss.fraction; what lies beyond microseconds is dropped. */
static const char *parse_clock(const char *s, struct tm *tm, int64_t *ret_fraction)
{
	int64_t unit = SEC / 10;

	if (!(s = digits(s, 2, &tm->tm_hour)) || *s++ != ':' || !(s = digits(s, 2, &tm->tm_min)))
		return NULL;
	if (tm->tm_hour > 23 || tm->tm_min > 59)
		return NULL;
	if (*s != ':')
		return s;
	s = digits(s + 1, 2, &tm->tm_sec);
	if (!s || tm->tm_sec > 60)
		return NULL;
	if (*s != '.')
		return s;
	if (!isdigit((unsigned char) *++s))
		return NULL;
	for (; isdigit((unsigned char) *s); s++, unit /= 10)
		*ret_fraction += (*s - '0') * unit;
	return s;
}

/* "Z", "+01:00" or nothing; *ret_seconds east of UTC. */
static const char *parse_zone(const char *s, bool *ret_local, int *ret_seconds)
{
	int hours, minutes, sign = *s == '-' ? -1 : 1;

	*ret_local = *s == 0;
	*ret_seconds = 0;
	if (*s == 0)
		return s;
	if (*s == 'Z' || *s == 'z')
		return s + 1;
	if ((*s != '+' && *s != '-') || !(s = digits(s + 1, 2, &hours)))
		return NULL;
	if (!(s = digits(s + (*s == ':'), 2, &minutes)) || hours > 23 || minutes > 59)
		return NULL;
	*ret_seconds = sign * (hours * 3600 + minutes * 60);
	return s;
}

static int days_in_month(int year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

	return days[month] + (month == 1 && leap);
}

static bool parse_date(const char *s, bool zone_needed, int64_t *ret_)
{
	struct tm tm = { .tm_isdst = -1 };
	int64_t fraction = 0;
	bool local = true;
	int east = 0;
	time_t t;

	s = parse_day(s, &tm);
	if (!s)
		return false;
	if (*s == 'T' || *s == 't' || *s == ' ') {
		s = parse_clock(s + 1, &tm, &fraction);
		if (s)
			s = parse_zone(s, &local, &east);
	}
	if (!s || *s || (local && zone_needed))
		return false;
	if (tm.tm_mday > days_in_month(tm.tm_year + 1900, tm.tm_mon))
		return false;
	t = local ? mktime(&tm) : timegm(&tm);
	if (t == (time_t) -1)
		return false;
	*ret_ = ((int64_t) t - east) * SEC + fraction;
	return true;
}

bool when_parse_rfc3339(const char *word, int64_t *ret_)
{
	return parse_date(word, true, ret_);
}

static int64_t unit_usec(const char *unit, size_t n)
{
	static const struct {
		const char *names;
		int64_t usec;
	} units[] = {
		{ " s sec secs second seconds ", SEC },
		{ " m min mins minute minutes ", 60 * SEC },
		{ " h hr hrs hour hours ", 3600 * SEC },
		{ " d day days ", 86400 * SEC },
		{ " w week weeks ", 7 * 86400 * SEC },
		{ " ms msec ", SEC / 1000 },
	};
	char word[16];

	if (n == 0 || n > 10)
		return 0;
	snprintf(word, sizeof word, " %.*s ", (int) n, unit);
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (strcasestr(units[i].names, word))
			return units[i].usec;
	return 0;
}

/* "1d 4h", "2 hours ago", "90s" */
static bool parse_span(const char *s, int64_t *ret_)
{
	int64_t span = 0;
	bool any = false;

	for (;;) {
		unsigned long long n;
		int64_t unit;
		size_t len;
		char *end;

		s += strspn(s, " ");
		if (any && (*s == 0 || strcasecmp(s, "ago") == 0))
			break;
		if (!isdigit((unsigned char) *s))
			return false;
		errno = 0;
		n = strtoull(s, &end, 10);
		s = end + strspn(end, " ");
		for (len = 0; isalpha((unsigned char) s[len]);)
			len++;
		unit = unit_usec(s, len);
		if (errno || unit == 0 || n > (unsigned long long) (SPAN_MAX / unit))
			return false;
		s += len;
		span += (int64_t) n * unit;
		any = true;
		if (span > SPAN_MAX)
			return false;
	}
	*ret_ = span;
	return true;
}

static int64_t midnight(int64_t now_usec, int days_back)
{
	time_t t = (time_t) (now_usec / SEC);
	struct tm tm;

	localtime_r(&t, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= days_back;
	tm.tm_isdst = -1;
	return (int64_t) mktime(&tm) * SEC;
}

bool when_parse(const char *word, int64_t now_usec, int64_t *ret_)
{
	int64_t span;

	if (strcasecmp(word, "now") == 0)
		*ret_ = now_usec;
	else if (strcasecmp(word, "today") == 0)
		*ret_ = midnight(now_usec, 0);
	else if (strcasecmp(word, "yesterday") == 0)
		*ret_ = midnight(now_usec, 1);
	else if (parse_span(word, &span))
		*ret_ = now_usec > span ? now_usec - span : 0;
	else
		return parse_date(word, false, ret_);
	return true;
}

int64_t when_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec * SEC + ts.tv_nsec / 1000;
}
