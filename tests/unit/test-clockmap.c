/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "core/clockmap.h"

#define HOUR (3600 * NSEC_PER_SEC)
#define T(s) ((nsec_t) (s) * NSEC_PER_SEC)

/* Boot was at this wall-clock time. */
#define BOOT (T(1800000000))

struct bench {
	struct clockmap map;
	struct stamp_stream stream;
	struct event ev;
};

static void start(struct bench *b)
{
	*b = (struct bench) { 0 };
	g_assert_false(clockmap_update(&b->map, T(100), BOOT + T(100)));
}

/* An event stamped at wall-clock time "real", that arrives at "arrival" monotonic. */
static void stamp(struct bench *b, nsec_t real, nsec_t arrival)
{
	b->ev = event_at_arrival(EVENT_QMP_STOP, STAMP_ARRIVAL, arrival, b->map.offset);
	clockmap_stamp(&b->map, &b->stream, (long long) (real / NSEC_PER_SEC), (unsigned) (real % NSEC_PER_SEC / 1000), &b->ev);
}

static void test_converts(void)
{
	struct bench b;

	start(&b);
	stamp(&b, BOOT + T(200), T(200) + 5 * NSEC_PER_MSEC);
	g_assert_cmpuint(b.ev.at, ==, T(200));
	g_assert_cmpint(b.ev.source, ==, STAMP_QMP);
	g_assert_cmpuint(b.ev.resolution, ==, NSEC_PER_USEC);
	g_assert_false(b.ev.stamp_rejected);
}

static void test_rejects_missing(void)
{
	struct bench b;

	start(&b);
	b.ev = event_at_arrival(EVENT_QMP_STOP, STAMP_ARRIVAL, T(200), b.map.offset);
	clockmap_stamp(&b.map, &b.stream, -1, 0, &b.ev);
	g_assert_cmpuint(b.ev.at, ==, T(200));
	g_assert_cmpint(b.ev.source, ==, STAMP_ARRIVAL);
	g_assert_true(b.ev.stamp_rejected);
	g_assert_cmpint(b.ev.stamp_usec, ==, -1);
}

static void test_rejects_later_than_arrival(void)
{
	struct bench b;

	start(&b);
	stamp(&b, BOOT + T(201), T(200));
	g_assert_true(b.ev.stamp_rejected);
	g_assert_cmpuint(b.ev.at, ==, T(200));
}

static void test_rejects_earlier_than_last(void)
{
	struct bench b;

	start(&b);
	stamp(&b, BOOT + T(200), T(201));
	stamp(&b, BOOT + T(199), T(202));
	g_assert_true(b.ev.stamp_rejected);
	g_assert_cmpuint(b.ev.at, ==, T(202));
	stamp(&b, BOOT + T(201), T(203)); /* an arrival time in between bounds nothing */
	g_assert_cmpuint(b.ev.at, ==, T(201));
}

static void test_rejects_garbage(void)
{
	struct bench b;

	start(&b);
	b.ev = event_at_arrival(EVENT_QMP_STOP, STAMP_ARRIVAL, T(200), b.map.offset);
	clockmap_stamp(&b.map, &b.stream, INT64_MAX, 0, &b.ev);
	g_assert_true(b.ev.stamp_rejected);
	clockmap_stamp(&b.map, &b.stream, 1800000150, 4000000000u, &b.ev);
	g_assert_true(b.ev.stamp_rejected);
}

/* The wall clock is set one hour forward (back) at T(300); STOP was before, RESUME after. */
static void step(struct bench *b, nsec_t by)
{
	start(b);
	stamp(b, BOOT + T(299), T(299) + 1000);
	g_assert_true(clockmap_update(&b->map, T(300), BOOT + T(300) + by));
	stamp(b, BOOT + T(299) + NSEC_PER_SEC / 2, T(300) + 1000); /* stamped before the step, arrived after it */
	g_assert_cmpuint(b->ev.at, ==, T(299) + NSEC_PER_SEC / 2);
	g_assert_false(b->ev.stamp_rejected);
	stamp(b, BOOT + T(301) + by, T(301) + 1000);
	g_assert_cmpuint(b->ev.at, ==, T(301));
	g_assert_false(b->ev.stamp_rejected);
}

static void test_step_forward(void)
{
	struct bench b;

	step(&b, HOUR);
}

static void test_step_back(void)
{
	struct bench b;

	step(&b, (nsec_t) -HOUR);
}

static void test_no_step_while_slewing(void)
{
	struct bench b;

	start(&b);
	for (unsigned i = 0; i < 1000; i++) /* reading noise */
		g_assert_false(clockmap_update(&b.map, T(200 + i), BOOT + T(200 + i) + i % 7 * NSEC_PER_USEC));
	g_assert_cmpuint(b.map.offset, ==, BOOT);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/clockmap/a stamp becomes monotonic", test_converts);
	g_test_add_func("/clockmap/a missing stamp is replaced by arrival", test_rejects_missing);
	g_test_add_func("/clockmap/a stamp later than arrival is rejected", test_rejects_later_than_arrival);
	g_test_add_func("/clockmap/a stamp earlier than the last is rejected", test_rejects_earlier_than_last);
	g_test_add_func("/clockmap/garbage is rejected", test_rejects_garbage);
	g_test_add_func("/clockmap/the clock steps an hour forward in a switchover", test_step_forward);
	g_test_add_func("/clockmap/the clock steps an hour back in a switchover", test_step_back);
	g_test_add_func("/clockmap/reading noise is no step", test_no_step_while_slewing);
	return g_test_run();
}
