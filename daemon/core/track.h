/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_TRACK_H
#define ROLLBACKD_CORE_TRACK_H

/* What is remembered of a domain between migrations: just enough to know, when one begins, which side this is and what
 * the guest was doing. Small, since a host may have a thousand of these. */

#include <stdbool.h>

#include "core/event.h"

struct track {
	enum run_state run;
	bool known;          /* listed, started, or looked at: it was here before its next migration */
	bool incoming;       /* STARTED/MIGRATED seen and no resume since: it is arriving */
	bool restored;       /* STARTED/RESTORED seen and no resume since */
	bool qmp;            /* QMP events come */
};

enum track_verdict {
	TRACK_NOTHING,       /* no migration, and this event begins none */
	TRACK_BEGIN,         /* a migration begins with this event: migration_begin(), then feed the event */
	TRACK_CONTINUE,      /* belongs to the current one */
	TRACK_SUPERSEDE,     /* a new one begins while the current has not ended: end that as superseded, then as TRACK_BEGIN */
};

/* current: the running migration's state, or MIG_STATE_INVALID. Updates the track; the verdict is on the event itself. */
enum track_verdict track_feed(struct track *t, const struct event *ev, enum mig_state current);

/* Which side a migration that begins with ev is on, as far as the track and the event tell. */
enum side track_side(const struct track *t, const struct event *ev);

#endif
