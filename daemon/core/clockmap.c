/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include "core/clockmap.h"

#define USEC_PER_SEC 1000000

/* Far beyond any date, and small enough that no sum below overflows. */
#define SECONDS_MAX 9000000000LL

static nsec_t distance(nsec_t a, nsec_t b)
{
	nsec_t d = a - b;

	return d < (nsec_t) -d ? d : (nsec_t) -d;
}

bool clockmap_update(struct clockmap *c, nsec_t monotonic, nsec_t real)
{
	nsec_t exact = real - monotonic;
	/* Whole microseconds, as QEMU's stamps are: a mark is then the same moment in either clock, however it is rounded. */
	nsec_t offset = exact - exact % NSEC_PER_USEC;
	bool stepped = c->known && distance(offset, c->offset) >= CLOCKMAP_STEP_MIN;

	if (!c->known)
		c->stepped_at = NSEC_INVALID;
	if (stepped) {
		c->offset_before = c->offset;
		c->stepped_at = monotonic;
	}
	/* The first reading of an epoch is kept: a later one differs by the noise of reading only, and a moving offset would
	 * make equal stamps unequal. */
	if (!c->known || stepped)
		c->offset = offset;
	c->known = true;
	return stepped;
}

static bool plausible(nsec_t at, const struct stamp_stream *s, nsec_t arrival)
{
	return at <= arrival && at >= s->last;
}

/* A stamp taken before a step is converted with the offset of its own time: of two possible readings the later one is
 * right, since events come within seconds and a step that matters is longer. */
static bool convert(const struct clockmap *c, const struct stamp_stream *s, nsec_t real, nsec_t arrival, nsec_t *ret_)
{
	nsec_t now = real - c->offset, before = real - c->offset_before;
	bool now_ok = plausible(now, s, arrival);
	bool before_ok = c->stepped_at != NSEC_INVALID && arrival - c->stepped_at < CLOCKMAP_STEP_MEMORY &&
			 before <= c->stepped_at && plausible(before, s, arrival);

	if (!now_ok && !before_ok)
		return false;
	*ret_ = now_ok && (!before_ok || now >= before) ? now : before;
	return true;
}

void clockmap_stamp(const struct clockmap *c, struct stamp_stream *s, long long seconds, unsigned micros, struct event *ev)
{
	nsec_t at;

	ev->at = ev->arrival;
	ev->source = STAMP_ARRIVAL;
	ev->resolution = NSEC_PER_MSEC;
	ev->stamp_usec = -1;
	ev->stamp_rejected = true;
	if (seconds < 0 || seconds > SECONDS_MAX || micros >= USEC_PER_SEC || !c->known)
		return;
	ev->stamp_usec = seconds * USEC_PER_SEC + micros;
	/* An arrival does not bound later stamps: it is later than its event, so a good stamp that follows may be earlier. */
	if (!convert(c, s, (nsec_t) ev->stamp_usec * NSEC_PER_USEC, ev->arrival, &at))
		return;
	ev->at = at;
	ev->source = STAMP_QMP;
	ev->resolution = NSEC_PER_USEC;
	ev->stamp_rejected = false;
	s->last = at;
}
