/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_EVENT_H
#define ROLLBACKD_CORE_EVENT_H

/* What the outside world tells about one domain, as plain values. host/ makes them out of libvirt and the kernel; the
 * tests make them out of recordings. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/mark.h"
#include "core/report.h"
#include "core/table.h"

enum event_kind {
	EVENT_QMP_MIGRATION,     /* .status */
	EVENT_QMP_PASS,          /* .iteration */
	EVENT_QMP_STOP,
	EVENT_QMP_RESUME,
	EVENT_QMP_UNKNOWN,       /* MIGRATION with a status, or without one, that this version does not know */
	EVENT_LIFECYCLE,         /* .lifecycle */
	EVENT_ITERATION,         /* .iteration */
	EVENT_JOB_COMPLETED,
	EVENT_CONTEXT,           /* .context: what a look at the domain found */
	EVENT_CONNECTION_LOST,
	EVENT_CONNECTION_UP,     /* .qmp: whether QMP events come */
	EVENT_MISSING,           /* libvirt no longer lists the domain */
	EVENT_PROCESS_EXITED,    /* the QEMU process ended */
	EVENT_POOL_BACK,         /* its hugepages are in the pool again */
	EVENT_POOL_UNKNOWN,      /* cannot be told */
	EVENT_TIMEOUT,           /* the deadline of struct migration has come */
	EVENT_KIND_MAX,
};

/* QEMU's MigrationStatus. */
enum qmp_status {
	QMP_NONE, QMP_SETUP, QMP_CANCELLING, QMP_CANCELLED, QMP_ACTIVE, QMP_POSTCOPY_DEVICE, QMP_POSTCOPY_ACTIVE, QMP_POSTCOPY_PAUSED,
	QMP_POSTCOPY_RECOVER_SETUP, QMP_POSTCOPY_RECOVER, QMP_COMPLETED, QMP_FAILED, QMP_FAILING, QMP_COLO,
	QMP_PRE_SWITCHOVER, QMP_DEVICE, QMP_WAIT_UNPLUG, QMP_STATUS_MAX, QMP_STATUS_INVALID = -1,
};
STRING_TABLE_DECLARE(qmp_status, enum qmp_status); /* QEMU's own words */

/* libvirt's virDomainEventType and its details: their numbers are ABI, host/libvirt-events.c asserts that they agree. */
enum lifecycle {
	LIFECYCLE_DEFINED, LIFECYCLE_UNDEFINED, LIFECYCLE_STARTED, LIFECYCLE_SUSPENDED, LIFECYCLE_RESUMED,
	LIFECYCLE_STOPPED, LIFECYCLE_SHUTDOWN, LIFECYCLE_PMSUSPENDED, LIFECYCLE_CRASHED, LIFECYCLE_MAX,
};
enum {
	DEFINED_RENAMED = 2,
	UNDEFINED_REMOVED = 0, UNDEFINED_RENAMED = 1,
	STARTED_BOOTED = 0, STARTED_MIGRATED = 1, STARTED_RESTORED = 2,
	SUSPENDED_PAUSED = 0, SUSPENDED_MIGRATED = 1, SUSPENDED_RESTORED = 4, SUSPENDED_FROM_SNAPSHOT = 5,
	SUSPENDED_POSTCOPY = 7, SUSPENDED_POSTCOPY_FAILED = 8,
	RESUMED_UNPAUSED = 0, RESUMED_MIGRATED = 1, RESUMED_FROM_SNAPSHOT = 2, RESUMED_POSTCOPY = 3,
	STOPPED_SHUTDOWN = 0, STOPPED_DESTROYED = 1, STOPPED_CRASHED = 2, STOPPED_MIGRATED = 3, STOPPED_SAVED = 4, STOPPED_FAILED = 5,
};

enum run_state { RUN_UNKNOWN, RUN_RUNNING, RUN_PAUSED, RUN_OFF };

/* Whether libvirt holds an asynchronous job on the domain. */
enum job_state { JOB_UNKNOWN, JOB_NONE, JOB_ACTIVE };

/* What a look at the domain found. Each part may be unknown. */
struct context {
	enum run_state run;
	bool paused_by_migration;   /* libvirt's reason for the pause */
	enum job_state job;
	enum operation operation;
	enum driver driver;
	enum side side;             /* as libvirt's job has it */
	bool incoming;              /* the process was started to receive a migration */
	bool storage_copy;
	nsec_t job_elapsed;         /* NSEC_INVALID unknown; resolution 1 ms */
	uint32_t vcpus;
	uint64_t memory_bytes;
	uint32_t qemu_version;
	struct backing backing;
};
void context_init(struct context *c);

struct event {
	enum event_kind kind;
	nsec_t at;                  /* the best stamp there is */
	nsec_t arrival;
	nsec_t resolution;
	enum stamp_source source;
	int64_t stamp_usec;         /* QEMU's, CLOCK_REALTIME; -1 none */
	nsec_t real_offset;         /* CLOCK_REALTIME - CLOCK_MONOTONIC at arrival, modulo 2^64 */
	bool stamp_rejected;
	bool clock_stepped;         /* since the event before */
	union {
		enum qmp_status status;
		uint32_t iteration;
		struct { int event, detail; } lifecycle; /* any number: libvirt may know more than we do */
		const struct context *context;           /* good during the call only */
		bool qmp;
	};
};

/* An event of a kind whose time is that of arrival. */
struct event event_at_arrival(enum event_kind kind, enum stamp_source source, nsec_t arrival, nsec_t real_offset);

/* For the timeline and for logs: "MIGRATION active", "SUSPENDED/MIGRATED", "PASS 3". Always terminated. */
void event_describe(const struct event *ev, char *ret_, size_t size);

#endif
