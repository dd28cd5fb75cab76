/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is measured, in the process that plays the daemon. */

#include <glib.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bus/bus-internal.h"
#include "feeder.h"
#include "figures.h"
#include "guard.h"
#include "log.h"
#include "manager-internal.h"
#include "measure.h"
#include "shared.h"
#include "subscriber.h"

#define MSEC        ((int64_t) NSEC_PER_MSEC)
#define GUARDED_ROUNDS 3
#define APART       (5 * MSEC)   /* between two ends, when they come one after the other */
#define TICK_MSEC   10           /* while waiting for what comes from elsewhere */
#define LONG_ENOUGH (60 * 1000 * MSEC)

/* The aims of the project. */
#define AIM_P99_USEC   1000.0
#define AIM_RSS_BASE   (6.0 * 1024)  /* KiB */
#define AIM_RSS_DOMAIN 2048.0        /* bytes */

struct bench {
	struct measure_options o;
	struct subscriber *subscriber;
	struct manager *manager;
	struct feeder *feeder;
	struct figures *figures;
	struct round *round;
	unsigned next_domain, finished;
	size_t n;                /* of each of these */
	int64_t *own, *burst, *received, *cpu, *quiet;
	size_t n_quiet, n_received;
	int64_t main_cpu, all_cpu;
	uint64_t events, ends, preempted;
};

static gboolean on_tick(gpointer data)
{
	(void) data;
	return G_SOURCE_CONTINUE;
}

static bool run_until(bool (*done)(struct bench *b), struct bench *b)
{
	int64_t end = now_ns() + LONG_ENOUGH;
	guint tick = g_timeout_add(TICK_MSEC, on_tick, NULL);

	while (!done(b) && now_ns() < end)
		g_main_context_iteration(NULL, TRUE);
	g_source_remove(tick);
	if (!done(b))
		fprintf(stderr, "bench: waited in vain for the bus, the disk or the subscriber\n");
	return done(b);
}

static bool is_served(struct bench *b)
{
	return b->manager->bus->serving;
}

static bool is_settled(struct bench *b)
{
	struct store_counters c;

	store_get_counters(b->manager->store, &c);
	return c.pending == 0 && !b->manager->bus->domains_timer && atomic_load(&b->subscriber->n) >= b->finished;
}

/* One round, and everything that it set off: signals received, reports on disk, the bus's table of domains renewed. */
static bool play(struct bench *b, int64_t apart, bool watch_memory)
{
	*b->round = (struct round) {
		.first_domain = b->next_domain, .rollbacks = (unsigned) b->o.rollbacks, .length = b->o.length * MSEC,
		.apart = apart, .watch_memory = watch_memory,
	};
	b->next_domain = (b->next_domain + (unsigned) b->o.rollbacks) % (unsigned) b->o.domains;
	if (!feeder_play(b->feeder, b->round))
		return false;
	b->finished += b->round->rollbacks;
	return run_until(is_settled, b);
}

static void begin_run(struct bench *b)
{
	b->n = b->n_quiet = b->n_received = 0;
	b->main_cpu = b->all_cpu = 0;
	b->events = b->ends = b->preempted = 0;
}

static void collect(struct bench *b)
{
	for (unsigned i = 0; i < b->round->rollbacks; i++) {
		const struct sample *s = &b->round->sample[i];
		int64_t receipt = atomic_load(&b->subscriber->receipt[s->domain].at);

		b->own[b->n] = s->handed - s->fed;
		b->burst[b->n] = s->handed - s->burst;
		b->cpu[b->n++] = s->cpu;
		if (!s->preempted)
			b->quiet[b->n_quiet++] = s->handed - s->fed;
		b->preempted += s->preempted;
		if (receipt >= s->fed)
			b->received[b->n_received++] = receipt - s->fed;
	}
}

static bool play_measured(struct bench *b, int64_t apart)
{
	int64_t main_cpu = thread_cpu_ns(), all_cpu = process_cpu_ns();

	if (!play(b, apart, false))
		return false;
	b->main_cpu += thread_cpu_ns() - main_cpu;
	b->all_cpu += process_cpu_ns() - all_cpu;
	b->events += b->round->events;
	b->ends += b->round->rollbacks;
	collect(b);
	return true;
}

static void add_percentiles(struct bench *b, int64_t *values, size_t n, const char *const keys[3], const char *const texts[3], double aim_p99)
{
	const double p[3] = { 50, 99, 100 };

	for (int i = 0; i < 3; i++)
		figures_add(b->figures, keys[i], texts[i], "us", (double) percentile(values, n, p[i]) / 1000, n, i == 1 ? aim_p99 : NO_AIM);
}

