/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>

#include "core/report.h"

static const char *const side_table[SIDE_MAX] = {
	[SIDE_SOURCE] = "source", [SIDE_DESTINATION] = "destination", [SIDE_UNKNOWN] = "unknown",
};
STRING_TABLE_DEFINE(side, enum side, side_table);

static const char *const operation_table[OP_MAX] = {
	[OP_UNKNOWN] = "unknown", [OP_MIGRATION] = "migration", [OP_SAVE] = "save",
	[OP_DUMP] = "dump", [OP_SNAPSHOT] = "snapshot", [OP_RESTORE] = "restore",
};
STRING_TABLE_DEFINE(operation, enum operation, operation_table);

static const char *const driver_table[DRIVER_MAX] = {
	[DRIVER_UNKNOWN] = "unknown", [DRIVER_DIRECT] = "direct", [DRIVER_P2P] = "p2p",
};
STRING_TABLE_DEFINE(driver, enum driver, driver_table);

static const char *const mig_state_table[MIG_STATE_MAX] = {
	[MIG_SETUP] = "setup",
	[MIG_PRECOPY] = "precopy",
	[MIG_SWITCHOVER] = "switchover",
	[MIG_HANDOVER] = "handover",
	[MIG_CANCELLING] = "cancelling",
	[MIG_FAILED] = "failed",
	[MIG_CANCELLED] = "cancelled",
	[MIG_POSTCOPY] = "postcopy",
	[MIG_POSTCOPY_PAUSED] = "postcopy-paused",
	[MIG_POSTCOPY_RECOVERING] = "postcopy-recovering",
	[MIG_RESUMED] = "resumed",
	[MIG_COMPLETED] = "completed",
	[MIG_STAYED] = "stayed",
	[MIG_LEFT_PAUSED] = "left-paused",
	[MIG_GONE] = "gone",
	[MIG_LOST] = "lost",
};
STRING_TABLE_DEFINE(mig_state, enum mig_state, mig_state_table);

static const char *const outcome_table[OUTCOME_MAX] = {
	[OUTCOME_NONE] = "none",
	[OUTCOME_COMPLETED] = "completed",
	[OUTCOME_POSTCOPY] = "postcopy",
	[OUTCOME_POSTCOPY_RECOVERED] = "postcopy-recovered",
	[OUTCOME_FAILED] = "failed",
	[OUTCOME_CANCELLED] = "cancelled",
	[OUTCOME_SETUP_FAILED] = "setup-failed",
	[OUTCOME_STAYED] = "completed-but-here",
	[OUTCOME_LEFT_PAUSED] = "left-paused",
	[OUTCOME_POSTCOPY_FAILED] = "postcopy-failed",
	[OUTCOME_GUEST_GONE] = "guest-gone",
	[OUTCOME_LOST] = "lost",
};
STRING_TABLE_DEFINE(outcome, enum outcome, outcome_table);

static const char *const cause_table[CAUSE_MAX] = {
	[CAUSE_NONE] = "none",
	[CAUSE_CANCEL] = "cancel",
	[CAUSE_QEMU_FAILED] = "qemu-failed",
	[CAUSE_FINISH_FAILED] = "finish-failed",
	[CAUSE_JOB_ENDED] = "job-ended",
	[CAUSE_CLIENT_VANISHED] = "client-vanished",
	[CAUSE_QEMU_EXITED] = "qemu-exited",
	[CAUSE_NOT_WATCHED] = "not-watched",
	[CAUSE_HOST_REBOOTED] = "host-rebooted",
	[CAUSE_SUPERSEDED] = "superseded",
};
STRING_TABLE_DEFINE(cause, enum cause, cause_table);

