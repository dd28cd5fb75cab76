/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* One thread, two queues: removals, which may make room, and reports, in order, of one id only the newest. What fails
 * goes to the end and is tried again after a back-off; the disk is left alone meanwhile. The thread owns a reference to
 * everything it touches, so that it can be abandoned in the middle of an fsync that hangs. */

#include <errno.h>

#include <glib.h>

#include "store/disk.h"
#include "store/summary.h"
#include "store/writer.h"

struct task {
	uint64_t id;
	struct report *report;
	bool finished;
	GArray *obsolete; /* of uint64_t: begins under which older states of this report may be on disk; NULL: none */
};

struct removal {
	uint64_t began, id;
};

struct writer {
	GMutex lock;
	GCond wake, ended;

	/* Under the lock. */
	GQueue removals, reports;
	struct task *current; /* being written */
	bool probe;           /* see whether the folder can be used though nothing is to be written */
	bool stop, over;
	uint64_t written, failures;

	/* The thread's own. */
	struct disk disk;
	nsec_t retry_min, retry_max, step;
	int64_t retry_at;     /* us, monotonic; 0: at once */
	int trouble;          /* the error that was told */
	struct mailbox *mail;
	struct writer_events events;
};

static void task_free(struct task *t)
{
	g_atomic_rc_box_release(t->report);
	if (t->obsolete)
		g_array_unref(t->obsolete);
	g_free(t);
}

static void add_obsolete(struct task *t, uint64_t began)
{
	if (!t->obsolete)
		t->obsolete = g_array_new(FALSE, FALSE, sizeof(uint64_t));
	g_array_append_val(t->obsolete, began);
}

static void writer_clear(void *data)
{
	struct writer *w = data;

	g_queue_clear_full(&w->removals, g_free);
	g_queue_clear_full(&w->reports, (GDestroyNotify) task_free);
	disk_done(&w->disk);
	mailbox_unref(w->mail);
	g_mutex_clear(&w->lock);
	g_cond_clear(&w->wake);
	g_cond_clear(&w->ended);
}

/* Letters. */
struct message {
	struct letter letter;
	struct writer_events events;
	struct report *report; /* written */
	uint64_t bytes;
	char *why;             /* trouble */
};

static void message_dispose(struct letter *l)
{
	struct message *m = (struct message *) l;

	if (m->report)
		g_atomic_rc_box_release(m->report);
	g_free(m->why);
	g_free(m);
}

static void message_deliver(struct letter *l, void *owner)
{
	struct message *m = (struct message *) l;

	if (m->report)
		m->events.written(owner, m->report, m->bytes);
	else
		m->events.trouble(owner, m->why);
}

static void send(struct writer *w, struct report *report, uint64_t bytes, char *why)
{
	struct message *m = g_new0(struct message, 1);

	m->letter = (struct letter) { .deliver = message_deliver, .dispose = message_dispose };
	m->events = w->events;
	m->report = report ? g_atomic_rc_box_acquire(report) : NULL;
	m->bytes = bytes;
	m->why = why;
	mailbox_post(w->mail, &m->letter);
}

static void tell(struct writer *w, int r)
{
	if (r == w->trouble)
		return;
	w->trouble = r;
	if (r == 0)
		send(w, NULL, 0, NULL);
	else
		send(w, NULL, 0, g_strdup_printf("%s: reports cannot be written: %s", w->disk.dir,
						 r == -EBUSY ? "another process uses the folder" : g_strerror(-r)));
}

static int do_probe(struct writer *w)
{
	int r;

	g_mutex_unlock(&w->lock);
	r = disk_probe(&w->disk);
	g_mutex_lock(&w->lock);
	return r;
}

static int do_removal(struct writer *w, struct removal *m)
{
	int r;

	g_mutex_unlock(&w->lock);
	r = disk_remove(&w->disk, m->began, m->id);
	g_mutex_lock(&w->lock);
	if (r < 0)
		g_queue_push_head(&w->removals, m);
	else
		g_free(m);
	return r;
}

static struct task *find_task(struct writer *w, uint64_t id)
{
	for (GList *l = w->reports.head; l; l = l->next)
		if (((struct task *) l->data)->id == id)
			return l->data;
	return NULL;
}

static void push_removal(struct writer *w, uint64_t began, uint64_t id)
{
	struct removal *m = g_new(struct removal, 1);

	*m = (struct removal) { .began = began, .id = id };
	g_queue_push_tail(&w->removals, m);
}

/* Only when the newer file is on disk. */
static void remove_obsolete(struct writer *w, const struct task *t)
{
	for (guint i = 0; t->obsolete && i < t->obsolete->len; i++)
		push_removal(w, g_array_index(t->obsolete, uint64_t, i), t->id);
}

/* Under the lock. A newer state of the same id that came meanwhile stands for the one that could not be written. */
static void put_back(struct writer *w, struct task *t)
{
	struct task *newer = find_task(w, t->id);

	if (!newer) {
		g_queue_push_tail(&w->reports, t);
		return;
	}
	for (guint i = 0; t->obsolete && i < t->obsolete->len; i++)
		add_obsolete(newer, g_array_index(t->obsolete, uint64_t, i));
	task_free(t);
}

static int do_report(struct writer *w, struct task *t)
{
	uint64_t bytes;
	int r;

	w->current = t;
	g_mutex_unlock(&w->lock);
	r = disk_write(&w->disk, t->report, t->finished, &bytes);
	if (r == 0 && t->finished)
		send(w, t->report, bytes, NULL);
	g_mutex_lock(&w->lock);
	w->current = NULL;
	if (r < 0) {
		put_back(w, t);
		return r;
	}
	w->written++;
	remove_obsolete(w, t);
	task_free(t);
	return 0;
}

