/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_TEXT_H
#define ROLLBACKD_STORE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length in bytes (1..4) of the UTF-8 character at s, of which "left" bytes may be read; 0 when it is none (overlong
 * forms, surrogates and what lies beyond U+10FFFF are none). */
size_t utf8_length(const char *s, size_t left);
bool utf8_is_valid(const char *s, size_t n);

/* Copies at most size-1 bytes, each byte that belongs to no character as '?'; always terminated. */
void utf8_clean(char *to, size_t size, const char *from);

#define DATE_SIZE sizeof("2026-11-30T18:03:43.123456Z")

/* RFC 3339 with microseconds, UTC. False, and ret_ untouched, outside the years 0 to 9999. */
bool date_format(int64_t usec, char ret_[static DATE_SIZE]);

/* "7.2.19" from 7002019; versions as in struct report. */
#define VERSION_SIZE 16
void version_format(uint32_t version, char ret_[static VERSION_SIZE]);
/* 0, or -EINVAL unless the text is exactly what version_format writes for some version above 0. */
int version_parse(const char *text, uint32_t *ret_);

#endif
