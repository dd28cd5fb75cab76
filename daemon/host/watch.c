/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib-unix.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "host/hugepages.h"
#include "host/procfs.h"
#include "host/watch.h"

/* The kernel gives pages back while the process exits, so most come at once; the rest is a shared pool that others may
 * empty again, so the wait is bounded. */
#define POOL_STEP_MSEC 5
#define POOL_STEPS     400

struct watch {
	struct watch_events events;
	char *proc, *sysfs;
	pid_t pid;
	int pidfd;
	guint source, timer;
	unsigned steps;
	uint64_t page_size;
	uint64_t free_after;     /* bytes; 0 not known */
};

static gboolean on_exit_seen(gint fd, GIOCondition condition, gpointer data)
{
	struct watch *w = data;

	(void) fd;
	(void) condition;
	w->source = 0;
	w->events.exited(w->events.userdata);
	return G_SOURCE_REMOVE;
}

int watch_new(pid_t pid, uint64_t page_size, const char *proc, const char *sysfs, const struct watch_events *events, struct watch **ret_)
{
	struct watch *w;
	int fd = (int) syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	w = g_new0(struct watch, 1);
	w->events = *events;
	w->proc = g_strdup(proc);
	w->sysfs = g_strdup(sysfs);
	w->pid = pid;
	w->page_size = page_size;
	w->pidfd = fd;
	w->source = g_unix_fd_add(fd, G_IO_IN, on_exit_seen, w);
	*ret_ = w;
	return 0;
}

void watch_sample(struct watch *w)
{
	uint64_t held, now;

	if (!w->page_size || procfs_hugetlb_held(w->proc, w->pid, &held) < 0 || !held)
		return;
	if (hugepages_free(w->sysfs, w->page_size, &now) == 0)
		w->free_after = now + held;
}

static bool pool_is_back(struct watch *w)
{
	uint64_t now;

	return hugepages_free(w->sysfs, w->page_size, &now) == 0 && now >= w->free_after;
}

static gboolean on_step(gpointer data)
{
	struct watch *w = data;
	bool back = pool_is_back(w);

	if (!back && ++w->steps < POOL_STEPS)
		return G_SOURCE_CONTINUE;
	w->timer = 0;
	w->events.pool(back, w->events.userdata);
	return G_SOURCE_REMOVE;
}

void watch_pool(struct watch *w)
{
	if (!w->free_after) {
		w->events.pool(false, w->events.userdata);
		return;
	}
	w->timer = g_timeout_add(POOL_STEP_MSEC, on_step, w);
	if (pool_is_back(w)) {
		g_source_remove(w->timer);
		w->timer = 0;
		w->events.pool(true, w->events.userdata);
	}
}

struct watch *watch_free(struct watch *w)
{
	if (!w)
		return NULL;
	if (w->source)
		g_source_remove(w->source);
	if (w->timer)
		g_source_remove(w->timer);
	close(w->pidfd);
	g_free(w->proc);
	g_free(w->sysfs);
	g_free(w);
	return NULL;
}