static void back_off(struct writer *w, int r)
{
	w->failures++;
	w->probe = true;
	w->step = w->step ? MIN(2 * w->step, w->retry_max) : w->retry_min;
	w->retry_at = g_get_monotonic_time() + (int64_t) (w->step / NSEC_PER_USEC);
	tell(w, r);
}

static void works(struct writer *w)
{
	w->probe = false;
	w->step = 0;
	w->retry_at = 0;
	tell(w, 0);
}

static bool has_work(struct writer *w)
{
	return w->removals.length > 0 || w->reports.length > 0 || w->probe;
}

static int do_next(struct writer *w)
{
	if (w->removals.length > 0)
		return do_removal(w, g_queue_pop_head(&w->removals));
	if (w->reports.length > 0)
		return do_report(w, g_queue_pop_head(&w->reports));
	return do_probe(w);
}

/* Under the lock. False: told to stop, and nothing is left. */
static bool wait_for_work(struct writer *w)
{
	while (!w->stop) {
		if (!has_work(w))
			g_cond_wait(&w->wake, &w->lock);
		else if (g_get_monotonic_time() < w->retry_at)
			g_cond_wait_until(&w->wake, &w->lock, w->retry_at);
		else
			return true;
	}
	return has_work(w);
}

static void *run(void *data)
{
	struct writer *w = data;

	g_mutex_lock(&w->lock);
	while (wait_for_work(w)) {
		bool stopping = w->stop;
		int r = do_next(w);

		if (r == 0) {
			works(w);
			continue;
		}
		back_off(w, r);
		if (stopping)
			break;
	}
	g_mutex_unlock(&w->lock);
	folders_close(&w->disk.folders); /* the lock on them goes before anybody is told that it is over */
	g_mutex_lock(&w->lock);
	w->over = true;
	g_cond_signal(&w->ended);
	g_mutex_unlock(&w->lock);
	g_atomic_rc_box_release_full(w, writer_clear);
	return NULL;
}

struct writer *writer_new(const char *dir, struct folders *folders, const struct store_limits *limits,
			  const struct writer_events *events, struct mailbox *mail)
{
	struct writer *w = g_atomic_rc_box_new0(struct writer);
	GThread *thread;

	g_mutex_init(&w->lock);
	g_cond_init(&w->wake);
	g_cond_init(&w->ended);
	w->disk = (struct disk) { .dir = g_strdup(dir), .folders = *folders };
	*folders = FOLDERS_CLOSED;
	w->retry_min = limits->retry_min ? limits->retry_min : NSEC_PER_SEC;
	w->retry_max = limits->retry_max ? limits->retry_max : 60 * NSEC_PER_SEC;
	w->mail = mailbox_ref(mail);
	w->events = *events;
	w->probe = true;
	thread = g_thread_try_new("store-writer", run, g_atomic_rc_box_acquire(w), NULL);
	if (!thread) {
		g_atomic_rc_box_release(w);
		g_atomic_rc_box_release_full(w, writer_clear);
		return NULL;
	}
	g_thread_unref(thread);
	return w;
}

static bool is_over(struct writer *w, const struct task *queued, uint64_t id)
{
	return (queued && queued->finished) || (w->current && w->current->id == id && w->current->finished);
}

void writer_put(struct writer *w, const struct report *r, bool finished, uint64_t obsolete)
{
	uint64_t id = id_from_text(r->id);
	struct task *t;

	g_mutex_lock(&w->lock);
	t = find_task(w, id);
	/* Late news of what has ended already is none. */
	if (finished || !is_over(w, t, id)) {
		if (!t) {
			t = g_new0(struct task, 1);
			t->id = id;
			g_queue_push_tail(&w->reports, t);
		} else {
			g_atomic_rc_box_release(t->report);
		}
		t->report = g_atomic_rc_box_acquire((struct report *) r);
		t->finished = finished;
		if (obsolete != WRITER_NONE)
			add_obsolete(t, obsolete);
		g_cond_signal(&w->wake);
	}
	g_mutex_unlock(&w->lock);
}

void writer_remove(struct writer *w, uint64_t began, uint64_t id)
{
	g_mutex_lock(&w->lock);
	push_removal(w, began, id);
	g_cond_signal(&w->wake);
	g_mutex_unlock(&w->lock);
}

bool writer_drop(struct writer *w, uint64_t *ret_id)
{
	struct task *found = NULL;

	g_mutex_lock(&w->lock);
	for (GList *l = w->reports.head; l && !found; l = l->next)
		if (((struct task *) l->data)->finished) {
			found = l->data;
			g_queue_delete_link(&w->reports, l);
			break;
		}
	g_mutex_unlock(&w->lock);
	if (!found)
		return false;
	*ret_id = found->id;
	task_free(found);
	return true;
}

void writer_counters(struct writer *w, uint64_t *ret_written, uint64_t *ret_failures)
{
	g_mutex_lock(&w->lock);
	*ret_written = w->written;
	*ret_failures = w->failures;
	g_mutex_unlock(&w->lock);
}

unsigned writer_close(struct writer *w, nsec_t timeout)
{
	int64_t until = g_get_monotonic_time() + (int64_t) (timeout / NSEC_PER_USEC);
	unsigned left;

	g_mutex_lock(&w->lock);
	w->stop = true;
	g_cond_signal(&w->wake);
	while (!w->over && g_cond_wait_until(&w->ended, &w->lock, until))
		;
	left = w->reports.length + (w->current ? 1 : 0);
	g_mutex_unlock(&w->lock);
	g_atomic_rc_box_release_full(w, writer_clear);
	return left;
}
