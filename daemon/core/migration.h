/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_MIGRATION_H
#define ROLLBACKD_CORE_MIGRATION_H

/* The life of one migration as one side sees it: events go in, the report fills up, effects come out. Pure: no clock, no
 * I/O; the session (daemon/session.c) does what the effects ask for. QMP drives, lifecycle confirms: with QMP events
 * there, libvirt's own events set no mark and open nothing. */

#include <stdbool.h>

#include "core/event.h"
#include "core/report.h"
#include "core/track.h"

struct migration {
	struct report report;
	nsec_t deadline;         /* feed EVENT_TIMEOUT then; NSEC_INVALID none */
	nsec_t patience;         /* how long a guest may stay paused after the end is known */
	bool qmp;                /* QMP events come */
	bool running;            /* the guest runs, as far as known */
	bool stop_fresh;         /* nothing but the switchover has come since STOP */
	bool was_active;
	bool postcopy, postcopy_recovered;
	bool undecided;          /* something was missed or is overdue: the next look decides what became of it */
};

enum migration_effect {
	MIGRATION_CHANGED    = 1 << 0, /* state, outcome or a mark */
	MIGRATION_ENDED      = 1 << 1, /* the report is complete, marks clamped */
	MIGRATION_LOOK       = 1 << 2, /* have a look at the domain: feed EVENT_CONTEXT */
	MIGRATION_WATCH_POOL = 1 << 3, /* tell when its hugepages are back */
};

/* Begins with the event that showed it (which is to be fed next). The identity fields of the report (id, uuid, name,
 * uri, host) are the caller's to fill. */
void migration_begin(struct migration *m, const struct track *t, const struct event *ev, nsec_t patience);

/* Takes over what an earlier process left in flight on this boot. */
void migration_adopt(struct migration *m, const struct report *r, nsec_t now, nsec_t patience);

/* Returns effects. Events after the end change nothing. The track must have been fed first. */
unsigned migration_feed(struct migration *m, const struct track *t, const struct event *ev);

/* Facts about guest and job that do not depend on the state; also good after the end. migration_feed() does it too. */
void migration_take_facts(struct report *r, const struct context *c);

/* Ends it from outside: the next migration began, the host was rebooted, ... */
unsigned migration_end_lost(struct migration *m, enum cause cause);

/* The phase that runs now; PHASE_INVALID when none. */
enum phase_id migration_phase(const struct report *r);

#endif
