/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include <glib.h>

#include "bus/fair.h"

static void test_burst_then_one_an_interval(void)
{
	struct fair f = { 0 };
	int64_t now = 1000000000;

	for (int i = 0; i < FAIR_BURST; i++)
		g_assert_true(fair_admit(&f, ":1.1", now));
	g_assert_false(fair_admit(&f, ":1.1", now));
	g_assert_false(fair_admit(&f, ":1.1", now + FAIR_INTERVAL_USEC - 1));
	g_assert_true(fair_admit(&f, ":1.1", now + FAIR_INTERVAL_USEC));
	g_assert_false(fair_admit(&f, ":1.1", now + FAIR_INTERVAL_USEC));
}

static void test_rest_gives_the_burst_back(void)
{
	struct fair f = { 0 };
	int64_t now = 1000000000;

	while (fair_admit(&f, ":1.1", now))
		;
	now += FAIR_BURST * FAIR_INTERVAL_USEC;
	for (int i = 0; i < FAIR_BURST; i++)
		g_assert_true(fair_admit(&f, ":1.1", now));
	g_assert_false(fair_admit(&f, ":1.1", now));
	/* And not more than that, however long. */
	now += 1000ll * FAIR_INTERVAL_USEC;
	for (int i = 0; i < FAIR_BURST; i++)
		g_assert_true(fair_admit(&f, ":1.1", now));
	g_assert_false(fair_admit(&f, ":1.1", now));
}

static void test_senders_do_not_pay_for_each_other(void)
{
	struct fair f = { 0 };
	char name[16];

	while (fair_admit(&f, ":1.1", 5))
		;
	g_assert_true(fair_admit(&f, ":1.2", 5));
	/* The greedy one is remembered while many others come once. */
	for (int i = 100; i < 1000; i++) {
		snprintf(name, sizeof(name), ":1.%d", i);
		g_assert_true(fair_admit(&f, name, 5));
		g_assert_false(fair_admit(&f, ":1.1", 5));
	}
}

static void test_odd_names(void)
{
	struct fair f = { 0 };
	char *name = g_strnfill(300, 'x');

	g_assert_true(fair_admit(&f, "", 5));
	for (int i = 0; i < FAIR_BURST; i++)
		g_assert_true(fair_admit(&f, name, 5));
	g_assert_false(fair_admit(&f, name, 5));
	g_free(name);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/fair/burst-then-one-an-interval", test_burst_then_one_an_interval);
	g_test_add_func("/fair/rest-gives-the-burst-back", test_rest_gives_the_burst_back);
	g_test_add_func("/fair/senders-do-not-pay-for-each-other", test_senders_do_not_pay_for_each_other);
	g_test_add_func("/fair/odd-names", test_odd_names);
	return g_test_run();
}
