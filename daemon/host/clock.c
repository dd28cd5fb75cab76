/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "host/clock.h"

/* A pair is good when nothing came between its readings: vDSO reads take tens of nanoseconds. */
#define PAIR_MAX (5 * NSEC_PER_USEC)
#define PAIR_TRIES 20

static nsec_t now(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts); /* cannot fail for these clocks */
	return (nsec_t) ts.tv_sec * NSEC_PER_SEC + (nsec_t) ts.tv_nsec;
}

nsec_t clock_monotonic(void)
{
	return now(CLOCK_MONOTONIC);
}

static void arm(struct clock *c)
{
	struct itimerspec far = { .it_value.tv_sec = INT32_MAX };

	/* The far end of 32-bit time: the timer exists only to be cancelled by whoever sets the clock. */
	if (c->timerfd >= 0)
		timerfd_settime(c->timerfd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, NULL);
}

void clock_open(struct clock *c)
{
	*c = (struct clock) { .timerfd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK) };
	arm(c);
	clock_read(c);
}

void clock_close(struct clock *c)
{
	if (c->timerfd >= 0)
		close(c->timerfd);
	c->timerfd = -1;
}

static bool was_set(struct clock *c)
{
	uint64_t expirations;

	if (c->timerfd < 0 || read(c->timerfd, &expirations, sizeof(expirations)) >= 0 || errno != ECANCELED)
		return false;
	arm(c);
	return true;
}

/* The closest of a few pairs, in case we are preempted between two readings each time. */
static void read_pair(nsec_t *ret_monotonic, nsec_t *ret_real)
{
	nsec_t best = NSEC_INVALID;

	for (int i = 0; i < PAIR_TRIES && best > PAIR_MAX; i++) {
		nsec_t before = now(CLOCK_MONOTONIC);
		nsec_t real = now(CLOCK_REALTIME);
		nsec_t after = now(CLOCK_MONOTONIC);

		if (after - before >= best)
			continue;
		best = after - before;
		*ret_monotonic = before + best / 2;
		*ret_real = real;
	}
}

struct clock_reading clock_read(struct clock *c)
{
	struct clock_reading r;
	nsec_t real = 0;
	bool set = was_set(c);

	r.monotonic = 0;
	read_pair(&r.monotonic, &real);
	r.stepped = clockmap_update(&c->map, r.monotonic, real) || set;
	r.real_offset = c->map.offset;
	return r;
}
