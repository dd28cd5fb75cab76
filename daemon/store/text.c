/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/text.h"

static size_t sequence_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first >= 0xc2 && first <= 0xdf)
		return 2;
	if (first >= 0xe0 && first <= 0xef)
		return 3;
	if (first >= 0xf0 && first <= 0xf4)
		return 4;
	return 0;
}

/* The second byte is where overlong forms, surrogates and too large values show. */
static bool second_fits(unsigned char first, unsigned char second)
{
	switch (first) {
	case 0xe0:
		return second >= 0xa0;
	case 0xed:
		return second <= 0x9f;
	case 0xf0:
		return second >= 0x90;
	case 0xf4:
		return second <= 0x8f;
	}
	return true;
}

size_t utf8_length(const char *s, size_t left)
{
	const unsigned char *u = (const unsigned char *) s;
	size_t n = left ? sequence_length(u[0]) : 0;

	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return n == 1 || second_fits(u[0], u[1]) ? n : 0;
}

bool utf8_is_valid(const char *s, size_t n)
{
	for (size_t step; n > 0; s += step, n -= step) {
		step = utf8_length(s, n);
		if (step == 0)
			return false;
	}
	return true;
}

void utf8_clean(char *to, size_t size, const char *from)
{
	size_t left = strlen(from), n = 0;

	while (left > 0) {
		size_t step = utf8_length(from, left), take = step ? step : 1;

		if (n + take >= size)
			break;
		if (step)
			memcpy(to + n, from, step);
		else
			to[n] = '?';
		n += take;
		from += take;
		left -= take;
	}
	to[n] = '\0';
}

bool date_format(int64_t usec, char ret_[static DATE_SIZE])
{
	int64_t sub = usec % 1000000;
	time_t t = usec / 1000000;
	char date[32];
	struct tm tm;

	if (sub < 0) {
		sub += 1000000;
		t--;
	}
	if (!gmtime_r(&t, &tm) || tm.tm_year < -1900 || tm.tm_year > 9999 - 1900)
		return false;
	if (strftime(date, sizeof(date), "%FT%T", &tm) == 0)
		return false;
	/* %F does not fill up years below 1000 everywhere. */
	if (strlen(date) != strlen("2026-11-30T18:03:43"))
		return false;
	snprintf(ret_, DATE_SIZE, "%s.%06uZ", date, (unsigned) sub);
	return true;
}

void version_format(uint32_t version, char ret_[static VERSION_SIZE])
{
	snprintf(ret_, VERSION_SIZE, "%" PRIu32 ".%" PRIu32 ".%" PRIu32, version / 1000000, version / 1000 % 1000, version % 1000);
}

int version_parse(const char *text, uint32_t *ret_)
{
	unsigned part[3];
	uint64_t version;
	char back[VERSION_SIZE];

	if (strlen(text) >= VERSION_SIZE || sscanf(text, "%4u.%3u.%3u", &part[0], &part[1], &part[2]) != 3)
		return -EINVAL;
	version = (uint64_t) part[0] * 1000000 + part[1] * 1000 + part[2];
	if (version == 0 || version > UINT32_MAX)
		return -EINVAL;
	version_format((uint32_t) version, back);
	if (strcmp(back, text) != 0)
		return -EINVAL;
	*ret_ = (uint32_t) version;
	return 0;
}
