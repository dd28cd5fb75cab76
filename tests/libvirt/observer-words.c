/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include <stdio.h>

#include <libvirt/libvirt.h>

#include "observer-words.h"

#define MAX_DETAILS 10

static const char *const event_names[] = {
	[VIR_DOMAIN_EVENT_DEFINED] = "DEFINED",		[VIR_DOMAIN_EVENT_UNDEFINED] = "UNDEFINED",
	[VIR_DOMAIN_EVENT_STARTED] = "STARTED",		[VIR_DOMAIN_EVENT_SUSPENDED] = "SUSPENDED",
	[VIR_DOMAIN_EVENT_RESUMED] = "RESUMED",		[VIR_DOMAIN_EVENT_STOPPED] = "STOPPED",
	[VIR_DOMAIN_EVENT_SHUTDOWN] = "SHUTDOWN",	[VIR_DOMAIN_EVENT_PMSUSPENDED] = "PMSUSPENDED",
	[VIR_DOMAIN_EVENT_CRASHED] = "CRASHED",
};

#define N_EVENTS (sizeof(event_names) / sizeof(*event_names))

/* In the order of libvirt's enums. */
static const char *const detail_names[N_EVENTS][MAX_DETAILS] = {
	[VIR_DOMAIN_EVENT_DEFINED] = { "ADDED", "UPDATED", "RENAMED", "FROM_SNAPSHOT" },
	[VIR_DOMAIN_EVENT_UNDEFINED] = { "REMOVED", "RENAMED" },
	[VIR_DOMAIN_EVENT_STARTED] = { "BOOTED", "MIGRATED", "RESTORED", "FROM_SNAPSHOT", "WAKEUP" },
	[VIR_DOMAIN_EVENT_SUSPENDED] = { "PAUSED", "MIGRATED", "IOERROR", "WATCHDOG", "RESTORED", "FROM_SNAPSHOT", "API_ERROR",
					 "POSTCOPY", "POSTCOPY_FAILED" },
	[VIR_DOMAIN_EVENT_RESUMED] = { "UNPAUSED", "MIGRATED", "FROM_SNAPSHOT", "POSTCOPY", "POSTCOPY_FAILED" },
	[VIR_DOMAIN_EVENT_STOPPED] = { "SHUTDOWN", "DESTROYED", "CRASHED", "MIGRATED", "SAVED", "FAILED", "FROM_SNAPSHOT" },
	[VIR_DOMAIN_EVENT_SHUTDOWN] = { "FINISHED", "GUEST", "HOST" },
	[VIR_DOMAIN_EVENT_PMSUSPENDED] = { "MEMORY", "DISK" },
	[VIR_DOMAIN_EVENT_CRASHED] = { "PANICKED", "CRASHLOADED" },
};

void lifecycle_words(int event, int detail, char *text, size_t size)
{
	if (event < 0 || (size_t) event >= N_EVENTS)
		snprintf(text, size, "%d/%d", event, detail);
	else if (detail < 0 || detail >= MAX_DETAILS || !detail_names[event][detail])
		snprintf(text, size, "%s/%d", event_names[event], detail);
	else
		snprintf(text, size, "%s/%s", event_names[event], detail_names[event][detail]);
}

const char *version_words(unsigned long version, char *text, size_t size)
{
	snprintf(text, size, "%lu.%lu.%lu", version / 1000000, version / 1000 % 1000, version % 1000);
	return text;
}
