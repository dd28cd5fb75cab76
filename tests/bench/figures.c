/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "figures.h"
#include "shared.h"

#define FIGURES_MAX 48

struct figure {
	const char *key, *text, *unit;
	double aim;
	size_t samples;              /* in one run */
	unsigned runs;
	double value[RUNS_MAX];
};

struct figures {
	unsigned n;
	struct figure figure[FIGURES_MAX];
};

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int64_t percentile(int64_t *values, size_t n, double p)
{
	size_t rank = (size_t) (p * (double) n / 100 + 0.999999);

	if (n == 0)
		return 0;
	qsort(values, n, sizeof(values[0]), by_value);
	return values[rank == 0 ? 0 : rank > n ? n - 1 : rank - 1];
}

struct figures *figures_new(void)
{
	return shared_new(sizeof(struct figures));
}

static struct figure *find(struct figures *f, const char *key)
{
	for (unsigned i = 0; i < f->n; i++)
		if (strcmp(f->figure[i].key, key) == 0)
			return &f->figure[i];
	return f->n < FIGURES_MAX ? &f->figure[f->n++] : NULL;
}

void figures_add(struct figures *f, const char *key, const char *text, const char *unit, double value, size_t samples, double aim)
{
	struct figure *g = find(f, key);

	if (!g || g->runs == RUNS_MAX)
		abort();
	g->key = key;
	g->text = text;
	g->unit = unit;
	g->aim = aim;
	g->samples = samples;
	g->value[g->runs++] = value;
}

static int by_double(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static double median(const struct figure *g, double *ret_lowest, double *ret_highest)
{
	double sorted[RUNS_MAX];

	memcpy(sorted, g->value, g->runs * sizeof(sorted[0]));
	qsort(sorted, g->runs, sizeof(sorted[0]), by_double);
	*ret_lowest = sorted[0];
	*ret_highest = sorted[g->runs - 1];
	return g->runs % 2 ? sorted[g->runs / 2] : (sorted[g->runs / 2 - 1] + sorted[g->runs / 2]) / 2;
}

static bool is_met(const struct figure *g)
{
	double lowest, highest;

	return median(g, &lowest, &highest) <= g->aim;
}

void figures_print(struct figures *f)
{
	double lowest, highest, middle;

	printf("%-68s %-6s %9s %9s %9s %5s %8s  %s\n", "figure", "unit", "median", "lowest", "highest", "runs", "samples", "aim");
	for (unsigned i = 0; i < f->n; i++) {
		const struct figure *g = &f->figure[i];

		middle = median(g, &lowest, &highest);
		printf("%-68s %-6s %9.1f %9.1f %9.1f %5u %8zu ", g->text, g->unit, middle, lowest, highest, g->runs, g->samples);
		if (g->aim >= 0)
			printf(" <= %.0f: %s", g->aim, is_met(g) ? "met" : "MISSED");
		printf("\n");
	}
}

void figures_print_json(struct figures *f)
{
	double lowest, highest, middle;

	printf("[\n");
	for (unsigned i = 0; i < f->n; i++) {
		const struct figure *g = &f->figure[i];

		middle = median(g, &lowest, &highest);
		printf("  {\"key\": \"%s\", \"text\": \"%s\", \"unit\": \"%s\", \"median\": %.3f, \"lowest\": %.3f, \"highest\": %.3f, "
		       "\"runs\": %u, \"samples\": %zu, ",
			g->key, g->text, g->unit, middle, lowest, highest, g->runs, g->samples);
		if (g->aim >= 0)
			printf("\"aim\": %.3f, \"met\": %s}", g->aim, is_met(g) ? "true" : "false");
		else
			printf("\"aim\": null, \"met\": null}");
		printf("%s\n", i + 1 < f->n ? "," : "");
	}
	printf("]");
}
