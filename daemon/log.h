/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_LOG_H
#define ROLLBACKD_LOG_H

/* Structured lines to the journal when stderr is its stream ($JOURNAL_STREAM), plain lines with a syslog level prefix-free
 * text on stderr otherwise. Any thread. Rooms below daemon/ do not log: they return errors and events. */

#include <syslog.h>

void log_setup(int max_level);
void log_set_level(int max_level);

/* fields: NULL-terminated list of name, value pairs ("ROLLBACKD_DOMAIN_UUID", "..."); a NULL value skips its pair.
 * message_id may be NULL. Control characters in values and text are escaped in plain output. */
void log_event(int level, const char *message_id, const char *const fields[], const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#define log_line(level, ...) log_event(level, NULL, NULL, __VA_ARGS__)

#endif
