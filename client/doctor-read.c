/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor.h"

char *doctor_read(size_t limit, const char *root, const char *format, ...)
{
	_cleanup_free_ char *below = NULL, *path = NULL;
	size_t used = 0;
	va_list ap;
	char *text;
	ssize_t n = 0;
	int fd, saved;

	va_start(ap, format);
	if (vasprintf(&below, format, ap) < 0)
		below = xstrdup("");
	va_end(ap);
	path = xprintf("%s/%s", root, below);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return NULL;
	text = xcalloc(limit + 1, 1);
	while (used < limit && (n = read(fd, text + used, limit - used)) > 0)
		used += (size_t) n;
	saved = errno;
	close(fd);
	if (used == 0 && n < 0) {
		free(text);
		errno = saved;
		return NULL;
	}
	text[used] = 0;
	if (used && text[used - 1] == '\n')
		text[used - 1] = 0;
	return text;
}

bool doctor_exists(const char *root, const char *path)
{
	_cleanup_free_ char *whole = xprintf("%s/%s", root, path);

	return access(whole, F_OK) == 0;
}

bool doctor_has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = text; *p; p += strcspn(p, " \t\n")) {
		p += strspn(p, " \t\n");
		if (strncmp(p, word, n) == 0 && (!p[n] || strchr(" \t\n", p[n])))
			return true;
	}
	return false;
}

char *doctor_chosen(const char *text)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;

	return close ? xstrndup(open + 1, (size_t) (close - open - 1)) : NULL;
}

bool doctor_number(const char *text, const char *key, int base, uint64_t *ret_)
{
	const char *p = text;
	size_t n = strlen(key);
	char *end;

	while (p && strncmp(p, key, n) != 0) {
		p = strchr(p, '\n');
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return false;
	errno = 0;
	*ret_ = strtoull(p + n, &end, base);
	return end != p + n && errno == 0;
}
