/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The source's libvirtd goes away and comes back while a migration is on; QEMU never stops. */

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include <libvirt/virterror.h>

#include "drive.h"

#define SLOW_MIB_S 4

extern char **environ;

/* "rig restart DIRECTORY src SIGNAL", by the path that the caller named. */
static int restart_source(struct drive *d, const char *signal_name)
{
	char command[] = "restart", side[] = "src", signal[8], path[512], rig[256];
	char *const argv[] = { path, command, rig, side, signal, NULL };
	int status, r;
	pid_t pid;

	if (!d->rig_command)
		return fail("this fixture needs --rig-command, to restart a libvirtd with");
	snprintf(path, sizeof(path), "%s", d->rig_command);
	snprintf(rig, sizeof(rig), "%s", d->rig);
	snprintf(signal, sizeof(signal), "%s", signal_name);
	r = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	if (r != 0)
		return fail("%s: %s", path, strerror(r));
	if (waitpid(pid, &status, 0) < 0 || status != 0)
		return fail("the source's libvirtd could not be restarted");
	return connect_side(d, SRC);
}

/* Whatever libvirt decided, the job is over and the guest is whole. */
static int settle(struct drive *d, size_t from)
{
	virDomainPtr domain = domain_on(d, SRC, "guest1");
	virDomainJobInfo job = { .type = VIR_DOMAIN_JOB_UNBOUNDED };

	(void) from;
	if (!domain)
		return -1;
	for (int i = 0; i < 200 && job.type != VIR_DOMAIN_JOB_NONE; i++) {
		sleep_ms(50);
		if (virDomainGetJobInfo(domain, &job) < 0)
			job.type = VIR_DOMAIN_JOB_NONE;
	}
	virDomainFree(domain);
	return expect_state(d, SRC, "guest1", VIR_DOMAIN_RUNNING);
}

static int restart_precopy(struct drive *d)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .p2p = true, .mib_s = SLOW_MIB_S });

	if (!m || expect(from, "src guest1 iteration 1") < 0)
		return -1;
	sleep_ms(d->pause_ms);
	if (restart_source(d, "TERM") < 0 || move_end(m, false) < 0)
		return -1;
	return settle(d, from);
}

static int restart_paused(struct drive *d)
{
	size_t from = watch_now();
	struct move *m = move_begin(d, "guest1", &(struct move_options) { .p2p = true, .mib_s = SLOW_MIB_S });

	if (!m || expect(from, "src guest1 iteration 1") < 0 || suspend(d, "guest1") < 0 ||
	    expect(from, "src guest1 SUSPENDED/MIGRATED") < 0)
		return -1;
	sleep_ms(d->pause_ms);
	if (restart_source(d, "KILL") < 0 || move_end(m, false) < 0)
		return -1;
	return settle(d, from);
}

const struct fixture restart_fixtures[] = {
	{ "restart-precopy", restart_precopy, "The source's libvirtd is restarted in pre-copy of a migration from daemon to daemon." },
	{ "restart-paused", restart_paused, "The source's libvirtd is killed and started again while a migrating guest is suspended." },
	{ 0 },
};
