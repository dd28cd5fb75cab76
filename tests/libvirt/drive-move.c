/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <libvirt/virterror.h>

#include "drive.h"

#define STEP_MS 20

/*
 * A migration has connections of its own. libvirt's client library lets threads share one, but a call made while another is
 * waiting for its answer was seen to be sent only when the server's keepalive came by, up to 5 s later.
 */
struct move {
	struct drive *drive;
	virConnectPtr conn[2];
	virDomainPtr domain;
	virTypedParameterPtr params;
	int n_params, max_params;
	unsigned int flags;
	bool p2p;
	pthread_t thread;
	atomic_bool over;
	bool success;
	char error[256];
};

int fail(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("drive: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	return -1;
}

int expect(size_t from, const char *line)
{
	if (watch_wait(from, line, PATIENCE_MS))
		return 0;
	return fail("\"%s\" did not come in %d s", line, PATIENCE_MS / 1000);
}

void sleep_ms(int ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000L };

	nanosleep(&t, NULL);
}

static void *move_run(void *opaque)
{
	struct move *m = opaque;

	if (m->p2p) {
		m->success = virDomainMigrateToURI3(m->domain, m->drive->uri[DST], m->params, (unsigned int) m->n_params, m->flags) == 0;
	} else {
		virDomainPtr moved = virDomainMigrate3(m->domain, m->conn[DST], m->params, (unsigned int) m->n_params, m->flags);

		m->success = moved != NULL;
		if (moved)
			virDomainFree(moved);
	}
	if (!m->success)
		snprintf(m->error, sizeof(m->error), "%s", virGetLastErrorMessage());
	atomic_store(&m->over, true);
	return NULL;
}

static int add_params(struct move *m, const struct move_options *options)
{
	char uri[40] = "tcp://127.0.0.1";
	int r = 0;

	if (options->relay) {
		snprintf(uri, sizeof(uri), "tcp://127.0.0.1:%u", m->drive->relay_port);
		r |= virTypedParamsAddString(&m->params, &m->n_params, &m->max_params, VIR_MIGRATE_PARAM_LISTEN_ADDRESS, "127.0.0.2");
	}
	r |= virTypedParamsAddString(&m->params, &m->n_params, &m->max_params, VIR_MIGRATE_PARAM_URI, uri);
	if (options->mib_s > 0)
		r |= virTypedParamsAddULLong(&m->params, &m->n_params, &m->max_params, VIR_MIGRATE_PARAM_BANDWIDTH, options->mib_s);
	if (options->postcopy_mib_s > 0)
		r |= virTypedParamsAddULLong(&m->params, &m->n_params, &m->max_params, VIR_MIGRATE_PARAM_BANDWIDTH_POSTCOPY,
					     options->postcopy_mib_s);
	if (options->dest_xml)
		r |= virTypedParamsAddString(&m->params, &m->n_params, &m->max_params, VIR_MIGRATE_PARAM_DEST_XML, options->dest_xml);
	return r;
}

static void move_free(struct move *m)
{
	virTypedParamsFree(m->params, m->n_params);
	if (m->domain)
		virDomainFree(m->domain);
	for (int i = 0; i < 2; i++)
		if (m->conn[i])
			virConnectClose(m->conn[i]);
	free(m);
}

struct move *move_begin(struct drive *d, const char *guest, const struct move_options *options)
{
	struct move *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->drive = d;
	m->p2p = options->p2p;
	/* The disk is a file here and the same file there: libvirt cannot know that this is safe. */
	m->flags = options->flags | VIR_MIGRATE_LIVE | VIR_MIGRATE_UNSAFE | (options->p2p ? VIR_MIGRATE_PEER2PEER : 0);
	for (int i = 0; i < 2; i++)
		m->conn[i] = virConnectOpen(d->uri[i]);
	m->domain = m->conn[SRC] ? virDomainLookupByName(m->conn[SRC], guest) : NULL;
	if (!m->domain || !m->conn[DST] || add_params(m, options) < 0 || pthread_create(&m->thread, NULL, move_run, m) != 0) {
		fail("the migration of %s could not be started", guest);
		move_free(m);
		return NULL;
	}
	return m;
}

bool move_over(struct move *m)
{
	return atomic_load(&m->over);
}

int move_end(struct move *m, bool success)
{
	int r = 0;

	for (int i = 0; i < PATIENCE_MS / STEP_MS && !move_over(m); i++)
		sleep_ms(STEP_MS);
	/* A call that hangs cannot be taken back; the process is about to end anyway. */
	if (!move_over(m))
		return fail("the migration does not end");
	pthread_join(m->thread, NULL);
	if (m->success != success)
		r = success ? fail("the migration failed: %s", m->error) : fail("the migration succeeded; it was meant to fail");
	move_free(m);
	return r;
}

virDomainPtr domain_on(struct drive *d, enum side side, const char *guest)
{
	virDomainPtr domain = virDomainLookupByName(d->conn[side], guest);

	if (!domain)
		fail("%s is not on the %s", guest, side == SRC ? "source" : "destination");
	return domain;
}

int expect_state(struct drive *d, enum side side, const char *guest, int state)
{
	virDomainPtr domain = domain_on(d, side, guest);
	int is = VIR_DOMAIN_NOSTATE, reason = 0;

	if (!domain)
		return -1;
	for (int i = 0; i < 5000 / STEP_MS && is != state; i++) {
		if (virDomainGetState(domain, &is, &reason, 0) < 0)
			break;
		if (is != state)
			sleep_ms(STEP_MS);
	}
	virDomainFree(domain);
	if (is == state)
		return 0;
	return fail("%s is in state %d (reason %d) on the %s; expected %d", guest, is, reason,
		    side == SRC ? "source" : "destination", state);
}

static int call_on_source(struct drive *d, const char *guest, int (*call)(virDomainPtr), const char *what)
{
	virDomainPtr domain = domain_on(d, SRC, guest);
	int r;

	if (!domain)
		return -1;
	r = call(domain);
	virDomainFree(domain);
	return r == 0 ? 0 : fail("could not %s %s: %s", what, guest, virGetLastErrorMessage());
}

int suspend(struct drive *d, const char *guest)
{
	return call_on_source(d, guest, virDomainSuspend, "suspend");
}

int resume(struct drive *d, const char *guest)
{
	return call_on_source(d, guest, virDomainResume, "resume");
}

int abort_job(struct drive *d, const char *guest)
{
	return call_on_source(d, guest, virDomainAbortJob, "abort the job of");
}

int signal_qemu(struct drive *d, enum side side, const char *guest, int number)
{
	char path[256];
	long pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/run/qemu/%s.pid", d->rig, side == SRC ? "src" : "dst", guest);
	file = fopen(path, "re");
	if (!file)
		return fail("%s: %s", path, strerror(errno));
	if (fscanf(file, "%ld", &pid) != 1)
		pid = 0;
	fclose(file);
	if (pid <= 1 || kill((pid_t) pid, number) < 0)
		return fail("could not send signal %d to the QEMU of %s (pid %ld)", number, guest, pid);
	return 0;
}
