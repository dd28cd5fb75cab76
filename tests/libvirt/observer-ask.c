/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "observer-ask.h"
#include "observer-json.h"

#define MAX_QUESTIONS 64

static struct {
	const char *uri;
	pthread_mutex_t lock; /* of the queue */
	pthread_cond_t more;
	struct item {
		enum question question;
		char uuid[VIR_UUID_STRING_BUFLEN];
	} queue[MAX_QUESTIONS];
	size_t head, tail;
} q = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

void ask(enum question question, const char *uuid)
{
	pthread_mutex_lock(&q.lock);
	if (q.tail - q.head < MAX_QUESTIONS) {
		struct item *item = &q.queue[q.tail++ % MAX_QUESTIONS];

		item->question = question;
		snprintf(item->uuid, sizeof(item->uuid), "%s", uuid);
		pthread_cond_signal(&q.more);
	}
	pthread_mutex_unlock(&q.lock);
}

static struct item next(void)
{
	struct item item;

	pthread_mutex_lock(&q.lock);
	while (q.head == q.tail)
		pthread_cond_wait(&q.more, &q.lock);
	item = q.queue[q.head++ % MAX_QUESTIONS];
	pthread_mutex_unlock(&q.lock);
	return item;
}

static void tell_state(virDomainPtr domain)
{
	int state, reason;

	if (virDomainGetState(domain, &state, &reason, 0) < 0)
		return;
	json_begin_event(arrival_now(), domain, "state");
	json_number("state", state);
	json_number("reason", reason);
	json_end();
}

static void tell_job(virDomainPtr domain)
{
	virTypedParameterPtr params = NULL;
	int n = 0, type = VIR_DOMAIN_JOB_NONE, operation = VIR_DOMAIN_JOB_OPERATION_UNKNOWN;
	char error[256] = "";

	/* Any other call to libvirt forgets the error, so it is kept at once. */
	if (virDomainGetJobStats(domain, &type, &params, &n, 0) < 0)
		snprintf(error, sizeof(error), "%s", virGetLastErrorMessage());
	json_begin_event(arrival_now(), domain, "job-info");
	if (error[0]) {
		json_text("error", error);
	} else {
		virTypedParamsGetInt(params, n, VIR_DOMAIN_JOB_OPERATION, &operation);
		json_number("operation", operation);
		json_number("type", type);
	}
	json_end();
	virTypedParamsFree(params, n);
}

static void *answer(void *opaque)
{
	virConnectPtr conn = NULL;

	(void) opaque;
	for (;;) {
		struct item item = next();
		virDomainPtr domain;

		if (conn && virConnectIsAlive(conn) != 1) {
			virConnectClose(conn);
			conn = NULL;
		}
		if (!conn)
			conn = virConnectOpen(q.uri);
		domain = conn ? virDomainLookupByUUIDString(conn, item.uuid) : NULL;
		if (!domain)
			continue;
		if (item.question == ASK_STATE)
			tell_state(domain);
		else
			tell_job(domain);
		virDomainFree(domain);
	}
	return NULL;
}

int ask_start(const char *uri)
{
	pthread_t thread;

	q.uri = uri;
	if (pthread_create(&thread, NULL, answer, NULL) != 0)
		return -1;
	return pthread_detach(thread) == 0 ? 0 : -1;
}
