/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "alloc.h"
#include "doctor.h"

static const char trace_lost[] = "no figure for when each vCPU ran again (T4), nor for the guest's time lost to stage-2 faults";

/* Where tracefs is, below the /sys root; NULL when it is not mounted. */
static const char *tracing_path(const struct doctor *d)
{
	static const char *const places[] = { "kernel/tracing", "kernel/debug/tracing" };

	for (size_t i = 0; i < 2; i++) {
		_cleanup_free_ char *events = xprintf("%s/events", places[i]);

		if (doctor_exists(d->sys, events))
			return places[i];
	}
	return NULL;
}

static void look_at_triggers(struct doctor *d, const char *tracing)
{
	_cleanup_free_ char *readme = doctor_read(DOCTOR_SMALL, d->sys, "%s/README", tracing);
	_cleanup_free_ char *clocks = doctor_read(DOCTOR_SMALL, d->sys, "%s/trace_clock", tracing);
	_cleanup_free_ char *synthetic = xprintf("%s/synthetic_events", tracing);
	static const char remedy[] = "a kernel with CONFIG_HIST_TRIGGERS and CONFIG_SYNTH_EVENTS";

	if (!readme)
		doctor_add(d, "hist-triggers", DOCTOR_UNKNOWN, 0, "hist triggers", trace_lost, remedy, "README: %s", strerror(errno));
	else if (!strstr(readme, "hist:keys"))
		doctor_add(d, "hist-triggers", DOCTOR_MISSING, 0, "hist triggers", trace_lost, remedy, "not in this kernel");
	else if (!doctor_exists(d->sys, synthetic))
		doctor_add(d, "hist-triggers", DOCTOR_MISSING, 0, "hist triggers", trace_lost, remedy, "there, but no synthetic events");
	else if (!clocks || !(doctor_has_word(clocks, "mono") || doctor_has_word(clocks, "[mono]")))
		doctor_add(d, "hist-triggers", DOCTOR_MISSING, 0, "hist triggers", trace_lost, "a kernel with the trace clock mono", "no trace clock \"mono\"");
	else
		doctor_add(d, "hist-triggers", DOCTOR_OK, 0, "hist triggers", trace_lost, remedy, "there, with synthetic events and the clock mono");
}

static void look_at_points(struct doctor *d, const char *tracing)
{
	static const char remedy[] = "load the kvm module; a kernel with CONFIG_TRACEPOINTS";
	_cleanup_free_ char *entry = xprintf("%s/events/kvm/kvm_entry", tracing), *exits = xprintf("%s/events/kvm/kvm_exit", tracing);

	if (doctor_exists(d->sys, entry) && doctor_exists(d->sys, exits))
		doctor_add(d, "kvm-tracepoints", DOCTOR_OK, 0, "KVM tracepoints", trace_lost, remedy, "kvm_entry and kvm_exit");
	else
		doctor_add(d, "kvm-tracepoints", DOCTOR_MISSING, 0, "KVM tracepoints", trace_lost, remedy, "kvm_entry and kvm_exit are not there");
}

static void look_at_tracefs(struct doctor *d)
{
	static const char remedy[] = "mount -t tracefs tracefs /sys/kernel/tracing (systemd: sys-kernel-tracing.mount), as root";
	const char *tracing = tracing_path(d);
	_cleanup_free_ char *mounts = doctor_read(DOCTOR_SMALL, d->proc, "filesystems");

	if (tracing) {
		doctor_add(d, "tracefs", DOCTOR_OK, 0, "tracefs", trace_lost, remedy, "mounted");
		look_at_triggers(d, tracing);
		look_at_points(d, tracing);
		return;
	}
	if (mounts && !doctor_has_word(mounts, "tracefs"))
		doctor_add(d, "tracefs", DOCTOR_MISSING, 0, "tracefs", trace_lost, "a kernel with CONFIG_TRACING", "not in this kernel");
	else if (doctor_exists(d->sys, "kernel/tracing"))
		doctor_add(d, "tracefs", DOCTOR_MISSING, 0, "tracefs", trace_lost, remedy, "not mounted, or not for this user to look into");
	else
		doctor_add(d, "tracefs", DOCTOR_MISSING, 0, "tracefs", trace_lost, remedy, "not mounted");
	doctor_add(d, "hist-triggers", DOCTOR_UNKNOWN, 0, "hist triggers", trace_lost, NULL, "cannot be seen without tracefs");
	doctor_add(d, "kvm-tracepoints", DOCTOR_UNKNOWN, 0, "KVM tracepoints", trace_lost, NULL, "cannot be seen without tracefs");
}

/* Types of the mounted cgroup hierarchies, from /proc/self/mounts: source, place, type, ... */
static void count_cgroups(char *mounts, bool *ret_v1, bool *ret_v2)
{
	char *save = NULL;

	for (char *line = strtok_r(mounts, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char type[32] = "";

		if (sscanf(line, "%*s %*s %31s", type) != 1)
			continue;
		*ret_v1 |= strcmp(type, "cgroup") == 0;
		*ret_v2 |= strcmp(type, "cgroup2") == 0;
	}
}

static void look_at_cgroups(struct doctor *d)
{
	static const char lost[] = "table memory is known for the host as a whole only, not guest by guest";
	static const char remedy[] = "boot with systemd.unified_cgroup_hierarchy=1; let libvirt use the memory controller (cgroup_controllers in qemu.conf)";
	_cleanup_free_ char *mounts = doctor_read(1 << 20, d->proc, "self/mounts"), *controllers = NULL;
	bool v1 = false, v2 = false;

	if (!mounts) {
		doctor_add(d, "cgroup", DOCTOR_UNKNOWN, 0, "cgroups", lost, remedy, "mounts: %s", strerror(errno));
		return;
	}
	count_cgroups(mounts, &v1, &v2);
	controllers = doctor_read(DOCTOR_SMALL, d->sys, "fs/cgroup/cgroup.controllers");
	if (v2 && !v1 && controllers && doctor_has_word(controllers, "memory"))
		doctor_add(d, "cgroup", DOCTOR_OK, 0, "cgroups", lost, remedy, "version 2, with the memory controller");
	else if (v2 && !v1)
		doctor_add(d, "cgroup", DOCTOR_MISSING, 0, "cgroups", lost, "enable the memory controller (cgroup_enable=memory at boot)",
			   "version 2, without the memory controller");
	else
		doctor_add(d, "cgroup", DOCTOR_MISSING, 0, "cgroups", lost, remedy, "%s", v1 && v2 ? "hybrid: controllers are those of version 1" : v1 ? "version 1" : "not mounted");
}

void doctor_tracing(struct doctor *d)
{
	look_at_tracefs(d);
	look_at_cgroups(d);
}
