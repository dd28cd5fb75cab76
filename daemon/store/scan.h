/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_SCAN_H
#define ROLLBACKD_STORE_SCAN_H

#include <glib.h>

#include "store/folders.h"
#include "store/index.h"

/* What a start finds on disk. */
struct scan {
	GPtrArray *inflight;  /* of struct report, reference-counted (g_atomic_rc_box), oldest first */
	GPtrArray *aside;     /* of char *: file and reason in turn */
	GArray *surplus;      /* of struct report_key: finished reports beyond the limit, not looked into; still on disk */
	size_t parsed;        /* reports that the index file did not know */
};

struct report_key {
	uint64_t began, id;
};

void scan_init(struct scan *s);
void scan_clear(struct scan *s);

/* Fills the index with the newest max_reports, sets aside what is no report, writes the index file anew when it was out of
 * date. In-flight files of reports that are finished are removed. */
void scan_folders(const struct folders *f, uint32_t max_reports, struct index *ix, struct scan *s);

#endif
