/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* sd-bus tells a descriptor, poll events and a deadline; GLib takes just these. Two things need care. What one turn of
 * the loop may spend here is bounded, or a client that floods the service would starve the events of libvirt. And when
 * the bus daemon does not take our answers, questions are left in the socket: the queue of answers in memory must not
 * grow with the greed of clients. */

#include <errno.h>
#include <poll.h>
#include <stdbool.h>

#include "bus/gsource.h"

#define TURN_MESSAGES 32   /* a turn's most; more than any well-behaved client sends at once */
#define TURN_USEC     2000 /* and its longest: looked at between messages */

struct bus_source {
	GSource source;
	GPollFD poll;
	bool polled;
	uint64_t deadline; /* CLOCK_MONOTONIC us, as g_get_monotonic_time(); UINT64_MAX none */
	int failure;
	bool told;
	sd_bus *bus;
	void (*lost)(int r, void *userdata);
	void *userdata;
};

static bool backlogged(sd_bus *bus)
{
	uint64_t n;

	return sd_bus_get_n_queued_write(bus, &n) >= 0 && n > BUS_BACKLOG_MAX;
}

/* sd-bus changes its descriptor when it goes on to the next address; GLib sorts by descriptor when one is added. */
static int follow_fd(struct bus_source *s)
{
	int fd = sd_bus_get_fd(s->bus);

	if (fd < 0)
		return fd;
	if (s->polled && s->poll.fd == fd)
		return 0;
	if (s->polled)
		g_source_remove_poll(&s->source, &s->poll);
	s->poll = (GPollFD) { .fd = fd };
	g_source_add_poll(&s->source, &s->poll);
	s->polled = true;
	return 0;
}

static int arm(struct bus_source *s)
{
	int events, r;

	r = follow_fd(s);
	if (r < 0)
		return r;
	events = sd_bus_get_events(s->bus);
	if (events < 0)
		return events;
	if (backlogged(s->bus)) {
		s->poll.events = POLLOUT;
		s->deadline = UINT64_MAX;
		return 0;
	}
	s->poll.events = (gushort) events;
	r = sd_bus_get_timeout(s->bus, &s->deadline);
	return r < 0 ? r : 0;
}

static gboolean on_prepare(GSource *source, gint *ret_timeout)
{
	struct bus_source *s = (struct bus_source *) source;
	uint64_t now = (uint64_t) g_get_monotonic_time(), ms;

	*ret_timeout = -1;
	if (s->told)
		return FALSE;
	s->failure = arm(s);
	if (s->failure < 0 || s->deadline <= now)
		return TRUE;
	if (s->deadline != UINT64_MAX) {
		ms = (s->deadline - now + 999) / 1000;
		*ret_timeout = ms < G_MAXINT ? (gint) ms : G_MAXINT;
	}
	return FALSE;
}

static gboolean on_check(GSource *source)
{
	struct bus_source *s = (struct bus_source *) source;

	if (s->told)
		return FALSE;
	return s->poll.revents != 0 || s->deadline <= (uint64_t) g_get_monotonic_time();
}

static gboolean on_dispatch(GSource *source, GSourceFunc unused, gpointer unused_too)
{
	struct bus_source *s = (struct bus_source *) source;
	gint64 end = g_get_monotonic_time() + TURN_USEC;
	int r = s->failure;

	(void) unused;
	(void) unused_too;
	/* A handler may close the bus and free this source: GLib holds a reference for the time of the dispatch. */
	for (unsigned i = 0; r >= 0 && i < TURN_MESSAGES && !g_source_is_destroyed(source); i++) {
		r = sd_bus_process(s->bus, NULL);
		if (r == 0 || backlogged(s->bus) || g_get_monotonic_time() >= end)
			break;
	}
	if (r < 0 && !s->told && !g_source_is_destroyed(source)) {
		s->told = true;
		/* A closed socket is readable for ever. */
		if (s->polled)
			g_source_remove_poll(source, &s->poll);
		s->polled = false;
		s->lost(r, s->userdata);
	}
	return G_SOURCE_CONTINUE;
}

static void on_finalize(GSource *source)
{
	struct bus_source *s = (struct bus_source *) source;

	sd_bus_unref(s->bus);
}

static GSourceFuncs functions = {
	.prepare = on_prepare,
	.check = on_check,
	.dispatch = on_dispatch,
	.finalize = on_finalize,
};

GSource *bus_source_new(sd_bus *bus, void (*lost)(int r, void *userdata), void *userdata)
{
	GSource *source = g_source_new(&functions, sizeof(struct bus_source));
	struct bus_source *s = (struct bus_source *) source;

	s->bus = sd_bus_ref(bus);
	s->deadline = UINT64_MAX;
	s->lost = lost;
	s->userdata = userdata;
	g_source_set_name(source, "D-Bus");
	g_source_attach(source, NULL);
	return source;
}

GSource *bus_source_free(GSource *source)
{
	if (source) {
		g_source_destroy(source);
		g_source_unref(source);
	}
	return NULL;
}
