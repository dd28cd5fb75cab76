/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_REPORT_H
#define ROLLBACKD_CORE_REPORT_H

/* A report is the whole truth about one migration as one side of it saw it: a plain value of fixed size, no pointers,
 * owned by whoever holds it and copied by assignment. The state machine (core/migration.h) fills it, core/phases.h
 * computes what follows from the marks, the store and the bus render it. */

#include <stdbool.h>
#include <stdint.h>

#include "core/mark.h"
#include "core/table.h"
#include "core/time.h"

#define REPORT_ID_LEN        16  /* lowercase hex digits */
#define REPORT_NAME_MAX      128 /* bytes kept of a domain's name, cut at a UTF-8 boundary */
#define REPORT_URI_MAX       128
#define REPORT_UUID_LEN      36
#define REPORT_TIMELINE_MAX  96  /* events kept in order; what comes later is counted, not kept */
#define REPORT_PAGES_MAX     8   /* page sizes behind one guest */

enum side { SIDE_SOURCE, SIDE_DESTINATION, SIDE_UNKNOWN, SIDE_MAX, SIDE_INVALID = -1 };
STRING_TABLE_DECLARE(side, enum side); /* "source" "destination" "unknown" */

/* What libvirt's job was: QMP's MIGRATION events come from all of these. */
enum operation {
	OP_UNKNOWN, OP_MIGRATION, OP_SAVE, OP_DUMP, OP_SNAPSHOT, OP_RESTORE, OP_MAX, OP_INVALID = -1,
};
STRING_TABLE_DECLARE(operation, enum operation); /* "unknown" "migration" "save" "dump" "snapshot" "restore" */

enum driver { DRIVER_UNKNOWN, DRIVER_DIRECT, DRIVER_P2P, DRIVER_MAX, DRIVER_INVALID = -1 };
STRING_TABLE_DECLARE(driver, enum driver); /* "unknown" "direct" "p2p" */

/* States of one migration: see core/migration.c for the transitions. */
enum mig_state {
	MIG_SETUP,               /* QEMU said setup */
	MIG_PRECOPY,             /* memory is being copied, guest runs (or was suspended meanwhile) */
	MIG_SWITCHOVER,          /* guest stopped for the switchover */
	MIG_HANDOVER,            /* QEMU is done; whether the guest goes or stays is not known yet */
	MIG_CANCELLING,          /* cancel known, QEMU still winding down */
	MIG_FAILED,              /* failure known, guest not running again yet */
	MIG_CANCELLED,           /* cancel done, guest not running again yet */
	MIG_POSTCOPY,
	MIG_POSTCOPY_PAUSED,     /* post-copy lost its connection */
	MIG_POSTCOPY_RECOVERING,
	MIG_RESUMED,             /* ended: guest goes on here (with or without a pause) */
	MIG_COMPLETED,           /* ended: guest lives at the destination (or, on the destination, here) */
	MIG_STAYED,              /* ended: QEMU completed, guest still here (save, dump, snapshot) */
	MIG_LEFT_PAUSED,         /* ended: guest still paused, no job */
	MIG_GONE,                /* ended: QEMU ended meanwhile */
	MIG_LOST,                /* ended: lost track of */
	MIG_STATE_MAX,
	MIG_STATE_INVALID = -1,
};
STRING_TABLE_DECLARE(mig_state, enum mig_state); /* "setup" "precopy" ... lower case with '-' */

static inline bool mig_state_is_end(enum mig_state s)
{
	return s >= MIG_RESUMED;
}

enum outcome {
	OUTCOME_NONE,              /* still under way */
	OUTCOME_COMPLETED,
	OUTCOME_POSTCOPY,          /* completed by way of post-copy */
	OUTCOME_POSTCOPY_RECOVERED,/* the same, after at least one lost connection */
	OUTCOME_FAILED,
	OUTCOME_CANCELLED,
	OUTCOME_SETUP_FAILED,      /* failed before dirty logging: nothing was split */
	OUTCOME_STAYED,            /* "completed but still here" */
	OUTCOME_LEFT_PAUSED,
	OUTCOME_POSTCOPY_FAILED,   /* lost connection and never recovered */
	OUTCOME_GUEST_GONE,
	OUTCOME_LOST,
	OUTCOME_MAX,
	OUTCOME_INVALID = -1,
};
STRING_TABLE_DECLARE(outcome, enum outcome);

/* What ended it, as far as anybody told. */
enum cause {
	CAUSE_NONE,
	CAUSE_CANCEL,          /* somebody aborted the job */
	CAUSE_QEMU_FAILED,     /* QEMU reported failed: connection, device state, destination died */
	CAUSE_FINISH_FAILED,   /* QEMU completed, the destination could not start the guest */
	CAUSE_JOB_ENDED,       /* the job ended and nobody told why (QMP refused, or not watched) */
	CAUSE_CLIENT_VANISHED, /* job gone, guest left paused */
	CAUSE_QEMU_EXITED,
	CAUSE_NOT_WATCHED,     /* the end fell into a gap of watching */
	CAUSE_HOST_REBOOTED,
	CAUSE_SUPERSEDED,      /* the next migration began before this one was seen to end */
	CAUSE_MAX,
	CAUSE_INVALID = -1,
};
STRING_TABLE_DECLARE(cause, enum cause);