#define PERCENTILES(b, values, n, key, text, aim)                                                                \
	add_percentiles(b, values, n, (const char *const[]) { key "_p50", key "_p99", key "_max" },              \
			(const char *const[]) { text ", p50", text ", p99", text ", max" }, aim)

static void note_at_once(struct bench *b)
{
	PERCENTILES(b, b->own, b->n, "signalled", "at once: last event fed to signal in the socket", AIM_P99_USEC);
	PERCENTILES(b, b->quiet, b->n_quiet, "signalled_undisturbed", "  the same, thread not preempted meanwhile", NO_AIM);
	PERCENTILES(b, b->burst, b->n, "signalled_burst", "  the same, from the first last event of that turn of the loop", NO_AIM);
	PERCENTILES(b, b->received, b->n_received, "received", "at once: last event fed to subscriber", NO_AIM);
	PERCENTILES(b, b->cpu, b->n, "cpu_last", "at once: CPU of the call that feeds the last event", NO_AIM);
	figures_add(b->figures, "preempted", "  last events during which the thread was preempted", "%",
		100.0 * (double) b->preempted / (double) b->n, b->n, NO_AIM);
	figures_add(b->figures, "cpu_event", "main thread: CPU per event", "us",
		(double) b->main_cpu / 1000 / (double) b->events, b->events, NO_AIM);
	figures_add(b->figures, "cpu_rollback", "main thread: CPU per finished rollback", "us",
		(double) b->main_cpu / 1000 / (double) b->ends, b->ends, NO_AIM);
	figures_add(b->figures, "cpu_rollback_all", "all threads: CPU per finished rollback (JSON and disk too)", "us",
		(double) b->all_cpu / 1000 / (double) b->ends, b->ends, NO_AIM);
}

static void note_apart(struct bench *b)
{
	PERCENTILES(b, b->own, b->n, "signalled_apart", "5 ms apart: last event fed to signal in the socket", AIM_P99_USEC);
	PERCENTILES(b, b->quiet, b->n_quiet, "signalled_apart_undisturbed", "  the same, thread not preempted meanwhile", NO_AIM);
	PERCENTILES(b, b->cpu, b->n, "cpu_last_apart", "5 ms apart: CPU of the call that feeds the last event", NO_AIM);
	PERCENTILES(b, b->received, b->n_received, "received_apart", "5 ms apart: last event fed to subscriber", NO_AIM);
}

static bool one_run(struct bench *b)
{
	begin_run(b);
	for (int i = 0; i < b->o.rounds; i++)
		if (!play_measured(b, 0))
			return false;
	note_at_once(b);
	begin_run(b);
	for (int i = 0; i < b->o.rounds; i++)
		if (!play_measured(b, APART))
			return false;
	note_apart(b);
	return true;
}

static void add_memory(struct bench *b, const char *key, const char *text, uint64_t bytes, double aim_kib)
{
	figures_add(b->figures, key, text, "KiB", (double) bytes / 1024, 1, aim_kib);
}

static bool watch_domains(struct bench *b)
{
	double all = AIM_RSS_BASE + AIM_RSS_DOMAIN * b->o.domains / 1024;
	uint64_t empty, full;

	empty = rss_anon();
	feeder_list_domains(b->feeder);
	while (g_main_context_iteration(NULL, FALSE))
		;
	full = rss_anon();
	add_memory(b, "rss_0", "RssAnon, no domain watched", empty, AIM_RSS_BASE);
	add_memory(b, "rss_all", "RssAnon, all domains watched", full, all);
	figures_add(b->figures, "rss_domain", "  bytes for each domain", "B", (double) (full - empty) / b->o.domains, 1, AIM_RSS_DOMAIN);
	if (!play(b, 0, true))
		return false;
	add_memory(b, "rss_rollbacks", "RssAnon, largest while the first rollbacks of a process run", b->round->rss_max, all);
	return true;
}

static bool guard_works(unsigned tried)
{
	fsync(STDOUT_FILENO);
	if (guard_count() == tried + 1)
		return true;
	fprintf(stderr, "bench: the guard does not see an fsync of the main thread: its count is worth nothing\n");
	return false;
}

