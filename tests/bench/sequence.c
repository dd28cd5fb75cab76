/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/replay.h"
#include "sequence.h"
#include "shared.h"

static const char *const names[] = { "F1-direct", "F1-p2p", "F3-cut", "F3-kill", "F4-abort", "F4-abort-p2p", "F4-kill" };

/* The event whose arrival completes the report: the shortest beginning of the recording that yields one. */
static guint find_last(GArray *recording)
{
	for (guint n = 1; n <= recording->len; n++) {
		g_autoptr(GArray) part = g_array_sized_new(FALSE, FALSE, sizeof(struct recorded), n);
		g_autoptr(GArray) reports = NULL;

		g_array_append_vals(part, recording->data, n);
		reports = recording_play(part, NULL);
		if (reports->len > 0 && g_array_index(reports, struct report, 0).outcome != OUTCOME_NONE)
			return n - 1;
	}
	return G_MAXUINT;
}

static bool is_fed(const struct recorded *r)
{
	return !r->listed && r->uuid[0];
}

static bool fill(struct sequence *s, GArray *recording)
{
	guint last = find_last(recording);
	nsec_t end;

	if (last == G_MAXUINT)
		return false;
	end = g_array_index(recording, struct recorded, last).ev.arrival;
	for (guint i = 0; i < recording->len; i++) {
		const struct recorded *r = &g_array_index(recording, struct recorded, i);

		if (!is_fed(r))
			continue;
		if (s->n == STEPS_MAX)
			return false;
		if (i == last)
			s->last = s->n;
		s->step[s->n++] = (struct step) {
			.offset = (int64_t) (r->ev.arrival - end), .is_qmp = r->is_qmp, .ev = r->ev, .context = r->context,
		};
	}
	return s->n > 0;
}

static int load_all(const char *folder, struct sequences *all)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		struct sequence *s = &all->sequence[i];
		g_autofree char *path = g_strdup_printf("%s/%s-src.jsonl", folder, names[i]);
		g_autoptr(GArray) recording = recording_load(path);

		g_strlcpy(s->name, names[i], sizeof(s->name));
		if (!fill(s, recording)) {
			fprintf(stderr, "bench: %s: no rollback of at most %d events\n", path, STEPS_MAX);
			return 1;
		}
	}
	all->n = G_N_ELEMENTS(names);
	return 0;
}

const struct sequences *sequences_load(const char *folder)
{
	struct sequences *all = shared_new(sizeof(*all));
	int status = -1;
	pid_t pid;

	pid = fork();
	if (pid == 0)
		_exit(load_all(folder, all));
	if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0) {
		fprintf(stderr, "bench: the recordings in %s could not be loaded\n", folder);
		return NULL;
	}
	return all;
}