/* What the reader must know before he trusts the figures. Each has a text for people. */
enum note {
	NOTE_JOINED_LATE,        /* watching began after the migration did */
	NOTE_DAEMON_RESTARTED,   /* taken over from an earlier rollbackd process */
	NOTE_CONNECTION_LOST,    /* libvirt was out of reach meanwhile */
	NOTE_QMP_REFUSED,        /* no QMP events: arrival times of libvirt events only */
	NOTE_CLOCK_STEPPED,      /* wall clock stepped during the migration */
	NOTE_STAMPS_REJECTED,    /* QEMU stamps missing, later than arrival or going backwards */
	NOTE_MARKS_CLAMPED,
	NOTE_OUT_OF_ORDER,       /* events in an order this version does not know */
	NOTE_DOMAIN_UNDEFINED,
	NOTE_DOMAIN_RENAMED,
	NOTE_PAUSED_BEFORE,      /* the owner had paused the guest */
	NOTE_TIMELINE_CUT,
	NOTE_BASELINE_CONTAMINATED, /* began within the recovery of an earlier rollback */
	NOTE_STORAGE_COPY,
	NOTE_QEMU_BROKE_OFF,     /* the monitor or QEMU went away meanwhile */
	NOTE_MAX,
	NOTE_INVALID = -1,
};
STRING_TABLE_DECLARE(note, enum note);      /* "joined-late" ... */
const char *note_text(enum note n);         /* one sentence; NULL out of range */

enum page_kind { PAGE_BASE, PAGE_THP, PAGE_HUGETLB, PAGE_KIND_MAX, PAGE_KIND_INVALID = -1 };
STRING_TABLE_DECLARE(page_kind, enum page_kind); /* "base" "thp" "hugetlb" */

/* What the running process maps, by page size: sizes are data, never constants. */
struct backing {
	unsigned n;                       /* 0: unknown, .reason says why */
	struct {
		enum page_kind kind;
		uint64_t page_size;       /* bytes */
		uint64_t bytes;
	} pages[REPORT_PAGES_MAX];
	int32_t pid;                      /* 0: not found */
	char reason[96];                  /* "" or why it is unknown or partial */
};

/* One line of the timeline: what came, in order of arrival. */
struct timeline_entry {
	nsec_t at;                /* CLOCK_MONOTONIC of the stamp used */
	nsec_t arrival;
	int64_t stamp_usec;       /* QEMU's own stamp, CLOCK_REALTIME us; -1 none */
	enum stamp_source source;
	char what[40];            /* "MIGRATION setup", "STOP", "RESUMED/MIGRATED", "iteration 3" */
};

/* One interval between two marks. */
enum phase_id {
	PHASE_JOB,            /* Tb-T0: before logging (storage copy) */
	PHASE_PRECOPY,        /* T0 - first of T1, Ts, T2, end */
	PHASE_PAUSED_PRECOPY, /* T1-Ts: suspended before the switchover */
	PHASE_SWITCHOVER,     /* Ts-T2 (or - end) */
	PHASE_POSTCOPY,       /* Ts-Te: the guest lives at the destination meanwhile */
	PHASE_ABORT,          /* T2-T3, or T2-Te without a pause */
	PHASE_RESUME,         /* T3-T4 */
	PHASE_RECOVER,        /* T4-T5 */
	PHASE_INCOMING,       /* D0-D1 */
	PHASE_RECEIVE,        /* D1-D2 or - end */
	PHASE_CLEANUP,        /* D2-D3 */
	PHASE_POOL,           /* D3-D4 */
	PHASE_MAX,
	PHASE_INVALID = -1,
};
/* "job" "precopy" "paused-precopy" "switchover" "postcopy" "abort" "resume" "recover" "incoming" "receive" "cleanup" "pool" */
STRING_TABLE_DECLARE(phase, enum phase_id);

struct report {
	char id[REPORT_ID_LEN + 1];
	char uuid[REPORT_UUID_LEN + 1];
	char name[REPORT_NAME_MAX];
	char uri[REPORT_URI_MAX];
	char boot_id[REPORT_UUID_LEN + 1];
	char kernel[65];
	char arch[33];
	uint64_t page_size;               /* of the host kernel, bytes */
	uint32_t qemu_version;            /* major*1000000 + minor*1000 + micro; 0 unknown */
	uint32_t libvirt_version;         /* likewise */

	enum side side;
	enum operation operation;
	enum driver driver;
	enum mig_state state;
	enum outcome outcome;
	enum cause cause;
	bool paused;                      /* the migration stopped the guest here */
	uint32_t notes;                   /* 1 << enum note */

	struct mark marks[MARK_MAX];
	nsec_t real_offset;               /* CLOCK_REALTIME - CLOCK_MONOTONIC at the begin: turns marks into dates. Modulo 2^64. */

	uint32_t iterations;
	uint32_t events, events_unknown, events_out_of_order, marks_clamped;
	uint32_t stamps_qmp, stamps_arrival, stamps_rejected;

	uint32_t vcpus;                   /* 0 unknown */
	uint64_t memory_bytes;            /* 0 unknown */
	struct backing backing;
	char backend[16];                 /* "none" so far */
	char backend_reason[96];

	uint32_t timeline_n, timeline_dropped;
	struct timeline_entry timeline[REPORT_TIMELINE_MAX];
};

/* Everything missing, everything unknown. */
void report_init(struct report *r);

/* "id" becomes REPORT_ID_LEN hex digits of 64 random bits that the caller drew. */
void report_set_id(struct report *r, uint64_t random_bits);
bool report_id_is_valid(const char *id);
bool report_uuid_is_valid(const char *uuid); /* 8-4-4-4-12, lower-case hex */

/* Copies at most size-1 bytes, cut at a UTF-8 character boundary; always terminated. */
void report_copy_text(char *to, size_t size, const char *from);

void report_note(struct report *r, enum note n);
bool report_has_note(const struct report *r, enum note n);

/* The wall-clock date of a monotonic moment of this report, us since the epoch. */
int64_t report_real_usec(const struct report *r, nsec_t at);

#endif
