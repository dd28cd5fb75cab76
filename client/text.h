/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_TEXT_H
#define ROLLBACKCTL_TEXT_H

/* Text that others wrote, made fit for a terminal. Names in reports come from whoever defined the guest: they must not
 * move the cursor, change colours, hide or reorder what stands beside them. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Decodes one character of s (not at its end). Returns the bytes used, at least 1; *ret_ is -1 for a byte that is no
 * valid UTF-8 (overlong forms and surrogates are not). */
size_t text_decode(const char *s, int32_t *ret_);

/* A copy that is safe to print, to be freed: control characters (C0, DEL, C1), characters that reorder or hide text, what
 * the locale cannot print and bytes that are no UTF-8 become \xNN or \u{N}. */
char *text_safe(const char *s);

/* Columns that a safe text takes. */
int text_width(const char *safe);

/* A copy of a safe text in at most width columns, its end replaced by "…" (or "~") where it did not fit. */
char *text_fit(const char *safe, int width, bool utf8);

/* How many bytes of a safe text fit width columns, at least one character unless it is at its end. */
size_t text_head(const char *safe, int width);

/* Makes JSON text as safe as text_safe() does, within JSON's own rules: the characters become \uNNNN. To be freed. */
char *text_safe_json(const char *json);

#endif
