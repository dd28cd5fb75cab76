/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Migrations, and the ways in which one fails. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "drive-xml.h"
#include "drive.h"

/* Slow enough that no test guest is ever done within a fixture's patience. */
#define SLOW_MIB_S 4
/* The relay's pace where a switchover must last long enough to be interrupted. */
#define RELAY_BYTES_S (40 << 20)
/* More than any switchover takes: QEMU then goes on to it at once, with a lot left to send. */
#define LONG_DOWNTIME_MS 60000

static int run_success(struct drive *d, bool p2p, unsigned int flags)
{
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .p2p = p2p, .flags = flags });

	if (!m || move_end(m, true) < 0)
		return -1;
	return expect_state(d, DST, "guest1", VIR_DOMAIN_RUNNING);
}

static int success(struct drive *d)
{
	return run_success(d, false, 0);
}

static int success_p2p(struct drive *d)
{
	return run_success(d, true, 0);
}

static int success_moved(struct drive *d)
{
	return run_success(d, true, VIR_MIGRATE_UNDEFINE_SOURCE | VIR_MIGRATE_PERSIST_DEST);
}

/* An abort can come too late for QEMU: what it calls failed was not cancelled. */
static int expect_cancelled(size_t from)
{
	if (watch_seen(from, "src guest1 MIGRATION failed"))
		return fail("QEMU says that the migration failed; an abort must cancel it");
	return expect(from, "src guest1 MIGRATION cancelled");
}

/* F1: the guest is suspended in the middle of pre-copy, and the job aborted while it is. */
static int run_f1(struct drive *d, bool p2p)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .p2p = p2p, .mib_s = SLOW_MIB_S });

	if (!m || expect(from, "src guest1 iteration 1") < 0 || suspend(d, "guest1") < 0 || expect(from, "src guest1 STOP") < 0)
		return -1;
	sleep_ms(d->pause_ms);
	if (abort_job(d, "guest1") < 0 || move_end(m, false) < 0 || expect_cancelled(from) < 0 || expect(from, "src guest1 RESUME") < 0)
		return -1;
	return expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

static int f1_direct(struct drive *d)
{
	return run_f1(d, false);
}

static int f1_p2p(struct drive *d)
{
	return run_f1(d, true);
}

/* Say to other QEMUs that somebody writes to this image and shares it with nobody: the bytes are QEMU's. */
static int lock_image(const char *path)
{
	static const off_t bytes[] = { 101, 201 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return fail("%s: %s", path, strerror(errno));
	for (size_t i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		struct flock lock = { .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = bytes[i], .l_len = 1 };

		if (fcntl(fd, F_OFD_SETLK, &lock) < 0) {
			close(fd);
			return fail("%s cannot be locked: %s", path, strerror(errno));
		}
	}
	return fd;
}

char *xml_with_other_disk(struct drive *d, const char *guest)
{
	virDomainPtr domain = domain_on(d, SRC, guest);
	char *xml = domain ? virDomainGetXMLDesc(domain, VIR_DOMAIN_XML_SECURE | VIR_DOMAIN_XML_MIGRATABLE) : NULL;
	char *other = NULL, *at = xml ? strstr(xml, ".raw'") : NULL;

	if (domain)
		virDomainFree(domain);
	if (!at || asprintf(&other, "%.*s-other%s", (int) (at - xml), xml, at) < 0) {
		fail("the disk of %s was not found in its XML", guest);
		other = NULL;
	}
	free(xml);
	return other;
}

/* F2: everything is sent, and then the destination cannot take its disk: libvirt's Finish fails. */
static int f2(struct drive *d)
{
	size_t from = watch_now();
	char path[256], *xml = xml_with_other_disk(d, "guest1");
	struct move *m;
	int lock, r = -1;

	snprintf(path, sizeof(path), "%s/guest1-other.raw", d->rig);
	lock = xml ? lock_image(path) : -1;
	if (lock < 0) {
		free(xml);
		return -1;
	}
	m = move_begin(d, "guest1", &(struct move_options) { .dest_xml = xml });
	if (m && move_end(m, false) == 0 && expect(from, "src guest1 RESUME") == 0)
		r = expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
	close(lock);
	free(xml);
	return r;
}

/* As far as a switchover that has a lot to send, through a slow relay. */
static struct move *reach_switchover(struct drive *d, size_t from)
{
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .relay = true });
	virDomainPtr domain;

	if (!m || expect(from, "src guest1 MIGRATION active") < 0)
		return NULL;
	domain = domain_on(d, SRC, "guest1");
	if (!domain)
		return NULL;
	if (virDomainMigrateSetMaxDowntime(domain, LONG_DOWNTIME_MS, 0) < 0) {
		fail("the longest downtime could not be set");
		m = NULL;
	}
	virDomainFree(domain);
	return m && expect(from, "src guest1 STOP") == 0 ? m : NULL;
}

/* F3: the stream stalls in the switchover, then breaks. */
static int f3_cut(struct drive *d)
{
	struct relay *relay = relay_new(d->relay_port);
	size_t from = watch_now();
	struct move *m;
	int r = -1;

	if (!relay)
		return fail("no relay on port %u: %s", d->relay_port, strerror(errno));
	relay_limit(relay, RELAY_BYTES_S);
	m = reach_switchover(d, from);
	if (m) {
		relay_stall(relay, true);
		sleep_ms(d->pause_ms);
		relay_cut(relay);
		if (move_end(m, false) == 0 && expect(from, "src guest1 RESUME") == 0)
			r = expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
	}
	relay_free(relay);
	return r;
}

