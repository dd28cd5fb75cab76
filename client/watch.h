/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_WATCH_H
#define ROLLBACKCTL_WATCH_H

/* What `watch` keeps between two events. watch-bus.c turns messages into changes of items, watch-end.c finds their end,
 * watch-print.c tells them, verb-watch.c runs the loop. All on one thread. */

#include <systemd/sd-event.h>

#include "bus.h"

enum waiting { WAIT_NOTHING_TOLD, WAIT_NONE, WAIT_DAEMON, WAIT_BUS };

struct watch;

/* One live migration. */
struct item {
	struct watch *w;
	char *id;
	struct json_object *properties; /* of the Migration interface, as last heard */
	bool ending;                    /* its report has been asked for */
	bool doubtful;                  /* not listed, and nothing tells that it ended: to be asked about again */
	uint64_t up_since;              /* CLOCK_MONOTONIC us: its connection seen up while it was doubtful; 0: not */
	bool seen;                      /* by the listing under way */
	sd_bus_slot *question;          /* GetProgress under way */
	bool progress_known;
	uint64_t processed, remaining, total;
};

struct watch {
	struct ctl *c;
	sd_event *event;
	sd_bus *bus;                    /* NULL: not connected */
	sd_event_source *reconnect, *ask, *doubt;
	uint64_t backoff_usec;
	struct item **items;
	size_t n;
	bool once, progress, bars;
	enum waiting told;              /* what the last line about the connection said */
	unsigned drawn;                 /* lines of bars on the screen now */
};

/* watch-bus.c */
int watch_connect(struct watch *w);    /* 0 or a negative errno; listens, then lists */
void watch_disconnect(struct watch *w);
void watch_ask_progress(struct watch *w);
void watch_forget(struct watch *w, struct item *it);
struct item *watch_find(struct watch *w, const char *id);
bool watch_is_loss(sd_bus_message *reply); /* the daemon or the bus went away before the answer */
const char *item_text(const struct item *it, const char *property); /* "" when unknown */

/* watch-end.c: asks for the report, which ends the watching of the migration. outcome "": nothing told that it ended. */
void watch_ask_for_report(struct watch *w, const char *id, const char *outcome);
int watch_on_doubt(sd_event_source *s, uint64_t usec, void *userdata); /* timer of w->doubt */

/* watch-print.c: each tells one thing, then draws the bars anew. */
void watch_tell_waiting(struct watch *w, enum waiting for_what);
void watch_tell_began(struct watch *w, const struct item *it, bool late);
void watch_tell_state(struct watch *w, const struct item *it);
void watch_tell_kind(struct watch *w, const struct item *it);
void watch_tell_mark(struct watch *w, const struct item *it, const char *mark, uint64_t real_usec, const char *source);
void watch_tell_progress(struct watch *w, const struct item *it);
/* report may be NULL: only the outcome is known. */
void watch_tell_finished(struct watch *w, const char *id, const char *outcome, const struct item *it, struct json_object *report);
void watch_erase_bars(struct watch *w);

/* verb-watch.c */
void watch_lost_bus(struct watch *w);

#endif
