/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_MARK_H
#define ROLLBACKD_CORE_MARK_H

#include <stdbool.h>

#include "core/table.h"
#include "core/time.h"

/* A mark is one moment of a migration, with where the time came from and how exact that is. docs/measuring.md has the
 * meaning of each; the order of the enum is the order in which they should come. */
enum mark_id {
	MARK_TB, /* libvirt's job began (storage copy may come first) */
	MARK_T0, /* migration began: dirty logging is enabled here */
	MARK_TS, /* switchover began */
	MARK_T1, /* guest stopped (before TS when it was suspended in pre-copy) */
	MARK_T2, /* failure or cancel known */
	MARK_T3, /* resume ordered */
	MARK_TE, /* migration over here */
	MARK_T4, /* every vCPU has run guest code again */
	MARK_T5, /* recovered: nothing left split */
	MARK_D0, /* destination: prepared */
	MARK_D1, /* destination: incoming active */
	MARK_D2, /* destination: failed */
	MARK_D3, /* destination: QEMU gone */
	MARK_D4, /* destination: hugepages back in the pool */
	MARK_MAX,
	MARK_INVALID = -1,
};
STRING_TABLE_DECLARE(mark, enum mark_id); /* "Tb" "T0" ... */

/* Where a time came from, best first. */
enum stamp_source {
	STAMP_NONE,
	STAMP_QMP,       /* QEMU's own stamp, converted from wall clock; resolution 1 us */
	STAMP_ARRIVAL,   /* QMP event, time of arrival here: late by libvirt's queue (seen: 3 to 26 ms, 28 s when libvirtd was blocked) */
	STAMP_LIFECYCLE, /* lifecycle or iteration event, time of arrival */
	STAMP_JOB,       /* libvirt's job statistics; resolution 1 ms */
	STAMP_KERNEL,    /* pidfd, sysfs: time of observation */
	STAMP_INFERRED,  /* set equal to another mark, or to the moment we began to look */
	STAMP_MAX,
	STAMP_INVALID = -1,
};
STRING_TABLE_DECLARE(stamp_source, enum stamp_source); /* "none" "qmp" "arrival" "lifecycle" "job" "kernel" "inferred" */

enum mark_flags {
	MARK_CLAMPED     = 1 << 0, /* came after its successor and was moved back to it */
	MARK_LATE        = 1 << 1, /* observed or inferred: the true moment is the same or earlier */
	MARK_LOWER_BOUND = 1 << 2, /* what is computed from it is a lower bound */
};

/* Why a mark has no time. */
enum missing {
	MISSING_NOT_SEEN,       /* nothing told it (default) */
	MISSING_NOT_MEASURED,   /* this version does not measure it */
	MISSING_NOT_APPLICABLE, /* cannot exist: no pause, other side, post-copy, ... */
	MISSING_PAUSED_BEFORE,  /* the owner had paused the guest before the migration */
	MISSING_JOINED_LATE,    /* lies before we began to look */
	MISSING_QMP_REFUSED,    /* only QMP events tell it and libvirt did not give them */
	MISSING_POOL_TAKEN,     /* the hugepage pool did not fill again in time: others take from it */
	MISSING_MAX,
	MISSING_INVALID = -1,
};
STRING_TABLE_DECLARE(missing, enum missing); /* "not-seen" "not-measured" "not-applicable" "paused-before" "joined-late" "qmp-refused" "pool-taken" */

struct mark {
	nsec_t at;         /* CLOCK_MONOTONIC; NSEC_INVALID: missing, then .missing says why */
	nsec_t resolution; /* of the source */
	enum stamp_source source;
	enum missing missing;
	unsigned flags;    /* enum mark_flags */
};

static inline bool mark_is_set(const struct mark *m)
{
	return m->at != NSEC_INVALID;
}

#endif
