/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_CLOCK_H
#define ROLLBACKD_HOST_CLOCK_H

#include <stdbool.h>

#include "core/clockmap.h"
#include "core/time.h"

/* Both clocks, read back to back, and the map between them. Main thread. */
struct clock {
	struct clockmap map;
	int timerfd;        /* fires with ECANCELED when the wall clock is set; -1: steps are found by comparing only */
};

struct clock_reading {
	nsec_t monotonic;
	nsec_t real_offset; /* CLOCK_REALTIME - CLOCK_MONOTONIC, modulo 2^64; constant between steps */
	bool stepped;       /* since the reading before */
};

void clock_open(struct clock *c);
void clock_close(struct clock *c);
struct clock_reading clock_read(struct clock *c);
nsec_t clock_monotonic(void);

#endif