/* F3: the destination's QEMU stands still in the switchover, then dies. */
static int f3_kill(struct drive *d)
{
	struct relay *relay = relay_new(d->relay_port);
	size_t from = watch_now();
	struct move *m;
	int r = -1;

	if (!relay)
		return fail("no relay on port %u: %s", d->relay_port, strerror(errno));
	relay_limit(relay, RELAY_BYTES_S);
	m = reach_switchover(d, from);
	if (m && signal_qemu(d, DST, "guest1", SIGSTOP) == 0) {
		sleep_ms(d->pause_ms);
		if (signal_qemu(d, DST, "guest1", SIGKILL) == 0 && move_end(m, false) == 0 && expect(from, "src guest1 RESUME") == 0)
			r = expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
	}
	relay_free(relay);
	return r;
}

/* F4: cancelled while pages are still being copied; the guest never stops. */
static int run_f4_abort(struct drive *d, bool p2p)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .p2p = p2p, .mib_s = SLOW_MIB_S });

	if (!m || expect(from, "src guest1 iteration 1") < 0)
		return -1;
	sleep_ms(d->pause_ms);
	if (abort_job(d, "guest1") < 0 || move_end(m, false) < 0 || expect_cancelled(from) < 0)
		return -1;
	if (watch_seen(from, "src guest1 STOP"))
		return fail("the guest was stopped; a cancel in pre-copy must not do that");
	return expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

static int f4_abort(struct drive *d)
{
	return run_f4_abort(d, false);
}

static int f4_abort_p2p(struct drive *d)
{
	return run_f4_abort(d, true);
}

static int f4_kill(struct drive *d)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .mib_s = SLOW_MIB_S });

	if (!m || expect(from, "src guest1 iteration 1") < 0)
		return -1;
	sleep_ms(d->pause_ms);
	if (signal_qemu(d, DST, "guest1", SIGKILL) < 0 || move_end(m, false) < 0)
		return -1;
	return expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

/* A guest that its owner had paused stays paused, whatever becomes of the migration. */
static int paused_abort(struct drive *d)
{
	size_t from = watch_now();
	struct move *m;

	if (suspend(d, "guest1") < 0 || expect(from, "src guest1 STOP") < 0)
		return -1;
	m = move_begin(d, "guest1", &(struct move_options) { .mib_s = SLOW_MIB_S });
	if (!m || expect(from, "src guest1 iteration 1") < 0)
		return -1;
	sleep_ms(d->pause_ms);
	if (abort_job(d, "guest1") < 0 || move_end(m, false) < 0)
		return -1;
	sleep_ms(300);
	if (watch_seen(from, "src guest1 RESUME"))
		return fail("the guest was resumed; its owner had paused it");
	return expect_state(d, SRC, "guest1", VIR_DOMAIN_PAUSED);
}

static int twice(struct drive *d)
{
	return run_f4_abort(d, false) < 0 ? -1 : run_f1(d, false);
}

static int two_at_once(struct drive *d)
{
	static const char *const guests[] = { "guest1", "guest2" };
	struct move *moves[2];
	size_t from = watch_now();

	for (int i = 0; i < 2; i++) {
		moves[i] = move_begin(d, guests[i], &(struct move_options) { .mib_s = SLOW_MIB_S });
		if (!moves[i])
			return -1;
	}
	if (expect(from, "src guest1 iteration 1") < 0 || expect(from, "src guest2 iteration 1") < 0)
		return -1;
	for (int i = 0; i < 2; i++)
		if (suspend(d, guests[i]) < 0)
			return -1;
	sleep_ms(d->pause_ms);
	for (int i = 0; i < 2; i++)
		if (abort_job(d, guests[i]) < 0)
			return -1;
	for (int i = 0; i < 2; i++)
		if (move_end(moves[i], false) < 0 || expect_state(d, SRC, guests[i], VIR_DOMAIN_RUNNING) < 0)
			return -1;
	return 0;
}

const struct fixture rollback_fixtures[] = {
	{ "success", success, "A migration that the client drives and that succeeds." },
	{ "success-p2p", success_p2p, "A migration from daemon to daemon that succeeds." },
	{ "success-moved", success_moved, "As success-p2p; the definition goes along, as clouds do it: undefined here, defined there." },
	{ "F1-direct", f1_direct, "Suspended by the operator in pre-copy, then aborted while paused; the client drives." },
	{ "F1-p2p", f1_p2p, "Suspended by the operator in pre-copy, then aborted while paused; daemon to daemon." },
	{ "F2", f2, "All is sent, but the destination cannot take the disk: libvirt's Finish fails and the source is resumed." },
	{ "F3-cut", f3_cut, "The stream stalls in the switchover and is then cut." },
	{ "F3-kill", f3_kill, "The destination's QEMU stands still in the switchover and is then killed." },
	{ "F4-abort", f4_abort, "Aborted in pre-copy; the guest never stops; the client drives." },
	{ "F4-abort-p2p", f4_abort_p2p, "Aborted in pre-copy; the guest never stops; daemon to daemon." },
	{ "F4-kill", f4_kill, "The destination's QEMU is killed in pre-copy; the guest never stops." },
	{ "paused-abort", paused_abort, "The owner had paused the guest before; the migration is aborted and the guest stays paused." },
	{ "twice", twice, "Two migrations in a row of one guest: the first aborted in pre-copy, the second suspended and aborted." },
	{ "two-at-once", two_at_once, "Two guests, each suspended in pre-copy and aborted, at the same time." },
	{ 0 },
};
