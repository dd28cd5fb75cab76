/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libvirt/libvirt-qemu.h>

#include "observer-words.h"
#include "watch.h"

#define MAX_LINES 8192
#define LINE_SIZE 96

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	size_t n;
	char lines[MAX_LINES][LINE_SIZE];
} w = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void add(const char *side, virDomainPtr domain, const char *text)
{
	pthread_mutex_lock(&w.lock);
	if (w.n < MAX_LINES) {
		snprintf(w.lines[w.n++], LINE_SIZE, "%s %s %s", side, virDomainGetName(domain), text);
		pthread_cond_broadcast(&w.more);
	}
	pthread_mutex_unlock(&w.lock);
}

static void on_qmp(virConnectPtr conn, virDomainPtr domain, const char *event, long long seconds, unsigned int micros,
		   const char *details, void *side)
{
	const char *status = details ? strstr(details, "\"status\":\"") : NULL;
	char text[64];

	(void) conn;
	(void) seconds;
	(void) micros;
	if (status)
		snprintf(text, sizeof(text), "%s %.*s", event, (int) strcspn(status + 10, "\""), status + 10);
	else
		snprintf(text, sizeof(text), "%s", event);
	add(side, domain, text);
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr domain, int event, int detail, void *side)
{
	char text[64];

	(void) conn;
	lifecycle_words(event, detail, text, sizeof(text));
	add(side, domain, text);
	return 0;
}

static void on_iteration(virConnectPtr conn, virDomainPtr domain, int iteration, void *side)
{
	char text[32];

	(void) conn;
	snprintf(text, sizeof(text), "iteration %d", iteration);
	add(side, domain, text);
}

static void *turn(void *opaque)
{
	for (;;)
		if (virEventRunDefaultImpl() < 0)
			return opaque;
}

int watch_start(void)
{
	pthread_condattr_t attr;
	pthread_t thread;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&w.more, &attr);
	pthread_condattr_destroy(&attr);
	if (virEventRegisterDefaultImpl() < 0 || pthread_create(&thread, NULL, turn, NULL) != 0)
		return -1;
	return pthread_detach(thread);
}

int watch_connection(virConnectPtr conn, const char *side)
{
	void *opaque = (void *) side;

	if (virConnectDomainEventRegisterAny(conn, NULL, VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle),
					     opaque, NULL) < 0 ||
	    virConnectDomainEventRegisterAny(conn, NULL, VIR_DOMAIN_EVENT_ID_MIGRATION_ITERATION,
					     VIR_DOMAIN_EVENT_CALLBACK(on_iteration), opaque, NULL) < 0 ||
	    virConnectDomainQemuMonitorEventRegister(conn, NULL, NULL, on_qmp, opaque, NULL, 0) < 0)
		return -1;
	return 0;
}

size_t watch_now(void)
{
	size_t n;

	pthread_mutex_lock(&w.lock);
	n = w.n;
	pthread_mutex_unlock(&w.lock);
	return n;
}

/* With the lock held. */
static bool found(size_t from, const char *line)
{
	for (size_t i = from; i < w.n; i++)
		if (strcmp(w.lines[i], line) == 0)
			return true;
	return false;
}

bool watch_seen(size_t from, const char *line)
{
	bool seen;

	pthread_mutex_lock(&w.lock);
	seen = found(from, line);
	pthread_mutex_unlock(&w.lock);
	return seen;
}

bool watch_wait(size_t from, const char *line, int timeout_ms)
{
	struct timespec end;
	bool seen;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout_ms / 1000;
	end.tv_nsec += timeout_ms % 1000 * 1000000L;
	if (end.tv_nsec >= 1000000000L) {
		end.tv_sec++;
		end.tv_nsec -= 1000000000L;
	}
	pthread_mutex_lock(&w.lock);
	while (!(seen = found(from, line)) && pthread_cond_timedwait(&w.more, &w.lock, &end) == 0)
		;
	pthread_mutex_unlock(&w.lock);
	return seen;
}
