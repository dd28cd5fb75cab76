/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_INDEX_H
#define ROLLBACKD_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

/* The summaries of all finished reports, in memory, in order of their begin (then of their id), and the domains they
 * belong to. One report takes 72 bytes, beside names that no other report has. Main thread. */

struct index;

struct index *index_new(void);
void index_free(struct index *ix); /* NULL is fine */

size_t index_count(const struct index *ix);
uint64_t index_bytes(const struct index *ix); /* sum of .bytes */

/* Copies; replaces what has the same id. Cheap when it is the newest, a move of all later ones otherwise. */
void index_put(struct index *ix, const struct summary *s);
bool index_remove(struct index *ix, uint64_t id);
bool index_set_bytes(struct index *ix, uint64_t id, uint64_t bytes);

/* Positions count from the oldest, 0. */
void index_get(const struct index *ix, size_t position, struct summary *ret_);
bool index_find(const struct index *ix, uint64_t id, size_t *ret_position);
/* By the first "digits" hex digits of prefix. 0, -ENOENT, -ENOTUNIQ. */
int index_find_prefix(const struct index *ix, uint64_t prefix, unsigned digits, size_t *ret_position);

/* As store_list and store_domain_nth. */
uint32_t index_list(struct index *ix, const struct store_filter *f, uint32_t offset, const struct summary **ret_, uint32_t max, uint32_t *ret_n);
bool index_domain_nth(const struct index *ix, uint32_t n, struct store_domain *ret_);
bool index_domain_find(const struct index *ix, const char *uuid, struct store_domain *ret_);

/* Room for one summary to hand out, good until the next call of index_list or index_scratch. */
struct summary *index_scratch(struct index *ix, size_t n);

#endif
