/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BUS_FAKE_STORE_H
#define ROLLBACKD_TESTS_BUS_FAKE_STORE_H

/* A store that lives in memory and does as it is told: it stands in for daemon/store/store.c under the names of store.h
 * (those which the bus calls, and store_put). Reads can be held back, so that a test decides when they are answered. */

#include <stddef.h>

#include "store/store.h"

struct store *fake_store_new(void);
struct store *fake_store_free(struct store *s); /* held reads are answered -ECANCELED */

/* One report's JSON; kept as given. 0, or -EINVAL and the like with a sentence in error. */
int fake_store_add_text(struct store *s, const char *json, char *error, size_t error_size);
/* Every *.json of a folder. Returns how many; what cannot be read is told on stderr. */
int fake_store_load(struct store *s, const char *dir);

void fake_store_drop_oldest(struct store *s);             /* as retention does */
void fake_store_set_trouble(struct store *s, const char *trouble); /* NULL: none; must outlive s */
void fake_store_hold(struct store *s, bool hold);
unsigned fake_store_held(const struct store *s);
void fake_store_release(struct store *s, int result);     /* 0: with the text; else that error */

#endif
