/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Prints what core makes of recordings, one line a report: for people, and to write test-replay's table by hand from. */

#include <stdio.h>
#include <string.h>

#include "core/phases.h"
#include "replay.h"

static void print_report(const char *file, const struct report *r)
{
	struct phases p;
	struct report copy = *r;

	phases_clamp(&copy);
	phases_compute(&copy, &p);
	printf("%-24s %-11s %-9s %-11s %-12s %-13s paused=%d", file, side_to_string(r->side), operation_to_string(r->operation),
	       mig_state_to_string(r->state), outcome_to_string(r->outcome), cause_to_string(r->cause), r->paused);
	for (int i = 0; i < MARK_MAX; i++)
		if (mark_is_set(&r->marks[i]))
			printf(" %s", mark_to_string((enum mark_id) i));
	printf(" |");
	for (unsigned i = 0; i < p.n; i++)
		if (p.phase[i].known)
			printf(" %s=%.3f", phase_to_string(p.phase[i].id), (double) p.phase[i].usec / 1e6);
	printf(" total=%.3f blackout=%.3f |", (double) p.total_usec / 1e6, p.blackout_known ? (double) p.blackout_usec / 1e6 : -1.0);
	for (int i = 0; i < NOTE_MAX; i++)
		if (report_has_note(r, (enum note) i))
			printf(" %s", note_to_string((enum note) i));
	printf(" u=%u o=%u c=%u\n", r->events_unknown, r->events_out_of_order, r->marks_clamped);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const char *name = strrchr(argv[i], '/');
		GArray *recording = recording_load(argv[i]);
		GHashTable *uuids = g_hash_table_new(g_str_hash, g_str_equal);
		GHashTableIter it;
		gpointer uuid;

		for (guint k = 0; k < recording->len; k++) {
			struct recorded *r = &g_array_index(recording, struct recorded, k);

			if (r->uuid[0])
				g_hash_table_add(uuids, r->uuid);
		}
		g_hash_table_iter_init(&it, uuids);
		while (g_hash_table_iter_next(&it, &uuid, NULL)) {
			GArray *reports = recording_play(recording, uuid);

			for (guint k = 0; k < reports->len; k++)
				print_report(name ? name + 1 : argv[i], &g_array_index(reports, struct report, k));
			g_array_unref(reports);
		}
		g_hash_table_unref(uuids);
		g_array_unref(recording);
	}
	return 0;
}
