/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "words.h"

struct word {
	const char *code, *text;
};

static const char *look_up(const struct word *table, size_t n, const char *code, const char *otherwise)
{
	for (size_t i = 0; code && i < n; i++)
		if (strcmp(table[i].code, code) == 0)
			return table[i].text;
	return otherwise;
}

#define LOOK_UP(table, code, otherwise) look_up(table, sizeof(table) / sizeof((table)[0]), code, otherwise)

const char *const words_outcomes[] = {
	"completed", "postcopy", "postcopy-recovered", "failed", "cancelled", "setup-failed", "completed-but-here", "left-paused",
	"postcopy-failed", "guest-gone", "lost", "live", NULL,
};

const char *const words_sides[] = { "source", "destination", "unknown", NULL };

bool words_contain(const char *const *words, const char *word)
{
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

const char *words_operation(const char *operation)
{
	static const struct word table[] = {
		{ "migration", "live migration" },
		{ "save", "save to a file" },
		{ "dump", "memory dump" },
		{ "snapshot", "live snapshot" },
		{ "restore", "restore from a file" },
		{ "unknown", "job of an unknown kind" },
	};

	return LOOK_UP(table, operation, operation);
}

static const char *destination_outcome(const char *outcome)
{
	static const struct word table[] = {
		{ "completed", "completed: the guest lives here now" },
		{ "failed", "failed: the guest did not come" },
		{ "cancelled", "cancelled: the guest did not come" },
		{ "setup-failed", "failed in setup: the guest did not come" },
	};

	return LOOK_UP(table, outcome, NULL);
}

const char *words_outcome(const char *outcome, const char *side)
{
	static const struct word table[] = {
		{ "none", "still under way" },
		{ "completed", "completed: the guest lives at the destination" },
		{ "postcopy", "completed by way of post-copy" },
		{ "postcopy-recovered", "completed by way of post-copy, after a lost connection" },
		{ "failed", "rolled back: it failed" },
		{ "cancelled", "rolled back: it was cancelled" },
		{ "setup-failed", "failed in setup: memory was never copied, nothing was split" },
		{ "completed-but-here", "completed, and the guest is still here" },
		{ "left-paused", "failed, and the guest was left paused with no job" },
		{ "postcopy-failed", "post-copy lost its connection and never recovered" },
		{ "guest-gone", "the guest ended meanwhile" },
		{ "lost", "lost track of" },
	};

	if (strcmp(side, "destination") == 0 && destination_outcome(outcome))
		return destination_outcome(outcome);
	return LOOK_UP(table, outcome, outcome);
}

enum style words_outcome_style(const char *outcome)
{
	static const char *const good[] = { "completed", "postcopy", "postcopy-recovered", "completed-but-here", NULL };
	static const char *const bad[] = { "left-paused", "postcopy-failed", "guest-gone", "lost", NULL };

	if (words_contain(good, outcome))
		return STYLE_GOOD;
	return words_contain(bad, outcome) ? STYLE_BAD : STYLE_WARN;
}

const char *words_cause(const char *cause)
{
	static const struct word table[] = {
		{ "none", NULL },
		{ "cancel", "somebody aborted the job" },
		{ "qemu-failed", "QEMU reported a failure" },
		{ "finish-failed", "QEMU was done, but the destination could not start the guest" },
		{ "job-ended", "the job ended and nobody told why" },
		{ "client-vanished", "the client that drove the migration went away" },
		{ "qemu-exited", "QEMU exited" },
		{ "not-watched", "the end fell into a gap of watching" },
		{ "host-rebooted", "the host was rebooted" },
		{ "superseded", "the next migration began before this one was seen to end" },
	};

	return LOOK_UP(table, cause, cause && *cause ? cause : NULL);
}

const char *words_state(const char *state)
{
	static const struct word table[] = {
		{ "setup", "setting up" },
		{ "precopy", "copying memory, the guest runs" },
		{ "switchover", "guest stopped for the switchover" },
		{ "handover", "QEMU is done; whether the guest goes or stays is not known yet" },
		{ "cancelling", "being cancelled" },
		{ "failed", "failure known, the guest does not run yet" },
		{ "cancelled", "cancel done, the guest does not run yet" },
		{ "postcopy", "post-copy: the guest runs at the destination" },
		{ "postcopy-paused", "post-copy lost its connection" },
		{ "postcopy-recovering", "post-copy is being recovered" },
		{ "resumed", "the guest goes on here" },
		{ "completed", "the guest lives at the destination" },
		{ "stayed", "QEMU is done, the guest is still here" },
		{ "left-paused", "the guest is still paused, with no job" },
		{ "gone", "QEMU ended" },
		{ "lost", "lost track of" },
	};

	return LOOK_UP(table, state, state);
}

const char *words_state_in_phase(const char *state, const char *phase)
{
	static const struct {
		const char *state, *phase, *text;
	} table[] = {
		{ "setup", "paused-precopy", "setting up, the guest is stopped" },
		{ "precopy", "paused-precopy", "copying memory, the guest is stopped" },
		{ "setup", "incoming", "waiting for memory" },
		{ "precopy", "incoming", "waiting for memory" },
		{ "setup", "receive", "memory comes in" },
		{ "precopy", "receive", "memory comes in" },
		{ "failed", "cleanup", "failure known, QEMU ends here" },
		{ "failed", "pool", "QEMU is gone, its hugepages come back" },
		{ "cancelling", "cleanup", "cancelled, QEMU ends here" },
		{ "cancelling", "pool", "QEMU is gone, its hugepages come back" },
		{ "cancelled", "cleanup", "cancelled, QEMU ends here" },
		{ "cancelled", "pool", "QEMU is gone, its hugepages come back" },
	};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (strcmp(table[i].state, state) == 0 && strcmp(table[i].phase, phase) == 0)
			return table[i].text;
	return words_state(state);
}

const char *words_missing(const char *reason)
{
	static const struct word table[] = {
		{ "not-seen", "nothing told it" },
		{ "not-measured", "not measured by this version" },
		{ "not-applicable", "does not apply here" },
		{ "paused-before", "the owner had paused the guest before" },
		{ "joined-late", "before watching began" },
		{ "pool-taken", "the pool did not fill again in time: others take from it" },
		{ "qmp-refused", "only QMP events tell it, and libvirt gave none" },
	};

	return LOOK_UP(table, reason, reason && *reason ? reason : "no reason given");
}

const char *words_mark(const char *mark)
{
	static const struct word table[] = {
		{ "Tb", "job began" },
		{ "T0", "migration began" },
		{ "Ts", "switchover began" },
		{ "T1", "guest stopped" },
		{ "T2", "rollback known" },
		{ "T3", "resume ordered" },
		{ "Te", "over here" },
		{ "T4", "vCPUs run again" },
		{ "T5", "recovered" },
		{ "D0", "prepared" },
		{ "D1", "incoming active" },
		{ "D2", "failed" },
		{ "D3", "QEMU gone" },
		{ "D4", "hugepages back" },
	};

	return LOOK_UP(table, mark, "");
}

const char *words_phase(const char *phase)
{
	static const struct word table[] = {
		{ "job", "before memory" },
		{ "precopy", "memory is copied" },
		{ "paused-precopy", "suspended meanwhile" },
		{ "switchover", "guest stopped" },
		{ "postcopy", "guest at the destination" },
		{ "abort", "winding down" },
		{ "resume", "until vCPUs run" },
		{ "recover", "until blocks are back" },
		{ "incoming", "waiting for memory" },
		{ "receive", "memory comes in" },
		{ "cleanup", "QEMU ends" },
		{ "pool", "hugepages come back" },
	};

	return LOOK_UP(table, phase, "");
}

const char *words_source(const char *source)
{
	static const struct word table[] = {
		{ "qmp", "QEMU" },
		{ "arrival", "QMP arrival" },
		{ "lifecycle", "libvirt" },
		{ "job", "libvirt job" },
		{ "kernel", "kernel" },
		{ "inferred", "inferred" },
	};

	return LOOK_UP(table, source, source ? source : "");
}
