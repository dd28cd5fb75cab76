/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "bus/values.h"

/* sd-bus refuses noncharacters too, which Unicode lets pass in interchange. */
static bool is_carried(gunichar c)
{
	return c != (gunichar) -1 && c != (gunichar) -2 && c != 0 && (c & 0xfffe) != 0xfffe && !(c >= 0xfdd0 && c <= 0xfdef);
}

/* Bytes at text that can be carried as they are, up to its end or the first that cannot. */
static size_t good_length(const char *text)
{
	const char *p = text;

	while (*p) {
		if ((unsigned char) *p < 0x80)
			p++;
		else if (is_carried(g_utf8_get_char_validated(p, -1)))
			p = g_utf8_next_char(p);
		else
			break;
	}
	return (size_t) (p - text);
}

int bus_append_text(sd_bus_message *m, const char *text)
{
	char *copy, *p;
	int r;

	if (!text)
		text = "";
	if (!text[good_length(text)])
		return sd_bus_message_append_basic(m, 's', text);
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	for (p = copy + good_length(copy); *p; p += good_length(p))
		*p = '?';
	r = sd_bus_message_append_basic(m, 's', copy);
	free(copy);
	return r;
}

static int open_entry(sd_bus_message *m, const char *key)
{
	int r;

	r = sd_bus_message_open_container(m, 'e', "sv");
	return r < 0 ? r : sd_bus_message_append_basic(m, 's', key);
}

int bus_append_entry_text(sd_bus_message *m, const char *key, const char *text)
{
	int r;

	r = open_entry(m, key);
	if (r >= 0)
		r = sd_bus_message_open_container(m, 'v', "s");
	if (r >= 0)
		r = bus_append_text(m, text);
	if (r >= 0)
		r = sd_bus_message_close_container(m);
	return r < 0 ? r : sd_bus_message_close_container(m);
}

int bus_append_entry_bool(sd_bus_message *m, const char *key, bool value)
{
	return sd_bus_message_append(m, "{sv}", key, "b", (int) value);
}

int bus_append_entry_u32(sd_bus_message *m, const char *key, uint32_t value)
{
	return sd_bus_message_append(m, "{sv}", key, "u", value);
}

int bus_append_entry_u64(sd_bus_message *m, const char *key, uint64_t value)
{
	return sd_bus_message_append(m, "{sv}", key, "t", value);
}

const char *bus_format_version(uint32_t version, char buffer[BUS_VERSION_SIZE])
{
	buffer[0] = '\0';
	if (version)
		snprintf(buffer, BUS_VERSION_SIZE, "%u.%u.%u", version / 1000000, version / 1000 % 1000, version % 1000);
	return buffer;
}

const char *bus_quote(const char *text, char buffer[BUS_QUOTE_SIZE])
{
	size_t n = 0;

	buffer[n++] = '"';
	for (; *text && n < BUS_QUOTE_SIZE - 5; text++)
		buffer[n++] = *text >= ' ' && *text < 0x7f ? *text : '?';
	memcpy(buffer + n, *text ? "...\"" : "\"", *text ? 5 : 2);
	return buffer;
}
