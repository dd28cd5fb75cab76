/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_TABLE_H
#define ROLLBACKD_CORE_TABLE_H

#include <stddef.h>
#include <string.h>

/* String tables for enums that run 0..MAX-1. to_string gives NULL out of range; from_string gives the enum's
 * _INVALID (-1) for NULL or a word that is not in the table. */
#define STRING_TABLE_DECLARE(name, type)              \
	const char *name##_to_string(type value);     \
	type name##_from_string(const char *word)

#define STRING_TABLE_DEFINE(name, type, table)                                                  \
	const char *name##_to_string(type value)                                                \
	{                                                                                       \
		return (size_t) value < sizeof(table) / sizeof((table)[0]) ? (table)[value] : NULL; \
	}                                                                                       \
	type name##_from_string(const char *word)                                               \
	{                                                                                       \
		for (size_t i = 0; word && i < sizeof(table) / sizeof((table)[0]); i++)         \
			if ((table)[i] && strcmp((table)[i], word) == 0)                        \
				return (type) i;                                                \
		return (type) -1;                                                               \
	}                                                                                       \
	struct name##_needs_semicolon

#endif
