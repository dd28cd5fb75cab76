/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "alloc.h"
#include "watch.h"

#define SEC_USEC UINT64_C(1000000)
#define BACKOFF_FIRST (SEC_USEC / 4)
#define BACKOFF_MOST (5 * SEC_USEC)

static const struct option_spec options[] = {
	{ "once", '1', NULL, "leave after the first migration that finishes", false },
	{ "progress", 'p', NULL, "ask how far pre-copy is, once a second, also when the output is no terminal", false },
	{ 0 },
};

/* libsystemd says nothing where a clock's time may be asked for by sd_event_now() before the loop runs. */
static uint64_t monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t) ts.tv_sec * SEC_USEC + (uint64_t) ts.tv_nsec / 1000;
}

static void arm(sd_event_source *s, uint64_t in_usec)
{
	sd_event_source_set_time(s, monotonic() + in_usec);
	sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static int on_reconnect(sd_event_source *s, uint64_t usec, void *userdata)
{
	struct watch *w = userdata;

	(void) usec;
	watch_disconnect(w);
	if (watch_connect(w) < 0) {
		w->backoff_usec = w->backoff_usec * 2 < BACKOFF_MOST ? w->backoff_usec * 2 : BACKOFF_MOST;
		arm(s, w->backoff_usec);
	}
	return 0;
}

void watch_lost_bus(struct watch *w)
{
	watch_tell_waiting(w, WAIT_BUS);
	w->backoff_usec = BACKOFF_FIRST;
	/* Not here: this runs within the lost connection's own dispatch. */
	arm(w->reconnect, w->backoff_usec);
}

static int on_second(sd_event_source *s, uint64_t usec, void *userdata)
{
	(void) usec;
	watch_ask_progress(userdata);
	arm(s, SEC_USEC);
	return 0;
}

static int on_stop(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata)
{
	(void) si, (void) userdata;
	return sd_event_exit(sd_event_source_get_event(s), CTL_OK);
}

static int prepare(struct watch *w)
{
	sigset_t stops;
	int r = sd_event_new(&w->event);

	sigemptyset(&stops);
	sigaddset(&stops, SIGINT);
	sigaddset(&stops, SIGTERM);
	sigprocmask(SIG_BLOCK, &stops, NULL);
	if (r >= 0)
		r = sd_event_add_signal(w->event, NULL, SIGINT, on_stop, w);
	if (r >= 0)
		r = sd_event_add_signal(w->event, NULL, SIGTERM, on_stop, w);
	if (r >= 0)
		r = sd_event_add_time(w->event, &w->reconnect, CLOCK_MONOTONIC, UINT64_MAX, 0, on_reconnect, w);
	if (r >= 0)
		r = sd_event_source_set_enabled(w->reconnect, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_add_time(w->event, &w->doubt, CLOCK_MONOTONIC, UINT64_MAX, 0, watch_on_doubt, w);
	if (r >= 0)
		r = sd_event_source_set_enabled(w->doubt, SD_EVENT_OFF);
	if (r >= 0 && w->progress)
		r = sd_event_add_time(w->event, &w->ask, CLOCK_MONOTONIC, monotonic() + SEC_USEC, 0, on_second, w);
	return r;
}

static void done(struct watch *w)
{
	watch_erase_bars(w);
	while (w->n)
		watch_forget(w, w->items[0]);
	free(w->items);
	watch_disconnect(w);
	sd_event_source_unref(w->reconnect);
	sd_event_source_unref(w->ask);
	sd_event_source_unref(w->doubt);
	sd_event_unref(w->event);
}

/* The first connection is made the plain way: who mistypes an address wants to hear of it, not wait. */
static int check_bus(struct ctl *c)
{
	_cleanup_bus_ sd_bus *bus = NULL;

	return bus_open(c, &bus);
}

static int run(struct ctl *c, const struct args *a)
{
	bool terminal = c->term.tty && !c->json;
	struct watch w = { .c = c, .once = args_has(a, "once"), .progress = args_has(a, "progress") || terminal, .bars = terminal };
	int r = check_bus(c);

	if (r != CTL_OK)
		return r;
	r = prepare(&w);
	if (r >= 0)
		r = watch_connect(&w);
	if (r >= 0)
		r = sd_event_loop(w.event);
	if (r < 0)
		r = ctl_fail(c, CTL_FAILED, "cannot watch: %s", strerror(-r));
	done(&w);
	return r;
}

const struct verb verb_watch = {
	.name = "watch",
	.words = "",
	.summary = "Migrations as they happen, one line a change",
	.help = "Tells each change of state and each mark as it comes, and draws how far pre-copy is (rollbackd asks libvirt\n"
		"for that, never while the guest is paused). Waits while rollbackd or the bus is away, and catches up when it is\n"
		"back: what was under way when rollbackd was restarted goes on once rollbackd is connected to libvirt again, and\n"
		"is said to be lost track of (exit code 1 with --once) when it does not. Ends on ^C with exit code 0.\n",
	.examples = "  rollbackctl watch\n"
		    "  rollbackctl watch --once --json | jq 'select(.event == \"finished\")'\n",
	.options = options,
	.run = run,
};
