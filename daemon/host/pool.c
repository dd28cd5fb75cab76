/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <stdbool.h>

#include "host/pool.h"

/* The lock covers the queue, the counters and each job's "abandoned"; everything else is the main thread's or the
 * worker's alone. The pool itself is counted: threads that hang keep it alive after pool_free(). */
struct pool {
	GMutex lock;
	GCond wanted;
	GQueue queue;            /* struct job, waiting */
	unsigned threads, max_threads, idle, max_queued;
	unsigned running, stuck;
	bool closed;
	gatomicrefcount refs;
	/* main thread */
	GHashTable *keys;        /* key -> struct job */
	uint64_t timed_out, finished;
};

struct job {
	struct pool *pool;
	struct pool_call call;
	char *key;
	guint timer;             /* main thread */
	bool abandoned;          /* done() has been called, or never will be */
};

static void pool_unref(struct pool *p)
{
	if (!g_atomic_ref_count_dec(&p->refs))
		return;
	g_mutex_clear(&p->lock);
	g_cond_clear(&p->wanted);
	g_free(p);
}

static void job_free(struct job *j)
{
	if (j->call.data_free)
		j->call.data_free(j->call.data);
	pool_unref(j->pool);
	g_free(j->key);
	g_free(j);
}

/* Main thread: the call is out of the pool, one way or the other. */
static void job_settle(struct job *j)
{
	if (j->timer)
		g_source_remove(j->timer);
	j->timer = 0;
	if (j->pool->keys)
		g_hash_table_remove(j->pool->keys, j->key);
}

static gboolean job_finished(gpointer data)
{
	struct job *j = data;

	if (j->pool->closed) {
		job_free(j);
		return G_SOURCE_REMOVE;
	}
	j->pool->finished++;
	job_settle(j);
	j->call.done(0, j->call.data, j->call.userdata);
	job_free(j);
	return G_SOURCE_REMOVE;
}

/* The worker is left with the job; if it is still in the queue, nobody will ever start it. */
static gboolean job_timed_out(gpointer data)
{
	struct job *j = data;
	struct pool *p = j->pool;
	void (*done)(int, void *, void *) = j->call.done;
	void *userdata = j->call.userdata;
	bool queued, late;

	g_mutex_lock(&p->lock);
	late = j->abandoned; /* its result is on its way to us */
	queued = g_queue_remove(&p->queue, j);
	if (!late && !queued) {
		j->abandoned = true;
		p->stuck++;
	}
	g_mutex_unlock(&p->lock);
	j->timer = 0;
	if (late)
		return G_SOURCE_REMOVE;
	p->timed_out++;
	job_settle(j);
	if (queued)
		job_free(j);
	done(-ETIMEDOUT, NULL, userdata);
	return G_SOURCE_REMOVE;
}

static void job_run(struct pool *p, struct job *j)
{
	bool abandoned;

	j->call.work(j->call.data);
	g_mutex_lock(&p->lock);
	p->running--;
	abandoned = j->abandoned;
	if (abandoned && !p->closed)
		p->stuck--;
	j->abandoned = true;
	g_mutex_unlock(&p->lock);
	if (abandoned)
		job_free(j);
	else
		g_idle_add_full(G_PRIORITY_DEFAULT, job_finished, j, NULL);
}

static gpointer pool_thread(gpointer data)
{
	struct pool *p = data;

	g_mutex_lock(&p->lock);
	while (!p->closed) {
		struct job *j = g_queue_pop_head(&p->queue);

		if (!j) {
			p->idle++;
			g_cond_wait(&p->wanted, &p->lock);
			p->idle--;
			continue;
		}
		p->running++;
		g_mutex_unlock(&p->lock);
		job_run(p, j);
		g_mutex_lock(&p->lock);
	}
	g_mutex_unlock(&p->lock);
	pool_unref(p);
	return NULL;
}

/* With the lock held. A thread that cannot be made is no failure while another one lives. */
static void ensure_thread(struct pool *p)
{
	GThread *t;

	if (p->idle > 0 || p->threads >= p->max_threads)
		return;
	g_atomic_ref_count_inc(&p->refs);
	t = g_thread_try_new("rbd-call", pool_thread, p, NULL);
	if (!t) {
		pool_unref(p);
		return;
	}
	g_thread_unref(t);
	p->threads++;
}

struct pool *pool_new(unsigned threads, unsigned max_queued)
{
	struct pool *p = g_new0(struct pool, 1);

	g_mutex_init(&p->lock);
	g_cond_init(&p->wanted);
	g_queue_init(&p->queue);
	g_atomic_ref_count_init(&p->refs);
	p->max_threads = threads;
	p->max_queued = max_queued;
	p->keys = g_hash_table_new(g_str_hash, g_str_equal);
	return p;
}

int pool_submit(struct pool *p, const struct pool_call *call)
{
	struct job *j;

	if (g_hash_table_contains(p->keys, call->key))
		return -EBUSY;
	g_mutex_lock(&p->lock);
	if (p->queue.length >= p->max_queued) {
		g_mutex_unlock(&p->lock);
		return -EAGAIN;
	}
	j = g_new0(struct job, 1);
	j->pool = p;
	j->call = *call;
	j->key = g_strdup(call->key);
	j->call.key = NULL;
	g_atomic_ref_count_inc(&p->refs);
	g_hash_table_insert(p->keys, j->key, j);
	j->timer = g_timeout_add((guint) (call->timeout / NSEC_PER_MSEC), job_timed_out, j);
	g_queue_push_tail(&p->queue, j);
	ensure_thread(p);
	g_cond_signal(&p->wanted);
	g_mutex_unlock(&p->lock);
	return 0;
}

void pool_get_counters(struct pool *p, struct pool_counters *ret_)
{
	g_mutex_lock(&p->lock);
	*ret_ = (struct pool_counters) {
		.running = p->running,
		.queued = p->queue.length,
		.stuck = p->stuck,
		.timed_out = p->timed_out,
		.finished = p->finished,
	};
	g_mutex_unlock(&p->lock);
}

void pool_free(struct pool *p)
{
	GHashTableIter it;
	gpointer value;

	if (!p)
		return;
	g_mutex_lock(&p->lock);
	p->closed = true;
	g_hash_table_iter_init(&it, p->keys);
	while (g_hash_table_iter_next(&it, NULL, &value)) {
		struct job *j = value;

		if (j->timer)
			g_source_remove(j->timer);
		j->timer = 0;
		if (g_queue_remove(&p->queue, j)) {
			g_mutex_unlock(&p->lock);
			job_free(j);
			g_mutex_lock(&p->lock);
		} else if (!j->abandoned) {
			j->abandoned = true; /* the worker frees it */
		}
	}
	g_cond_broadcast(&p->wanted);
	g_mutex_unlock(&p->lock);
	g_hash_table_unref(p->keys);
	p->keys = NULL;
	pool_unref(p);
}