static const struct {
	const char *code, *text;
} note_words[NOTE_MAX] = {
	[NOTE_JOINED_LATE] = { "joined-late", "Watching began after the migration did." },
	[NOTE_DAEMON_RESTARTED] = { "daemon-restarted", "rollbackd was restarted meanwhile; what happened in between was not seen." },
	[NOTE_CONNECTION_LOST] = { "connection-lost", "The connection to libvirt was lost meanwhile; what happened in between was not seen." },
	[NOTE_QMP_REFUSED] = { "qmp-refused", "libvirt gave no QMP events: times are those of arrival, and a cancel in pre-copy is seen late." },
	[NOTE_CLOCK_STEPPED] = { "clock-stepped", "The wall clock stepped during the migration." },
	[NOTE_STAMPS_REJECTED] = { "stamps-rejected", "Some of QEMU's time stamps were missing or impossible; arrival times were used instead." },
	[NOTE_MARKS_CLAMPED] = { "marks-clamped", "Some marks came after their successor and were moved back to it." },
	[NOTE_OUT_OF_ORDER] = { "out-of-order", "Events came in an order that this version does not know." },
	[NOTE_DOMAIN_UNDEFINED] = { "domain-undefined", "The domain was undefined meanwhile." },
	[NOTE_DOMAIN_RENAMED] = { "domain-renamed", "The domain was renamed meanwhile." },
	[NOTE_PAUSED_BEFORE] = { "paused-before", "The owner had paused the guest before the migration; it stays paused." },
	[NOTE_TIMELINE_CUT] = { "timeline-cut", "There were more events than the report keeps." },
	[NOTE_BASELINE_CONTAMINATED] = { "baseline-contaminated", "The migration began while the guest was recovering from an earlier rollback." },
	[NOTE_STORAGE_COPY] = { "storage-copy", "Storage was copied before memory." },
	[NOTE_QEMU_BROKE_OFF] = { "qemu-broke-off", "QEMU or its monitor went away meanwhile." },
};

const char *note_to_string(enum note n)
{
	return (size_t) n < NOTE_MAX ? note_words[n].code : NULL;
}

enum note note_from_string(const char *word)
{
	for (int i = 0; word && i < NOTE_MAX; i++)
		if (strcmp(note_words[i].code, word) == 0)
			return (enum note) i;
	return NOTE_INVALID;
}

const char *note_text(enum note n)
{
	return (size_t) n < NOTE_MAX ? note_words[n].text : NULL;
}

static const char *const page_kind_table[PAGE_KIND_MAX] = {
	[PAGE_BASE] = "base", [PAGE_THP] = "thp", [PAGE_HUGETLB] = "hugetlb",
};
STRING_TABLE_DEFINE(page_kind, enum page_kind, page_kind_table);

static const char *const phase_table[PHASE_MAX] = {
	[PHASE_JOB] = "job",
	[PHASE_PRECOPY] = "precopy",
	[PHASE_PAUSED_PRECOPY] = "paused-precopy",
	[PHASE_SWITCHOVER] = "switchover",
	[PHASE_POSTCOPY] = "postcopy",
	[PHASE_ABORT] = "abort",
	[PHASE_RESUME] = "resume",
	[PHASE_RECOVER] = "recover",
	[PHASE_INCOMING] = "incoming",
	[PHASE_RECEIVE] = "receive",
	[PHASE_CLEANUP] = "cleanup",
	[PHASE_POOL] = "pool",
};
STRING_TABLE_DEFINE(phase, enum phase_id, phase_table);

void report_init(struct report *r)
{
	*r = (struct report) { .side = SIDE_UNKNOWN };
	for (int i = 0; i < MARK_MAX; i++)
		r->marks[i] = (struct mark) { .at = NSEC_INVALID };
	r->marks[MARK_T4].missing = MISSING_NOT_MEASURED;
	r->marks[MARK_T5].missing = MISSING_NOT_MEASURED;
}

void report_set_id(struct report *r, uint64_t random_bits)
{
	snprintf(r->id, sizeof(r->id), "%016llx", (unsigned long long) random_bits);
}

static bool is_lower_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

bool report_id_is_valid(const char *id)
{
	size_t n = 0;

	while (is_lower_hex(id[n]))
		n++;
	return n == REPORT_ID_LEN && !id[n];
}

bool report_uuid_is_valid(const char *uuid)
{
	for (int i = 0; i < REPORT_UUID_LEN; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? uuid[i] != '-' : !is_lower_hex(uuid[i]))
			return false;
	}
	return !uuid[REPORT_UUID_LEN];
}

void report_copy_text(char *to, size_t size, const char *from)
{
	size_t n = strlen(from);

	if (n >= size) {
		n = size - 1;
		while (n > 0 && ((unsigned char) from[n] & 0xc0) == 0x80)
			n--;
	}
	memcpy(to, from, n);
	to[n] = '\0';
}

void report_note(struct report *r, enum note n)
{
	r->notes |= 1u << n;
}

bool report_has_note(const struct report *r, enum note n)
{
	return r->notes & (1u << n);
}

int64_t report_real_usec(const struct report *r, nsec_t at)
{
	return (int64_t) ((at + r->real_offset) / NSEC_PER_USEC);
}
