/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What the daemon costs with 1,000 domains watched and 64 of them rolling back at once: the real manager, store and bus face
 * on a private dbus-daemon, fed from recordings of real rollbacks. docs/measuring.md says what each figure means.
 *
 * Three processes beside the bus: one plays the daemon and measures, one subscribes, and this one keeps the bus and the
 * folder, and reads the daemon's log as a journal would. */

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../bus/private-bus.h"
#include "feeder.h"
#include "figures.h"
#include "measure.h"

static volatile pid_t child;

static void on_signal(int sig)
{
	(void) sig;
	if (child > 0)
		kill(child, SIGKILL);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void) st;
	(void) type;
	(void) where;
	return remove(path);
}

/* Passes on what the bench says; the daemon's own lines are read and dropped. */
static void read_log(int fd)
{
	FILE *f = fdopen(fd, "r");
	char *line = NULL;
	size_t size = 0;

	while (f && getline(&line, &size, f) > 0)
		if (g_str_has_prefix(line, "bench: ") || strstr(line, "ERROR") || strstr(line, "CRITICAL") || strstr(line, "runtime error"))
			fputs(line, stderr);
	free(line);
	if (f)
		fclose(f);
}

static void become_daemon(const struct measure_options *o, pid_t parent, int log)
{
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	if (getppid() != parent || dup2(log, STDERR_FILENO) < 0)
		_exit(1);
	close(log);
	r = measure(o);
	fflush(stdout);
	_exit(r); /* what a sanitizer does at exit does not work behind the filter of guard.h */
}

static int run(const struct measure_options *o)
{
	int log[2], status = -1;
	pid_t parent = getpid();

	fflush(stdout);
	if (pipe2(log, O_CLOEXEC) < 0)
		return 1;
	child = fork();
	if (child == 0) {
		close(log[0]);
		become_daemon(o, parent, log[1]);
	}
	close(log[1]);
	if (child < 0)
		return 1;
	read_log(log[0]);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (!WIFEXITED(status))
		fprintf(stderr, "bench: the measuring process was ended by signal %d\n", WTERMSIG(status));
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int with_bus(struct measure_options *o)
{
	char *folder = g_build_filename(g_get_tmp_dir(), "rollbackd-bench-XXXXXX", NULL);
	struct private_bus bus;
	int r;

	if (!g_mkdtemp(folder)) {
		fprintf(stderr, "bench: %s: %s\n", folder, strerror(errno));
		return 1;
	}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	private_bus_init(&bus);
	private_bus_start(&bus);
	o->address = bus.address;
	o->folder = folder;
	r = run(o);
	private_bus_done(&bus);
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	g_free(folder);
	return r;
}

static bool is_sane(const struct measure_options *o)
{
	const struct {
		const char *name;
		int value, min, max;
	} all[] = {
		{ "--domains", o->domains, 1, 100000 }, { "--rollbacks", o->rollbacks, 1, ROLLBACKS_MAX },
		{ "--runs", o->runs, 1, RUNS_MAX }, { "--rounds", o->rounds, 1, 1000 }, { "--length", o->length, 10, 60000 },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
		if (all[i].value < all[i].min || all[i].value > all[i].max) {
			fprintf(stderr, "bench: %s: %d; expected %d to %d\n", all[i].name, all[i].value, all[i].min, all[i].max);
			return false;
		}
	if (o->rollbacks > o->domains)
		fprintf(stderr, "bench: more rollbacks than domains\n");
	return o->rollbacks <= o->domains;
}

int main(int argc, char **argv)
{
	struct measure_options o = { .domains = 1000, .rollbacks = 64, .runs = 5, .rounds = 8, .length = 500 };
	gboolean json = FALSE;
	const GOptionEntry entries[] = {
		{ "domains", 0, 0, G_OPTION_ARG_INT, &o.domains, "Domains watched (1000)", "N" },
		{ "rollbacks", 0, 0, G_OPTION_ARG_INT, &o.rollbacks, "Rollbacks at once (64)", "N" },
		{ "runs", 0, 0, G_OPTION_ARG_INT, &o.runs, "Runs, whose median is shown (5)", "N" },
		{ "rounds", 0, 0, G_OPTION_ARG_INT, &o.rounds, "Rounds in a run (8)", "N" },
		{ "length", 0, 0, G_OPTION_ARG_INT, &o.length, "From the first event of a round to its ends (500)", "MS" },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &json, "JSON instead of a table", NULL },
		{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
	};
	g_autoptr(GOptionContext) context = g_option_context_new("FOLDER - what the daemon costs, from the recordings in FOLDER");
	g_autoptr(GError) error = NULL;

	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, &error) || argc != 2) {
		fprintf(stderr, "bench: %s; see --help\n", error ? error->message : "expected the folder of the recordings");
		return 2;
	}
	o.json = json;
	o.data = argv[1];
	if (!is_sane(&o))
		return 2;
	private_bus_need();
	return with_bus(&o);
}
