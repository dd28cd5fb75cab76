/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "doctor.h"
#include "text.h"

static void look_at_lockdown(struct doctor *d)
{
	static const char lost[] = "tracing is closed, even to root: no figure for when each vCPU ran again";
	static const char remedy[] = "boot with lockdown=integrity or less";
	_cleanup_free_ char *text = doctor_read(DOCTOR_SMALL, d->sys, "kernel/security/lockdown");
	int error = errno; /* of the reading */
	_cleanup_free_ char *level = text ? doctor_chosen(text) : NULL;

	if (!text && error == ENOENT && doctor_exists(d->sys, "kernel/security/lsm"))
		doctor_add(d, "lockdown", DOCTOR_OK, 0, "kernel lockdown", lost, NULL, "not in this kernel");
	else if (!text && error == ENOENT)
		doctor_add(d, "lockdown", DOCTOR_UNKNOWN, 0, "kernel lockdown", lost, "mount -t securityfs securityfs /sys/kernel/security, and ask again",
			   "securityfs is not mounted: cannot be read");
	else if (!text)
		doctor_add(d, "lockdown", DOCTOR_UNKNOWN, 0, "kernel lockdown", lost, "run this as root, on the host itself", "cannot be read: %s",
			   strerror(error));
	else if (!level)
		doctor_add(d, "lockdown", DOCTOR_UNKNOWN, 0, "kernel lockdown", lost,
			   "see that [confidentiality] is not what /sys/kernel/security/lockdown has chosen", "cannot be read: unknown format");
	else if (strcmp(level, "confidentiality") == 0)
		doctor_add(d, "lockdown", DOCTOR_MISSING, 0, "kernel lockdown", lost, remedy, "confidentiality");
	else
		doctor_add(d, "lockdown", DOCTOR_OK, 0, "kernel lockdown", lost, remedy, "%s", level);
}

static void look_at_selinux(struct doctor *d)
{
	static const char lost[] = "pidfd_getfd is refused: the KVM extension cannot be told which VM is meant";
	_cleanup_free_ char *enforce = doctor_read(DOCTOR_SMALL, d->sys, "fs/selinux/enforce");
	_cleanup_free_ char *deny = doctor_read(DOCTOR_SMALL, d->sys, "fs/selinux/booleans/deny_ptrace");

	if (!enforce)
		doctor_add(d, "selinux", DOCTOR_OK, 0, "SELinux", lost, NULL, "not enabled");
	else if (deny && *deny == '1' && *enforce == '1')
		doctor_add(d, "selinux", DOCTOR_MISSING, 0, "SELinux", lost, "setsebool -P deny_ptrace off", "enforcing, with deny_ptrace on");
	else
		doctor_add(d, "selinux", DOCTOR_OK, 0, "SELinux", lost, NULL, "%s", *enforce == '1' ? "enforcing, deny_ptrace is off" : "permissive");
}

static void look_at_apparmor(struct doctor *d)
{
	static const char lost[] = "a profile can take rights from the service that it seems to have here";
	_cleanup_free_ char *enabled = doctor_read(DOCTOR_SMALL, d->sys, "module/apparmor/parameters/enabled");
	_cleanup_free_ char *mine = doctor_read(DOCTOR_SMALL, d->proc, "self/attr/apparmor/current"), *safe = NULL;

	if (!enabled || *enabled != 'Y') {
		doctor_add(d, "apparmor", DOCTOR_OK, 0, "AppArmor", lost, NULL, "not enabled");
		return;
	}
	safe = text_safe(mine ? mine : "not known");
	doctor_add(d, "apparmor", DOCTOR_OK, 0, "AppArmor", lost, NULL, "enabled; this process is confined by: %s", safe);
}

void doctor_security(struct doctor *d)
{
	look_at_lockdown(d);
	look_at_selinux(d);
	look_at_apparmor(d);
}
