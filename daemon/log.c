/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Else each entry would say that it comes from this file. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <systemd/sd-journal.h>

#include "log.h"

#define TEXT_MAX   2048 /* bytes of one message; what is longer is cut */
#define FIELDS_MAX 24   /* pairs of one event */
#define PLAIN_MAX  8192 /* bytes of one plain line: escapes make text up to four times as long */

static atomic_int level_max = LOG_INFO;
static atomic_bool to_journal;

/* systemd sets $JOURNAL_STREAM to "device:inode" of the stream it made; whoever redirects stderr elsewhere gets plain lines. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long dev, ino;
	struct stat st;
	char rest;

	return stream && sscanf(stream, "%llu:%llu%c", &dev, &ino, &rest) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
		st.st_dev == dev && st.st_ino == ino;
}

void log_setup(int max_level)
{
	log_set_level(max_level);
	/* sd_journal_sendv() says that all is well when there is no socket (a sandbox may hide it). */
	atomic_store(&to_journal, stderr_is_journal() && access("/run/systemd/journal/socket", W_OK) == 0);
}

void log_set_level(int max_level)
{
	atomic_store(&level_max, max_level);
}

struct line {
	char text[PLAIN_MAX];
	size_t n;
	bool full;
};

static void add_raw(struct line *l, const char *text, size_t n)
{
	/* One byte is kept for the newline. */
	l->full = l->full || n > sizeof(l->text) - 1 - l->n;
	if (l->full)
		return;
	memcpy(l->text + l->n, text, n);
	l->n += n;
}

/* A name from outside must not forge a line or drive a terminal: C0, DEL and C1 (as UTF-8: 0xc2 0x80..0x9f) are escaped. */
static void add_escaped(struct line *l, const char *text)
{
	for (const unsigned char *p = (const unsigned char *) text; *p; p++) {
		bool c1 = *p == 0xc2 && p[1] >= 0x80 && p[1] <= 0x9f;
		size_t n = 1;
		char escape[5];

		if (*p >= 0x20 && *p != 0x7f && !c1) {
			/* The rest of its character with it, so that a full line ends between two. */
			while (n < 4 && (p[n] & 0xc0) == 0x80)
				n++;
			add_raw(l, (const char *) p, n);
			p += n - 1;
			continue;
		}
		p += c1;
		snprintf(escape, sizeof(escape), "\\x%02x", *p);
		add_raw(l, escape, 4);
	}
}

static void write_plain(const char *const fields[], const char *text)
{
	struct line l = { .n = 0 };
	ssize_t written;

	add_escaped(&l, text);
	for (size_t i = 0; fields && fields[i]; i += 2) {
		if (!fields[i + 1])
			continue;
		add_raw(&l, " ", 1);
		add_escaped(&l, fields[i]);
		add_raw(&l, "=", 1);
		add_escaped(&l, fields[i + 1]);
	}
	l.text[l.n++] = '\n';
	/* One write: lines of several threads do not mix. When stderr is gone there is nobody to tell. */
	do
		written = write(STDERR_FILENO, l.text, l.n);
	while (written < 0 && errno == EINTR);
}

struct entry {
	struct iovec iov[FIELDS_MAX + 3];
	int n;
	bool failed;
};

static void add_field(struct entry *e, const char *name, const char *value)
{
	char *text;
	int n;

	if (e->n == FIELDS_MAX + 3)
		return;
	n = asprintf(&text, "%s=%s", name, value);
	if (n < 0) {
		e->failed = true;
		return;
	}
	e->iov[e->n++] = (struct iovec) { .iov_base = text, .iov_len = (size_t) n };
}

static bool write_journal(int level, const char *message_id, const char *const fields[], const char *text)
{
	char priority[4];
	struct entry e = { .n = 0 };
	bool sent;

	snprintf(priority, sizeof(priority), "%d", level & 7);
	add_field(&e, "MESSAGE", text);
	add_field(&e, "PRIORITY", priority);
	if (message_id)
		add_field(&e, "MESSAGE_ID", message_id);
	for (size_t i = 0; fields && fields[i]; i += 2)
		if (fields[i + 1])
			add_field(&e, fields[i], fields[i + 1]);
	sent = !e.failed && sd_journal_sendv(e.iov, e.n) == 0;
	while (e.n > 0)
		free(e.iov[--e.n].iov_base);
	return sent;
}

/* Half a character at the end would make journald keep the whole message as bytes. */
static void cut_at_character(char *text, size_t size, int wanted)
{
	size_t n = size - 1;

	if (wanted < (int) size)
		return;
	while (n > 0 && ((unsigned char) text[n - 1] & 0xc0) == 0x80)
		n--;
	if (n > 0 && ((unsigned char) text[n - 1] & 0x80))
		n--;
	text[n] = '\0';
}

void log_event(int level, const char *message_id, const char *const fields[], const char *format, ...)
{
	char text[TEXT_MAX];
	int saved = errno;
	va_list ap;

	if (level > atomic_load(&level_max))
		return;
	va_start(ap, format);
	cut_at_character(text, sizeof(text), vsnprintf(text, sizeof(text), format, ap));
	va_end(ap);
	/* A journal that does not take it still reads stderr. */
	if (!atomic_load(&to_journal) || !write_journal(level, message_id, fields, text))
		write_plain(fields, text);
	errno = saved;
}
