/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include <wchar.h>

#include "alloc.h"
#include "text.h"

size_t text_decode(const char *s, int32_t *ret_)
{
	static const int32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *b = (const unsigned char *) s;
	size_t n = b[0] < 0x80 ? 1 : b[0] < 0xc2 ? 0 : b[0] < 0xe0 ? 2 : b[0] < 0xf0 ? 3 : b[0] < 0xf5 ? 4 : 0;
	int32_t c;

	*ret_ = -1;
	if (n == 0)
		return 1;
	c = n == 1 ? b[0] : b[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((b[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (b[i] & 0x3f);
	}
	if (c < smallest[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 1;
	*ret_ = c;
	return n;
}

/* Formats that reorder (bidi), join or hide their neighbours, or start a line of their own. */
static bool hides_or_reorders(int32_t c)
{
	return c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
	       (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe0fff);
}

static bool is_control(int32_t c)
{
	return c < 0x20 || (c >= 0x7f && c <= 0x9f);
}

static bool is_safe(int32_t c)
{
	return c >= 0 && !is_control(c) && !hides_or_reorders(c) && wcwidth((wchar_t) c) >= 0;
}

char *text_safe(const char *s)
{
	/* The longest escape of one byte is \xNN, of one character \u{10ffff}: 10 for its 4 bytes, 6 for 2, 8 for 3. */
	char *safe = xcalloc(strlen(s) + 1, 4), *p = safe;

	while (*s) {
		int32_t c;
		size_t n = text_decode(s, &c);

		if (is_safe(c)) {
			memcpy(p, s, n);
			p += n;
		} else if (c < 0x80) {
			p += sprintf(p, "\\x%02x", (unsigned char) *s);
		} else {
			p += sprintf(p, "\\u{%x}", (unsigned) c);
		}
		s += n;
	}
	*p = 0;
	return safe;
}

static int char_width(const char *s, size_t *ret_bytes)
{
	int32_t c;
	int w;

	*ret_bytes = text_decode(s, &c);
	w = c < 0 ? -1 : wcwidth((wchar_t) c);
	return w < 0 ? 1 : w;
}

int text_width(const char *safe)
{
	int width = 0;
	size_t n;

	for (; *safe; safe += n)
		width += char_width(safe, &n);
	return width;
}

size_t text_head(const char *safe, int width)
{
	size_t used = 0, n;

	while (safe[used]) {
		width -= char_width(safe + used, &n);
		if (width < 0 && used > 0)
			break;
		used += n;
	}
	return used;
}

char *text_fit(const char *safe, int width, bool utf8)
{
	const char *p = safe;
	int used = 0;
	size_t n;

	if (width < 1)
		return xstrdup("");
	if (text_width(safe) <= width)
		return xstrdup(safe);
	while (*p) {
		int w = char_width(p, &n);

		if (used + w > width - 1)
			break;
		used += w;
		p += n;
	}
	return xprintf("%.*s%s", (int) (p - safe), safe, utf8 ? "\xe2\x80\xa6" : "~");
}

char *text_safe_json(const char *json)
{
	/* The worst is one invalid byte that becomes \ufffd, 6 bytes. */
	char *safe = xcalloc(strlen(json) + 1, 6), *p = safe;

	while (*json) {
		int32_t c;
		size_t n = text_decode(json, &c);

		if (c < 0)
			p += sprintf(p, "\\ufffd");
		else if (c == '\n' || (!is_control(c) && !hides_or_reorders(c)))
			p = (char *) mempcpy(p, json, n);
		else if (c < 0x10000)
			p += sprintf(p, "\\u%04x", (unsigned) c);
		else
			p += sprintf(p, "\\u%04x\\u%04x", 0xd7c0 + ((unsigned) c >> 10), 0xdc00 + ((unsigned) c & 0x3ff));
		json += n;
	}
	*p = 0;
	return safe;
}
