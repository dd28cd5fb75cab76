/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_SESSION_H
#define ROLLBACKD_SESSION_H

/* One domain on one libvirt URI, and its migration while there is one: the straight pipe from events to the finished
 * report. It alone moves along the pipe: feeds core, does what core's effects ask for, hands the report on. Main thread. */

#include "core/migration.h"
#include "host/clock.h"
#include "host/libvirt.h"

struct session;

/* Where reports go. r is the session's and good during the call. */
struct session_outlet {
	void (*began)(void *userdata, struct session *s, const struct report *r);
	void (*changed)(void *userdata, struct session *s, const struct report *r);
	void (*finished)(void *userdata, struct session *s, const struct report *r);
	void *userdata;
};

/* What all sessions of a daemon share. */
struct session_host {
	struct session_outlet outlet;
	struct clock *clock;
	char boot_id[REPORT_UUID_LEN + 1];
	char kernel[65], arch[33];
	uint64_t page_size;
	nsec_t left_paused_after;
	const char *proc, *sysfs;
	uint64_t (*random)(void);
};

/* lv may be NULL (a recorded source): then nothing is looked at. uri is copied into reports. */
struct session *session_new(struct session_host *host, struct lv *lv, const char *uri, const char *uuid, const char *name);
struct session *session_free(struct session *s); /* an unfinished report stays in flight on disk; returns NULL */

/* Its URI is no longer watched: what is under way ends as lost track of. */
void session_give_up(struct session *s);

void session_event(struct session *s, const char *name, struct event *ev);
void session_qmp(struct session *s, const char *name, struct event *ev, long long seconds, unsigned micros);

/* The connection is up (again) and the domain was listed. */
void session_listed(struct session *s, const struct lv_listed *l, bool qmp);
/* The same, and it was not. */
void session_missing(struct session *s, bool qmp);
void session_connection_lost(struct session *s);

/* Takes over a report that an earlier process left unfinished. */
void session_adopt(struct session *s, const struct report *r);

/* Has a look for a migration under way; true when a call was made: session_idle_look is then called when it is over. */
bool session_look_for_work(struct session *s, void (*over)(void *userdata), void *userdata);

const char *session_uuid(const struct session *s);
const char *session_name(const struct session *s);
const struct report *session_report(const struct session *s);  /* NULL: no migration */
bool session_is_done(const struct session *s);           /* nothing to remember: may be freed */
int session_ask_progress(struct session *s, void (*done)(int r, const struct lv_progress *p, void *userdata), void *userdata);

#endif
