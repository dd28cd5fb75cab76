/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_LIBVIRT_H
#define ROLLBACKD_HOST_LIBVIRT_H

/* One libvirt URI: two connections, one for events and one for calls (libvirt serves five requests a connection; calls
 * that hang would stop the event stream too). Registers first, then lists; what comes in between is held back until the
 * list is there. Reconnects with back-off. Everything here is called, and calls back, on the main thread; whatever may
 * block runs on threads of a pool. */

#include <stdbool.h>
#include <stdint.h>

#include "core/event.h"
#include "host/clock.h"
#include "host/pool.h"

struct lv;

enum lv_state { LV_CONNECTING, LV_UP, LV_DOWN };

struct lv_listed {
	char uuid[REPORT_UUID_LEN + 1];
	char name[REPORT_NAME_MAX];
	enum run_state run;
	bool paused_by_migration;
};

struct lv_sink {
	void (*state)(void *userdata, struct lv *lv);
	/* All active domains, right after the connection is up; events follow. */
	void (*listed)(void *userdata, struct lv *lv, const struct lv_listed *domains, unsigned n);
	void (*event)(void *userdata, struct lv *lv, const char *uuid, const char *name, struct event *ev);
	/* The same for QMP events, with QEMU's stamp, not converted yet: that needs the domain's own stream. */
	void (*qmp)(void *userdata, struct lv *lv, const char *uuid, const char *name, struct event *ev, long long seconds, unsigned micros);
	void *userdata;
};

struct lv_options {
	const char *uri;
	nsec_t call_timeout, reconnect_max;
	const char *status_dir;      /* libvirt's, as QEMU's mount namespace has it */
	const char *proc;            /* "/proc" */
	struct pool *calls;          /* shared by all URIs */
	struct clock *clock;
};

/* The options' pointers are copied or must outlive it. */
struct lv *lv_new(const struct lv_options *o, const struct lv_sink *sink);
void lv_start(struct lv *lv);
void lv_free(struct lv *lv); /* NULL is fine; connections are closed behind the caller's back */

const char *lv_uri(const struct lv *lv);
enum lv_state lv_get_state(const struct lv *lv);
const char *lv_detail(const struct lv *lv); /* "" or a sentence */
bool lv_qmp_events(const struct lv *lv);
uint32_t lv_libvirt_version(const struct lv *lv);

enum lv_look_flags {
	LV_LOOK_DEEP = 1 << 0, /* find the process and what is behind it */
	LV_LOOK_OVER = 1 << 1, /* QEMU has said its last word: a paused guest's job may be asked for, once */
};

/* Looks at a domain: done is called once, with NULL when the call failed or its deadline passed. Never asks for job
 * statistics of a paused guest. 0; -EBUSY, -EAGAIN: pool; -ENOTCONN. */
int lv_look(struct lv *lv, const char *uuid, const char *name, enum side side, unsigned flags,
	    void (*done)(const struct context *c, const char *uuid, void *userdata), void *userdata);

struct lv_progress {
	uint64_t processed, remaining, total; /* bytes */
};

/* How far the running guest's migration is. As lv_look; r: 0, -EAGAIN: not running now, -ETIMEDOUT, -EIO. */
int lv_ask_progress(struct lv *lv, const char *uuid, void (*done)(int r, const struct lv_progress *p, void *userdata), void *userdata);

#endif
