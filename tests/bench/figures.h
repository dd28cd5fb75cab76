/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_FIGURES_H
#define ROLLBACKD_TESTS_BENCH_FIGURES_H

/* What is printed: one value a run for each figure, shown as the median of the runs with the lowest and the highest. */

#include <stddef.h>
#include <stdint.h>

#define RUNS_MAX 64
#define NO_AIM   (-1.0)

/* The p-th percentile, nearest rank, of n values, which get sorted. */
int64_t percentile(int64_t *values, size_t n, double p);

struct figures;

struct figures *figures_new(void);

/* aim: the most it should be, or NO_AIM. Names are kept by pointer. Values of one figure come from calls with the same key. */
void figures_add(struct figures *f, const char *key, const char *text, const char *unit, double value, size_t samples, double aim);

void figures_print(struct figures *f);
void figures_print_json(struct figures *f); /* an array, one object a line */

#endif
