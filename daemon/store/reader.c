/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "rollbackd/names.h"
#include "store/folders.h"
#include "store/reader.h"
#include "store/report-json.h"
#include "store/report-limits.h"
#include "store/summary.h"

/* Each may hold a report's text: together some MiB. */
#define READS_MAX 64

struct reader {
	GMutex lock;
	GQueue jobs;       /* under the lock */
	bool running;      /* under the lock */

	GHashTable *calls; /* main thread: who waits */
	struct mailbox *mail;
	read_damaged *damaged;
	char *dir;
};

/* Who waits: the main thread's own, so that closing can answer at once. */
struct call {
	read_done *done;
	void *userdata;
};

struct job {
	struct letter letter;
	struct reader *reader;
	struct call *call; /* a key into reader->calls, no more */
	uint64_t began, id;
	struct report *report;
	int r;
	char *text, *file, *why;
};

static void reader_clear(void *data)
{
	struct reader *rd = data;

	mailbox_unref(rd->mail);
	g_hash_table_unref(rd->calls);
	g_mutex_clear(&rd->lock);
	g_free(rd->dir);
}

struct reader *reader_new(const char *dir, read_damaged *damaged, struct mailbox *mail)
{
	struct reader *rd = g_atomic_rc_box_new0(struct reader);

	g_mutex_init(&rd->lock);
	g_queue_init(&rd->jobs);
	rd->calls = g_hash_table_new_full(NULL, NULL, g_free, NULL);
	rd->mail = mailbox_ref(mail);
	rd->damaged = damaged;
	rd->dir = g_strdup(dir);
	return rd;
}

static void job_dispose(struct letter *l)
{
	struct job *j = (struct job *) l;

	if (j->report)
		g_atomic_rc_box_release(j->report);
	g_atomic_rc_box_release_full(j->reader, reader_clear);
	free(j->text);
	g_free(j->file);
	g_free(j->why);
	g_free(j);
}

/* The owner may close the reader in the callback: the job's reference keeps it. */
static void job_deliver(struct letter *l, void *owner)
{
	struct job *j = (struct job *) l;
	struct reader *rd = j->reader;
	struct call call;

	if (!g_hash_table_contains(rd->calls, j->call))
		return;
	call = *j->call;
	g_hash_table_remove(rd->calls, j->call);
	if (j->why)
		rd->damaged(owner, j->id, j->file, j->why);
	call.done(j->r, j->r == 0 ? j->text : NULL, call.userdata);
}

/* Nobody is to be shown what would not have been taken in at a start. */
static int check(const struct job *j, const char *text, size_t n, char *why, size_t size)
{
	struct report r;
	int k = report_from_text(text, n, &r, why, size);

	if (k == 0 && id_from_text(r.id) != j->id) {
		g_snprintf(why, size, "found id %s, expected that of its name", r.id);
		k = -EINVAL;
	}
	return k == -EINVAL || k == -EPROTONOSUPPORT ? -EBADMSG : k;
}

static int read_text(const struct folders *f, const struct job *j, const char *name, char **ret_, char *why, size_t size)
{
	char *text;
	size_t n;
	int r = file_read(f->reports, name, REPORT_TEXT_MAX, &text, &n);

	if (r == -ENOTSUP || r == -EFBIG) {
		g_strlcpy(why, r == -ENOTSUP ? "found no regular file" : "found more than 1 MiB", size);
		return -EBADMSG;
	}
	if (r < 0)
		return r;
	r = check(j, text, n, why, size);
	if (r < 0) {
		free(text);
		return r;
	}
	/* In place of the newline that ends the file: a report that passed has at least one byte. */
	text[text[n - 1] == '\n' ? n - 1 : n] = '\0';
	*ret_ = text;
	return 0;
}

static void job_run(struct job *j)
{
	struct folders f = FOLDERS_CLOSED;
	char name[REPORT_FILE_SIZE], why[256] = "";

	if (j->report) {
		j->text = report_to_text(j->report);
		j->r = j->text ? 0 : -ENOMEM;
		return;
	}
	report_file_name(name, j->began, j->id);
	j->r = folders_open(j->reader->dir, 0, &f);
	if (j->r == 0)
		j->r = read_text(&f, j, name, &j->text, why, sizeof(why));
	if (j->r == -EBADMSG) {
		file_set_aside(&f, f.reports, name);
		j->file = g_strdup_printf(RBD_REPORTS_DIR "/%s", name);
		j->why = g_strdup(why);
	}
	folders_close(&f);
}

static void *run(void *data)
{
	struct reader *rd = data;
	struct job *j;

	for (;;) {
		g_mutex_lock(&rd->lock);
		j = g_queue_pop_head(&rd->jobs);
		rd->running = j != NULL;
		g_mutex_unlock(&rd->lock);
		if (!j)
			break;
		job_run(j);
		mailbox_post(rd->mail, &j->letter);
	}
	g_atomic_rc_box_release_full(rd, reader_clear);
	return NULL;
}

static struct job *job_new(struct reader *rd, read_done *done, void *userdata)
{
	struct job *j = g_new0(struct job, 1);

	j->letter = (struct letter) { .deliver = job_deliver, .dispose = job_dispose };
	j->reader = g_atomic_rc_box_acquire(rd);
	j->call = g_new(struct call, 1);
	*j->call = (struct call) { .done = done, .userdata = userdata };
	g_hash_table_add(rd->calls, j->call);
	return j;
}

void reader_refuse(struct reader *rd, int r, read_done *done, void *userdata)
{
	struct job *j = job_new(rd, done, userdata);

	j->r = r;
	mailbox_post(rd->mail, &j->letter);
}

/* False: no thread can be had. */
static bool ensure_thread(struct reader *rd)
{
	GThread *thread;

	if (rd->running)
		return true;
	thread = g_thread_try_new("store-reader", run, g_atomic_rc_box_acquire(rd), NULL);
	if (!thread) {
		g_atomic_rc_box_release(rd);
		return false;
	}
	g_thread_unref(thread);
	rd->running = true;
	return true;
}

void reader_read(struct reader *rd, uint64_t began, uint64_t id, const struct report *r, read_done *done, void *userdata)
{
	struct job *j;
	bool queued;

	if (g_hash_table_size(rd->calls) >= READS_MAX) {
		reader_refuse(rd, -EAGAIN, done, userdata);
		return;
	}
	j = job_new(rd, done, userdata);
	j->began = began;
	j->id = id;
	j->report = r ? g_atomic_rc_box_acquire((struct report *) r) : NULL;
	g_mutex_lock(&rd->lock);
	queued = ensure_thread(rd);
	if (queued)
		g_queue_push_tail(&rd->jobs, j);
	g_mutex_unlock(&rd->lock);
	if (!queued) {
		j->r = -EAGAIN;
		mailbox_post(rd->mail, &j->letter);
	}
}

void reader_close(struct reader *rd)
{
	GHashTable *calls = rd->calls;
	GHashTableIter i;
	void *key;

	g_mutex_lock(&rd->lock);
	for (struct job *j; (j = g_queue_pop_head(&rd->jobs));)
		job_dispose(&j->letter);
	g_mutex_unlock(&rd->lock);
	rd->calls = g_hash_table_new_full(NULL, NULL, g_free, NULL);
	g_hash_table_iter_init(&i, calls);
	while (g_hash_table_iter_next(&i, &key, NULL))
		((struct call *) key)->done(-ECANCELED, NULL, ((struct call *) key)->userdata);
	g_hash_table_unref(calls);
	g_atomic_rc_box_release_full(rd, reader_clear);
}
