/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_LIBVIRT_INTERNAL_H
#define ROLLBACKD_HOST_LIBVIRT_INTERNAL_H

/* Between libvirt.c (life of the connections), libvirt-events.c (what comes in) and libvirt-calls.c (what is asked). */

#include <glib.h>
#include <libvirt/libvirt.h>

#include "host/libvirt.h"

#define LV_CALLBACKS 4

/* What libvirt's callbacks hold. It outlives the connection object that made it: lv is NULL from the moment the connection
 * is given up, and whatever still comes is dropped. */
struct lv_link {
	gatomicrefcount refs;
	struct lv *lv;               /* main thread only */
	bool closed;                 /* main thread only: libvirt closed it before it was up */
	bool listed;                 /* main thread only; until then events are held back */
	GQueue held;                 /* struct held_event */
	unsigned held_dropped;
};

/* Both connections of one attempt. Shared with the calls that run; whoever lets go of it last has it closed, on a thread. */
struct lv_pair {
	gatomicrefcount refs;
	virConnectPtr events, calls;
	struct lv_link *link;
	int callbacks[LV_CALLBACKS];     /* -1 none */
	int qmp_callback;                /* -1 none */
	bool close_events, close_calls;  /* close callbacks registered */
};

struct lv {
	struct lv_options options;
	char *uri, *status_dir, *proc;
	struct lv_sink sink;
	struct pool *admin;          /* this URI's connecting */
	struct lv_pair *pair;        /* NULL unless up */
	struct lv_link *link;        /* of the attempt under way, or of pair */
	enum lv_state state;
	char *detail;
	bool qmp;
	uint32_t version;
	nsec_t backoff;
	guint retry_timer;
};

struct lv_link *lv_link_new(struct lv *lv);
struct lv_link *lv_link_ref(struct lv_link *l);
void lv_link_unref(struct lv_link *l);
void lv_link_cut(struct lv_link *l);      /* main thread: nothing comes through any more */
void lv_link_release(struct lv_link *l);  /* main thread: the list is there, deliver what was held back */

struct lv_pair *lv_pair_ref(struct lv_pair *p);
void lv_pair_unref(struct lv_pair *p);    /* any thread */

/* Worker: registers everything; what libvirt refuses is left out and told by the pair's ids. -EIO when not even lifecycle
 * events are to be had. */
int lv_events_register(struct lv_pair *p);
void lv_events_deregister(struct lv_pair *p);

/* Worker: the last error of this thread, in one line. */
char *lv_error(const char *what);

enum run_state lv_run_state(int state, int reason, bool *ret_paused_by_migration);

#endif