/* Last of all: the filter stays. */
static bool count_disk_calls(struct bench *b)
{
	struct store_counters before, after;
	size_t rollbacks = GUARDED_ROUNDS * (size_t) b->o.rollbacks;
	int r = guard_this_thread();
	unsigned n;

	if (r < 0) {
		fprintf(stderr, "bench: disk calls of the main thread are not counted: seccomp: %s\n", strerror(-r));
		return true;
	}
	store_get_counters(b->manager->store, &before);
	for (int i = 0; i < GUARDED_ROUNDS; i++)
		if (!play(b, 0, false))
			return false;
	store_get_counters(b->manager->store, &after);
	n = guard_count();
	if (n)
		fprintf(stderr, "bench: the main thread called %s\n", guard_last());
	if (!guard_works(n))
		return false;
	figures_add(b->figures, "disk_calls", "calls of the main thread that may wait for a disk (one on purpose: seen)", "", n, rollbacks, 0);
	figures_add(b->figures, "disk_writes", "  files that the writer thread wrote and synced meanwhile", "",
		(double) (after.written - before.written), rollbacks, NO_AIM);
	return true;
}

static bool measure_all(struct bench *b)
{
	if (!run_until(is_served, b))
		return false;
	for (int i = 0; i < 50; i++) {
		g_main_context_iteration(NULL, FALSE);
		usleep(2000);
	}
	if (!watch_domains(b))
		return false;
	for (int i = 0; i < b->o.runs; i++)
		if (!one_run(b))
			return false;
	add_memory(b, "rss_end", "RssAnon at the end, with the index of all these reports", rss_anon(), NO_AIM);
	return count_disk_calls(b);
}

static const char *scheduling(void)
{
	return sched_getscheduler(0) == SCHED_OTHER ? "scheduled as everybody else" : "real-time priority";
}

static void print(struct bench *b)
{
	const struct measure_options *o = &b->o;

	if (o->json) {
		printf("{\"domains\": %d, \"rollbacks_at_once\": %d, \"runs\": %d, \"rounds\": %d, \"round_ms\": %d, \"reports\": %u, \"scheduling\": \"%s\", "
		       "\"figures\": ",
			o->domains, o->rollbacks, o->runs, o->rounds, o->length, b->finished, scheduling());
		figures_print_json(b->figures);
		printf("}\n");
		return;
	}
	printf("%d domains, %d of them rolling back within %d ms (F1, F3, F4), %d rounds in each of %d runs: %u reports; %s\n\n",
		o->domains, o->rollbacks, o->length, o->rounds, o->runs, b->finished, scheduling());
	figures_print(b->figures);
}

static bool set_up(struct bench *b)
{
	static char *no_uris[] = { NULL };
	const struct sequences *sequences = sequences_load(b->o.data);
	struct manager_options options = { .bus_kind = BUS_ADDRESS, .no_libvirt = true };
	struct config c = {
		.uris = no_uris, .status_dir = (char *) "/nonexistent", .call_timeout = 10 * NSEC_PER_SEC, .reconnect_max = 30 * NSEC_PER_SEC,
		.state_dir = (char *) b->o.folder, .max_reports = 10000, .max_bytes = 256 << 20, .left_paused_after = 30 * NSEC_PER_SEC, .log_level = 6,
	};
	size_t samples = (size_t) b->o.rounds * (size_t) b->o.rollbacks;

	if (!sequences)
		return false;
	b->figures = figures_new();
	b->round = shared_new(sizeof(*b->round));
	b->own = shared_new(samples * sizeof(int64_t));
	b->burst = shared_new(samples * sizeof(int64_t));
	b->received = shared_new(samples * sizeof(int64_t));
	b->cpu = shared_new(samples * sizeof(int64_t));
	b->quiet = shared_new(samples * sizeof(int64_t));
	b->subscriber = subscriber_start(b->o.address, (unsigned) b->o.domains);
	if (!b->subscriber)
		return false;
	options.bus_address = b->o.address;
	log_setup(c.log_level);
	if (manager_new(&c, &options, &b->manager) < 0)
		return false;
	b->feeder = feeder_new(b->manager, sequences, (unsigned) b->o.domains);
	return true;
}

static void tear_down(struct bench *b)
{
	if (b->feeder)
		feeder_free(b->feeder);
	manager_free(b->manager);
	subscriber_stop(b->subscriber);
}

int measure(const struct measure_options *o)
{
	struct bench *b = shared_new(sizeof(*b));
	bool done;

	b->o = *o;
	done = set_up(b) && measure_all(b);
	if (done)
		print(b);
	tear_down(b);
	return done && guard_count() <= 1 ? 0 : 1;
}
