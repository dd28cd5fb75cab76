/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Every recording of a real libvirt and QEMU ends in the state, with the outcome, the marks and the notes that its fixture
 * must have. What a recording cannot hold (the look at /proc, the pidfd) is tested in tests/libvirt. */

#include <string.h>

#include "core/phases.h"
#include "replay.h"

struct expected {
	const char *file;
	const char *name;          /* domain */
	enum side side;
	enum operation operation;
	enum mig_state state;
	enum outcome outcome;
	enum cause cause;
	const char *marks;
	const char *notes;
};

#define GUEST "guest1"

static const struct expected table[] = {
	/* both ends of success */
	{ "success-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "T0 Ts T1 Te", "" },
	{ "success-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "Te D0 D1", "" },
	{ "success-p2p-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "T0 Ts T1 Te", "" },
	{ "success-p2p-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "Te D0 D1", "" },
	{ "success-moved-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "T0 Ts T1 Te", "" },
	{ "success-moved-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "Te D0 D1", "" },
	{ "storage-copy-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "T0 Ts T1 Te", "" },
	{ "storage-copy-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "Te D0 D1", "" },
	/* aborted while the disk is copied: QEMU on the source never hears of a migration, and memory was not touched */
	{ "storage-abort-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_EXITED, "D0 D2", "" },
	/* rollbacks with a pause; RESUMED/MIGRATED (F1, F2) and RESUMED/UNPAUSED (F3) */
	{ "F1-direct-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T1 T2 T3", "" },
	{ "F1-direct-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "F1-p2p-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T1 T2 T3", "" },
	{ "F1-p2p-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "F2-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_FAILED, CAUSE_FINISH_FAILED, "T0 Ts T1 T2 T3", "" },
	{ "F2-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_EXITED, "D0 D1 D2", "" },
	{ "F3-cut-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED, "T0 Ts T1 T2 T3", "" },
	{ "F3-cut-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "F3-kill-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED, "T0 Ts T1 T2 T3", "" },
	{ "F3-kill-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_EXITED, "D0 D1 D2", "" },
	/* without one */
	{ "F4-abort-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T2 Te", "" },
	{ "F4-abort-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "F4-abort-p2p-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T2 Te", "" },
	{ "F4-abort-p2p-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "F4-kill-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_FAILED, CAUSE_QEMU_FAILED, "T0 T2 Te", "" },
	{ "F4-kill-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_EXITED, "D0 D1 D2", "" },
	/* nobody asks for the job of a paused guest, so only libvirt's status file could tell that this was a migration */
	{ "paused-abort-src", GUEST, SIDE_SOURCE, OP_UNKNOWN, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T2 Te", "paused-before" },
	{ "paused-abort-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "twice-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T2 Te", "" },
	{ "twice-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T1 T2 T3", "" },
	{ "twice-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_GONE, OUTCOME_FAILED, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "twice-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "two-at-once-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T1 T2 T3", "" },
	{ "two-at-once-src", "guest2", SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_CANCELLED, CAUSE_CANCEL, "T0 T1 T2 T3", "" },
	{ "two-at-once-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	{ "two-at-once-dst", "guest2", SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_FAILED, "D0 D1 D2", "" },
	/* libvirtd restarted: its successor aborts the migration while nobody hears QEMU */
	{ "restart-paused-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_FAILED, CAUSE_JOB_ENDED, "T0 T1 T2 T3", "connection-lost" },
	{ "restart-paused-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_EXITED, "D0 D1 D2", "" },
	{ "restart-precopy-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_RESUMED, OUTCOME_FAILED, CAUSE_NOT_WATCHED, "T0 Te", "connection-lost" },
	{ "restart-precopy-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_FAILED, OUTCOME_NONE, CAUSE_QEMU_EXITED, "D0 D1 D2", "" },
	/* no migrations, though QEMU calls them so */
	{ "save-src", GUEST, SIDE_SOURCE, OP_SAVE, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "T0 Te", "" },
	{ "save-src", GUEST, SIDE_DESTINATION, OP_RESTORE, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "Te D0 D1", "" },
	{ "managedsave-src", GUEST, SIDE_SOURCE, OP_SAVE, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "T0 Te", "" },
	{ "managedsave-src", GUEST, SIDE_DESTINATION, OP_RESTORE, MIG_COMPLETED, OUTCOME_COMPLETED, CAUSE_NONE, "Te D0 D1", "" },
	{ "dump-live-src", GUEST, SIDE_SOURCE, OP_DUMP, MIG_STAYED, OUTCOME_STAYED, CAUSE_NONE, "T0 Ts T1 T3", "" },
	{ "snapshot-memory-src", GUEST, SIDE_SOURCE, OP_SNAPSHOT, MIG_STAYED, OUTCOME_STAYED, CAUSE_NONE, "T0 Ts T1 T3", "" },
	/* post-copy */
	{ "postcopy-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_COMPLETED, OUTCOME_POSTCOPY, CAUSE_NONE, "T0 Ts T1 Te", "" },
	{ "postcopy-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_COMPLETED, OUTCOME_POSTCOPY, CAUSE_NONE, "Te D0 D1", "" },
	{ "postcopy-recover-src", GUEST, SIDE_SOURCE, OP_MIGRATION, MIG_COMPLETED, OUTCOME_POSTCOPY_RECOVERED, CAUSE_NONE, "T0 Ts T1 Te", "" },
	{ "postcopy-recover-dst", GUEST, SIDE_DESTINATION, OP_MIGRATION, MIG_COMPLETED, OUTCOME_POSTCOPY_RECOVERED, CAUSE_NONE, "Te D0 D1", "" },
};

static char *data_dir;

static char *marks_of(const struct report *r)
{
	GString *s = g_string_new(NULL);

	for (int i = 0; i < MARK_MAX; i++)
		if (mark_is_set(&r->marks[i]))
			g_string_append_printf(s, "%s%s", s->len ? " " : "", mark_to_string((enum mark_id) i));
	return g_string_free(s, FALSE);
}

static char *notes_of(const struct report *r)
{
	GString *s = g_string_new(NULL);

	for (int i = 0; i < NOTE_MAX; i++)
		if (report_has_note(r, (enum note) i))
			g_string_append_printf(s, "%s%s", s->len ? " " : "", note_to_string((enum note) i));
	return g_string_free(s, FALSE);
}

static const char *uuid_of(GArray *recording, const char *name)
{
	for (guint i = 0; i < recording->len; i++)
		if (strcmp(g_array_index(recording, struct recorded, i).name, name) == 0)
			return g_array_index(recording, struct recorded, i).uuid;
	g_error("no domain %s in the recording", name);
}

/* Which of the reports of this file and domain is meant: the table has them in order. */
static guint index_of(const struct expected *e)
{
	guint n = 0;

	for (const struct expected *f = table; f < e; f++)
		n += strcmp(f->file, e->file) == 0 && strcmp(f->name, e->name) == 0;
	return n;
}

static guint count_of(const struct expected *e)
{
	guint n = 0;

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		n += strcmp(table[i].file, e->file) == 0 && strcmp(table[i].name, e->name) == 0;
	return n;
}

static void check_phases(const struct report *r)
{
	struct phases p;
	uint64_t sum = 0;

	phases_compute(r, &p);
	for (unsigned i = 0; i < p.n; i++)
		sum += p.phase[i].known ? p.phase[i].usec : 0;
	g_assert_cmpuint(sum, ==, p.total_usec);
	if (p.total_known)
		g_assert_cmpuint(p.total_usec, ==, r->marks[p.last].at / 1000 - r->marks[p.first].at / 1000);
}

static void test_recording(const void *data)
{
	const struct expected *e = data;
	g_autofree char *path = g_strdup_printf("%s/%s.jsonl", data_dir, e->file);
	g_autoptr(GArray) recording = recording_load(path);
	g_autoptr(GArray) reports = recording_play(recording, uuid_of(recording, e->name));
	g_autofree char *marks = NULL, *notes = NULL;
	const struct report *r;

	g_assert_cmpuint(reports->len, ==, count_of(e));
	r = &g_array_index(reports, struct report, index_of(e));
	marks = marks_of(r);
	notes = notes_of(r);
	g_assert_cmpstr(side_to_string(r->side), ==, side_to_string(e->side));
	g_assert_cmpstr(operation_to_string(r->operation), ==, operation_to_string(e->operation));
	g_assert_cmpstr(mig_state_to_string(r->state), ==, mig_state_to_string(e->state));
	g_assert_cmpstr(outcome_to_string(r->outcome), ==, outcome_to_string(e->outcome));
	g_assert_cmpstr(cause_to_string(r->cause), ==, cause_to_string(e->cause));
	g_assert_cmpstr(marks, ==, e->marks);
	g_assert_cmpstr(notes, ==, e->notes);
	g_assert_cmpuint(r->events_unknown, ==, 0);
	g_assert_cmpuint(r->events_out_of_order, ==, 0);
	g_assert_cmpuint(r->marks_clamped, ==, 0);
	check_phases(r);
}

/* Marks carry QEMU's own stamps to the microsecond, not the time of arrival. */
static void test_stamps(void)
{
	g_autofree char *path = g_strdup_printf("%s/F1-direct-src.jsonl", data_dir);
	g_autoptr(GArray) recording = recording_load(path);
	g_autoptr(GArray) reports = recording_play(recording, NULL);
	const struct report *r = &g_array_index(reports, struct report, 0);

	for (guint i = 0; i < recording->len; i++) {
		const struct recorded *e = &g_array_index(recording, struct recorded, i);
		const struct mark *k = &r->marks[e->ev.kind == EVENT_QMP_STOP ? MARK_T1 : MARK_T3];

		if (e->ev.kind != EVENT_QMP_STOP && e->ev.kind != EVENT_QMP_RESUME)
			continue;
		g_assert_cmpint(k->source, ==, STAMP_QMP);
		g_assert_cmpint(report_real_usec(r, k->at), ==, e->seconds * 1000000 + e->micros);
	}
}

/* No recording lies about without a line in the table. */
static void test_all_are_expected(void)
{
	g_autoptr(GDir) d = g_dir_open(data_dir, 0, NULL);
	const char *file;

	g_assert_nonnull(d);
	while ((file = g_dir_read_name(d))) {
		g_autofree char *path = g_strdup_printf("%s/%s", data_dir, file);
		bool found = false;

		if (!g_str_has_suffix(file, ".jsonl"))
			continue;
		for (size_t i = 0; i < G_N_ELEMENTS(table) && !found; i++)
			found = strncmp(file, table[i].file, strlen(file) - 6) == 0 && strlen(table[i].file) == strlen(file) - 6;
		if (!found) {
			g_autoptr(GArray) recording = recording_load(path);
			g_autoptr(GArray) reports = recording_play(recording, NULL);

			/* The other side of a save, and the source of a copy that never came to memory, see nothing. */
			if (reports->len > 0)
				g_error("%s has no line in test-replay's table", file);
		}
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_assert_cmpint(argc, ==, 2);
	data_dir = argv[1];
	for (size_t i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *name = g_strdup_printf("/replay/%s/%s/%u", table[i].file, table[i].name, index_of(&table[i]) + 1);

		g_test_add_data_func(name, &table[i], test_recording);
	}
	g_test_add_func("/replay/marks carry QEMU's stamps", test_stamps);
	g_test_add_func("/replay/every recording is expected", test_all_are_expected);
	return g_test_run();
}
