/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_REPLAY_H
#define ROLLBACKD_TESTS_REPLAY_H

/* Recordings of tests/libvirt/observer, as events. Plays them through core the way a session does, without one. */

#include <glib.h>

#include "core/migration.h"

struct recorded {
	char uuid[REPORT_UUID_LEN + 1];
	char name[REPORT_NAME_MAX];
	struct event ev;             /* ev.context points into .context */
	struct context context;
	bool is_qmp;
	bool listed;                 /* a "state" line: libvirt listed the domain */
	long long seconds;
	unsigned micros;
	nsec_t real;                 /* CLOCK_REALTIME at arrival */
};

/* Free the array with g_array_unref(). Fails the program when the file is no recording. */
GArray *recording_load(const char *path);

/* All reports of one domain (NULL: of any) that the recording yields, in the order of their ends; what has not ended when
 * the recording is over comes last, as it stands then. Each look that core asks for finds what the recording says is
 * there: a running guest without a job once QEMU or libvirt has been away. */
GArray *recording_play(GArray *recording, const char *uuid);

#endif
