/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_CLOCKMAP_H
#define ROLLBACKD_CORE_CLOCKMAP_H

/* QEMU stamps its events with wall-clock time; reports run on CLOCK_MONOTONIC. One map for the host remembers the
 * offset between the two clocks and the one before the last step (both clocks are slewed alike, so only a step moves
 * the offset). One stream per domain remembers the last stamp taken, since QEMU's events come in order. */

#include "core/event.h"
#include "core/time.h"

struct clockmap {
	nsec_t offset;          /* real - monotonic, modulo 2^64 */
	nsec_t offset_before;   /* the one before the last step */
	nsec_t stepped_at;      /* CLOCK_MONOTONIC when the step was noticed; NSEC_INVALID never */
	bool known;
};

struct stamp_stream {
	nsec_t last;            /* 0: none yet */
};

/* Offsets differ by less than this unless somebody stepped the wall clock: host/clock.c reads both clocks within tens of
 * microseconds. Steps below it stay unnoticed and are as small as the resolution of an arrival time. */
#define CLOCKMAP_STEP_MIN (1 * NSEC_PER_MSEC)

/* Events older than this at arrival are not believed to be stamped with the clock before a step (libvirtd was seen to
 * hold events back for 28 s). */
#define CLOCKMAP_STEP_MEMORY (120 * NSEC_PER_SEC)

/* Takes a new pair of readings. True when the wall clock stepped since the last. */
bool clockmap_update(struct clockmap *c, nsec_t monotonic, nsec_t real);

/* Fills at, source, resolution, stamp_usec, stamp_rejected of an event whose arrival and real_offset are set, from
 * QEMU's (seconds, microseconds), which may be negative = missing. A stamp later than the arrival, or earlier than the
 * last of its stream, is rejected: arrival time is used instead. */
void clockmap_stamp(const struct clockmap *c, struct stamp_stream *s, long long seconds, unsigned micros, struct event *ev);

#endif
