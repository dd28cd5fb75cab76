/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_STORE_H
#define ROLLBACKD_STORE_STORE_H

/* Reports on disk, one file each, below one directory:
 *
 *   reports/<began, us since the epoch, 20 digits>-<id>.json   finished
 *   inflight/<id>.json                                         not ended yet: what a restarted daemon takes over
 *   aside/<file>                                               unreadable, hostile or from the future; kept, never fatal
 *
 * All calls are made on the main thread and none of them touches the disk after store_open(): one writer thread of the
 * store's own does (write to a temporary name, fsync, rename, fsync of the folder). The index of finished reports is in
 * memory. When the disk is full or read-only a report stays in memory, is served from there, is written again later
 * (back-off), and the trouble is told through the callback once per change. */

#include <stdbool.h>
#include <stdint.h>

#include "core/report.h"

struct store;

struct store_limits {
	uint32_t max_reports;   /* oldest go first */
	uint64_t max_bytes;     /* of finished reports on disk */
	uint32_t max_pending;   /* reports held in memory while the disk refuses; beyond: oldest dropped, counted, told */
	nsec_t retry_min, retry_max; /* shortest and longest back-off while the disk refuses; 0: 1 s and 60 s */
};

/* What the index keeps of a finished report: enough for lists, and small. */
struct summary {
	char id[REPORT_ID_LEN + 1];
	char uuid[REPORT_UUID_LEN + 1];
	char *name;              /* owned by the store */
	char *uri;               /* owned by the store, interned */
	enum side side;
	enum operation operation;
	enum driver driver;
	enum outcome outcome;
	enum cause cause;
	int64_t began_usec;      /* CLOCK_REALTIME */
	bool total_known, blackout_known, blackout_lower_bound, paused;
	uint64_t total_usec, blackout_usec;
	uint64_t bytes;          /* on disk; 0 while pending */
};

struct store_events { /* each may be NULL */
	/* Main thread. trouble: a sentence, or NULL when writing works again. */
	void (*trouble)(void *userdata, const char *trouble);
	/* Main thread. A file was set aside. */
	void (*set_aside)(void *userdata, const char *file, const char *why);
	void *userdata;
};

/* Reads the folder (creating it 0750 where absent), sets aside what cannot be read, applies the limits. A folder that
 * cannot be created or written is no failure: trouble is told and the store works from memory. -ENOMEM only. */
int store_open(const char *dir, const struct store_limits *limits, const struct store_events *events, struct store **ret_);

/* Waits up to timeout for the writer to finish what is queued (bounded by design: an fsync may hang), then lets go of it:
 * a stuck writer thread is abandoned, not joined. Returns how many reports had not reached the disk. NULL is fine. */
unsigned store_close(struct store *s, nsec_t timeout);

/* In force at once. */
void store_set_limits(struct store *s, const struct store_limits *limits);

/* Takes a copy. A finished report enters the index at once and replaces the in-flight file of the same id. */
void store_put(struct store *s, const struct report *r);
/* Keeps the newest state of a migration under way; writes of one id that pile up are merged. */
void store_put_inflight(struct store *s, const struct report *r);

/* Calls back with each report that store_open() found in flight, oldest first; then forgets them (their files stay until
 * store_put or store_put_inflight of the same id). */
void store_take_inflight(struct store *s, void (*found)(const struct report *r, void *userdata), void *userdata);

struct store_filter {
	const char *domain;      /* UUID, or exact name; NULL: any */
	int64_t since_usec;      /* CLOCK_REALTIME, 0: any */
	int64_t until_usec;      /* 0: any */
	uint32_t outcomes;       /* 1 << enum outcome; 0: any */
	uint32_t sides;          /* 1 << enum side; 0: any */
};

/* Newest first. Fills at most max entries from the offset-th match on; the pointers are good until the next call of any
 * store function. Returns how many match in all. */
uint32_t store_list(struct store *s, const struct store_filter *f, uint32_t offset, const struct summary **ret_, uint32_t max, uint32_t *ret_n);

/* By whole id or a prefix of at least 4 digits. 0, -ENOENT, -ENOTUNIQ (prefix fits several), -EINVAL (not hex). */
int store_find(struct store *s, const char *id, const struct summary **ret_);

/* A domain with at least one finished report. name is that of its newest report, good until the next call. */
struct store_domain {
	char uuid[REPORT_UUID_LEN + 1];
	const char *name;
	uint32_t reports;
	char last_id[REPORT_ID_LEN + 1];
	enum outcome last_outcome;
};

/* False beyond the last. Numbers run from 0 without a gap, and change when a domain's last report goes. O(1). */
bool store_domain_nth(struct store *s, uint32_t n, struct store_domain *ret_);
bool store_domain_find(struct store *s, const char *uuid, struct store_domain *ret_);

/* Reads a report's JSON text (from memory or, on the writer's reader thread, from disk) and calls back on the main
 * thread with the text (callee must copy) or with a negative errno: -ENOENT, -EAGAIN when too many reads are queued, or that of the read. */
void store_read(struct store *s, const char *id, void (*done)(int r, const char *json, void *userdata), void *userdata);

struct store_counters {
	uint64_t reports, bytes, pending, written, write_failures, dropped, set_aside, pruned;
};
void store_get_counters(const struct store *s, struct store_counters *ret_);
const char *store_trouble(const struct store *s); /* NULL: none */

#endif
