/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_ALLOC_H
#define ROLLBACKCTL_ALLOC_H

/* Memory for a short-lived program: out of memory ends it with a message and exit code 1, so nobody else checks. */

#include <stddef.h>
#include <stdlib.h>

void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size); /* n * size bytes, checked for overflow */
char *xstrdup(const char *s);
char *xstrndup(const char *s, size_t n);
char *xprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

static inline void freep(void *p)
{
	free(*(void **) p);
}
#define _cleanup_free_ __attribute__((cleanup(freep)))

#endif
