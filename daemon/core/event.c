/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "core/event.h"

static const char *const qmp_status_table[QMP_STATUS_MAX] = {
	[QMP_NONE] = "none",
	[QMP_SETUP] = "setup",
	[QMP_CANCELLING] = "cancelling",
	[QMP_CANCELLED] = "cancelled",
	[QMP_ACTIVE] = "active",
	[QMP_POSTCOPY_DEVICE] = "postcopy-device",
	[QMP_POSTCOPY_ACTIVE] = "postcopy-active",
	[QMP_POSTCOPY_PAUSED] = "postcopy-paused",
	[QMP_POSTCOPY_RECOVER_SETUP] = "postcopy-recover-setup",
	[QMP_POSTCOPY_RECOVER] = "postcopy-recover",
	[QMP_COMPLETED] = "completed",
	[QMP_FAILED] = "failed",
	[QMP_FAILING] = "failing",
	[QMP_COLO] = "colo",
	[QMP_PRE_SWITCHOVER] = "pre-switchover",
	[QMP_DEVICE] = "device",
	[QMP_WAIT_UNPLUG] = "wait-unplug",
};
STRING_TABLE_DEFINE(qmp_status, enum qmp_status, qmp_status_table);

static const char *const lifecycle_words[LIFECYCLE_MAX] = {
	"DEFINED", "UNDEFINED", "STARTED", "SUSPENDED", "RESUMED", "STOPPED", "SHUTDOWN", "PMSUSPENDED", "CRASHED",
};

#define DETAILS_MAX 10
static const char *const detail_words[LIFECYCLE_MAX][DETAILS_MAX] = {
	[LIFECYCLE_DEFINED] = { "ADDED", "UPDATED", "RENAMED", "FROM_SNAPSHOT" },
	[LIFECYCLE_UNDEFINED] = { "REMOVED", "RENAMED" },
	[LIFECYCLE_STARTED] = { "BOOTED", "MIGRATED", "RESTORED", "FROM_SNAPSHOT", "WAKEUP" },
	[LIFECYCLE_SUSPENDED] = { "PAUSED", "MIGRATED", "IOERROR", "WATCHDOG", "RESTORED", "FROM_SNAPSHOT", "API_ERROR",
				  "POSTCOPY", "POSTCOPY_FAILED" },
	[LIFECYCLE_RESUMED] = { "UNPAUSED", "MIGRATED", "FROM_SNAPSHOT", "POSTCOPY", "POSTCOPY_FAILED" },
	[LIFECYCLE_STOPPED] = { "SHUTDOWN", "DESTROYED", "CRASHED", "MIGRATED", "SAVED", "FAILED", "FROM_SNAPSHOT" },
};

void context_init(struct context *c)
{
	*c = (struct context) { .side = SIDE_UNKNOWN, .job_elapsed = NSEC_INVALID };
}

struct event event_at_arrival(enum event_kind kind, enum stamp_source source, nsec_t arrival, nsec_t real_offset)
{
	return (struct event) {
		.kind = kind,
		.at = arrival,
		.arrival = arrival,
		.resolution = NSEC_PER_MSEC,
		.source = source,
		.stamp_usec = -1,
		.real_offset = real_offset,
	};
}

static void describe_lifecycle(int event, int detail, char *ret_, size_t size)
{
	const char *word = NULL;

	if (event < 0 || event >= LIFECYCLE_MAX) {
		snprintf(ret_, size, "lifecycle %d/%d", event, detail);
		return;
	}
	if (detail >= 0 && detail < DETAILS_MAX)
		word = detail_words[event][detail];
	if (word)
		snprintf(ret_, size, "%s/%s", lifecycle_words[event], word);
	else
		snprintf(ret_, size, "%s/%d", lifecycle_words[event], detail);
}

void event_describe(const struct event *ev, char *ret_, size_t size)
{
	static const char *const fixed[EVENT_KIND_MAX] = {
		[EVENT_QMP_STOP] = "STOP",
		[EVENT_QMP_RESUME] = "RESUME",
		[EVENT_QMP_UNKNOWN] = "MIGRATION ?",
		[EVENT_JOB_COMPLETED] = "JOB_COMPLETED",
		[EVENT_CONTEXT] = "looked",
		[EVENT_CONNECTION_LOST] = "connection lost",
		[EVENT_CONNECTION_UP] = "connection up",
		[EVENT_MISSING] = "not listed",
		[EVENT_PROCESS_EXITED] = "QEMU exited",
		[EVENT_POOL_BACK] = "hugepages back",
		[EVENT_POOL_UNKNOWN] = "hugepages unknown",
		[EVENT_TIMEOUT] = "deadline",
	};
	const char *status;

	switch (ev->kind) {
	case EVENT_QMP_MIGRATION:
		status = qmp_status_to_string(ev->status);
		snprintf(ret_, size, "MIGRATION %s", status ? status : "?");
		return;
	case EVENT_QMP_PASS:
		snprintf(ret_, size, "PASS %u", ev->iteration);
		return;
	case EVENT_ITERATION:
		snprintf(ret_, size, "iteration %u", ev->iteration);
		return;
	case EVENT_LIFECYCLE:
		describe_lifecycle(ev->lifecycle.event, ev->lifecycle.detail, ret_, size);
		return;
	case EVENT_QMP_STOP:
	case EVENT_QMP_RESUME:
	case EVENT_QMP_UNKNOWN:
	case EVENT_JOB_COMPLETED:
	case EVENT_CONTEXT:
	case EVENT_CONNECTION_LOST:
	case EVENT_CONNECTION_UP:
	case EVENT_MISSING:
	case EVENT_PROCESS_EXITED:
	case EVENT_POOL_BACK:
	case EVENT_POOL_UNKNOWN:
	case EVENT_TIMEOUT:
		snprintf(ret_, size, "%s", fixed[ev->kind]);
		return;
	case EVENT_KIND_MAX:
		break;
	}
	snprintf(ret_, size, "?");
}
