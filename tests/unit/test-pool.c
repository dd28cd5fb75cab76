/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>

#include "host/pool.h"

/* A call that waits until it is let go, as one of libvirt's does when a monitor hangs. */
struct gate {
	GMutex lock;
	GCond open_cond;
	bool open;
	gint inside, freed;
};

struct result {
	GMainLoop *loop;
	unsigned done, timed_out;
};

static struct gate gate;

static void wait_inside(void *data)
{
	struct gate *g = data;

	g_mutex_lock(&g->lock);
	g->inside++;
	while (!g->open)
		g_cond_wait(&g->open_cond, &g->lock);
	g_mutex_unlock(&g->lock);
}

static void nothing(void *data)
{
	(void) data;
}

static void count_free(void *data)
{
	struct gate *g = data;

	g_atomic_int_inc(&g->freed);
}

static void on_done(int r, void *data, void *userdata)
{
	struct result *result = userdata;

	g_assert_true(r == 0 ? data != NULL : data == NULL);
	if (r == -ETIMEDOUT)
		result->timed_out++;
	else
		result->done++;
	g_main_loop_quit(result->loop);
}

static int submit(struct pool *p, const char *key, nsec_t timeout, void (*work)(void *), struct result *r)
{
	const struct pool_call c = {
		.key = key, .timeout = timeout, .work = work, .done = on_done, .data_free = count_free, .data = &gate, .userdata = r,
	};

	return pool_submit(p, &c);
}

static void set_gate(bool open)
{
	g_mutex_lock(&gate.lock);
	gate.open = open;
	g_cond_broadcast(&gate.open_cond);
	g_mutex_unlock(&gate.lock);
}

static void wait_for(gint *counter, gint value)
{
	for (int i = 0; i < 5000 && g_atomic_int_get(counter) != value; i++)
		g_usleep(1000);
	g_assert_cmpint(g_atomic_int_get(counter), ==, value);
}

static void begin(struct result *r)
{
	*r = (struct result) { .loop = g_main_loop_new(NULL, FALSE) };
	gate.inside = gate.freed = 0;
	set_gate(false);
}

static void test_a_call_comes_back(void)
{
	struct pool *p = pool_new(1, 4);
	struct result r;

	begin(&r);
	g_assert_cmpint(submit(p, "a", 10 * NSEC_PER_SEC, nothing, &r), ==, 0);
	g_main_loop_run(r.loop);
	g_assert_cmpuint(r.done, ==, 1);
	wait_for(&gate.freed, 1);
	pool_free(p);
	g_main_loop_unref(r.loop);
}

static void test_one_call_a_key(void)
{
	struct pool *p = pool_new(3, 1);
	struct result r;

	begin(&r);
	g_assert_cmpint(submit(p, "a", 10 * NSEC_PER_SEC, wait_inside, &r), ==, 0);
	wait_for(&gate.inside, 1);
	g_assert_cmpint(submit(p, "a", 10 * NSEC_PER_SEC, wait_inside, &r), ==, -EBUSY);
	set_gate(true);
	g_main_loop_run(r.loop);
	g_assert_cmpint(submit(p, "a", 10 * NSEC_PER_SEC, wait_inside, &r), ==, 0);
	g_main_loop_run(r.loop);
	g_assert_cmpuint(r.done, ==, 2);
	pool_free(p);
	g_main_loop_unref(r.loop);
}

static void test_a_hanging_call_delays_no_other(void)
{
	struct pool *p = pool_new(2, 8);
	struct pool_counters c;
	struct result r;

	begin(&r);
	g_assert_cmpint(submit(p, "stuck", 50 * NSEC_PER_MSEC, wait_inside, &r), ==, 0);
	g_assert_cmpint(submit(p, "b", 10 * NSEC_PER_SEC, nothing, &r), ==, 0);
	g_main_loop_run(r.loop);
	g_main_loop_run(r.loop);
	g_assert_cmpuint(r.done, ==, 1);
	g_assert_cmpuint(r.timed_out, ==, 1);
	pool_get_counters(p, &c);
	g_assert_cmpuint(c.stuck, ==, 1);
	g_assert_cmpuint(c.timed_out, ==, 1);
	/* Its key is free again: somebody may ask anew. */
	g_assert_cmpint(submit(p, "stuck", 10 * NSEC_PER_SEC, nothing, &r), ==, 0);
	g_main_loop_run(r.loop);
	g_assert_cmpuint(r.done, ==, 2);
	set_gate(true);
	wait_for(&gate.freed, 3); /* by the thread itself, for the one that came too late */
	pool_get_counters(p, &c);
	g_assert_cmpuint(c.stuck, ==, 0);
	pool_free(p);
	g_main_loop_unref(r.loop);
}

static void test_all_threads_hang(void)
{
	struct pool *p = pool_new(1, 1);
	struct result r;

	begin(&r);
	g_assert_cmpint(submit(p, "a", 10 * NSEC_PER_SEC, wait_inside, &r), ==, 0);
	wait_for(&gate.inside, 1);
	g_assert_cmpint(submit(p, "b", 20 * NSEC_PER_MSEC, nothing, &r), ==, 0);
	g_assert_cmpint(submit(p, "c", 20 * NSEC_PER_MSEC, nothing, &r), ==, -EAGAIN);
	g_main_loop_run(r.loop); /* b never started */
	g_assert_cmpuint(r.timed_out, ==, 1);
	g_assert_cmpint(gate.freed, ==, 1);
	pool_free(p); /* leaves the hanging call alone and does not wait for it */
	set_gate(true);
	wait_for(&gate.freed, 2);
	g_main_loop_unref(r.loop);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_mutex_init(&gate.lock);
	g_cond_init(&gate.open_cond);
	g_test_add_func("/pool/a call comes back", test_a_call_comes_back);
	g_test_add_func("/pool/one call of a key at a time", test_one_call_a_key);
	g_test_add_func("/pool/a call that hangs delays no other", test_a_hanging_call_delays_no_other);
	g_test_add_func("/pool/all threads hang", test_all_threads_hang);
	return g_test_run();
}
