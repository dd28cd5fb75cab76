/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_STORE_UTIL_H
#define ROLLBACKD_TESTS_STORE_UTIL_H

#include <glib.h>

#include "store/store.h"

/* A store in a folder of its own, and what it told. */
struct place {
	char *dir;
	struct store *store;
	struct store_limits limits;
	unsigned troubles, recoveries, aside;
	char *last_trouble;
	GPtrArray *reasons; /* "file: why" */
};

void place_make(struct place *p);
void place_make_in_memory(struct place *p); /* where fsync costs nothing, if there is such a place: for many writes */
void place_open(struct place *p);
unsigned place_close(struct place *p);
void place_remove(struct place *p); /* closes as well */
char *place_path(const struct place *p, const char *name);

/* Runs the main loop until it holds; fails the test after 20 s. */
#define wait_for(condition)                                                                  \
	do {                                                                                 \
		int64_t until_ = g_get_monotonic_time() + 20 * G_USEC_PER_SEC;               \
		while (!(condition)) {                                                       \
			if (g_get_monotonic_time() > until_)                                 \
				g_error("%s:%d: waited 20 s for %s", __FILE__, __LINE__, #condition); \
			if (!g_main_context_iteration(NULL, FALSE))                          \
				g_usleep(500);                                               \
		}                                                                            \
	} while (0)

struct store_counters counters(struct place *p);
void wait_written(struct place *p); /* nothing pending */

/* The text or the error of a read. */
char *read_text(struct place *p, const char *id, int *ret_);

unsigned files_in(const struct place *p, const char *folder);
void write_file(const struct place *p, const char *name, const char *text, gssize n);

/* Every "*.json" in the folder parses; returns how many there are. */
unsigned assert_whole_files(const struct place *p, const char *folder);

#endif
