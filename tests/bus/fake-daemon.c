/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Serves rollbackd's bus faces without libvirt:
 *
 *   fake-daemon ADDRESS [FOLDER [SCRIPT]]
 *
 * FOLDER holds reports (*.json), "" for none. SCRIPT is a file of lines that play live migrations; "-" reads standard
 * input as it comes. Prints "ready" on stdout when it serves, "ok" after each line of a script from stdin, and ends on
 * SIGTERM, SIGINT or "exit" (not at the end of the script). A line is one of:
 *
 *   wait MILLISECONDS
 *   begin ID UUID NAME              a migration on the source side, T0 now
 *   state ID STATE [MARK...]        state and marks (now, source qmp); told as one change
 *   mark ID MARK SOURCE
 *   side ID SIDE | driver ID DRIVER | operation ID OPERATION | cause ID CAUSE | note ID NOTE | iterations ID N
 *   progress ID PROCESSED REMAINING TOTAL AGE_USEC | progress ID busy | progress ID paused
 *   finish ID STATE OUTCOME         goes to the store, is live no more
 *   connection URI STATE QMP(0|1) LIBVIRT_VERSION DOMAINS DETAIL...
 *   counter NAME VALUE
 *   trouble [SENTENCE...]           of the store
 *   hold | release                  reads of reports wait meanwhile
 *   exit
 *
 * Words are those of the JSON. A line that is wrong ends the program with status 1 and says why. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib-unix.h>

#include "fake-script.h"

struct app {
	GMainLoop *loop;
	struct script script;
	GIOChannel *input;
	bool interactive, ready;
	int status;
};

static gboolean on_line_due(gpointer userdata);

static void quit(struct app *a, int status)
{
	a->status = status;
	g_main_loop_quit(a->loop);
}

/* One line; false when the input is at its end or waits for more. */
static bool next_line(struct app *a, char **ret_)
{
	gsize end = 0;

	return g_io_channel_read_line(a->input, ret_, NULL, &end, NULL) == G_IO_STATUS_NORMAL && ((*ret_)[end] = '\0', true);
}

/* Returns false when the script has to wait or has ended. */
static bool run_line(struct app *a, char *line)
{
	unsigned wait_ms = 0;
	int r = script_line(&a->script, line, &wait_ms);

	if (r < 0) {
		fprintf(stderr, "fake-daemon: %s: %s\n", line, a->script.error);
		quit(a, 1);
		return false;
	}
	if (r == SCRIPT_EXIT) {
		quit(a, 0);
		return false;
	}
	if (wait_ms) {
		g_timeout_add(wait_ms, on_line_due, a);
		return false;
	}
	if (a->interactive)
		puts("ok");
	return true;
}

static void run_lines(struct app *a)
{
	char *line;
	bool more = true;

	while (more && next_line(a, &line)) {
		more = run_line(a, line);
		g_free(line);
	}
}

static gboolean on_line_due(gpointer userdata)
{
	struct app *a = userdata;

	if (a->interactive)
		puts("ok");
	run_lines(a);
	return G_SOURCE_REMOVE;
}

static gboolean on_input(GIOChannel *channel, GIOCondition condition, gpointer userdata)
{
	struct app *a = userdata;

	(void) channel;
	run_lines(a);
	return !(condition & (G_IO_HUP | G_IO_ERR)) || (g_io_channel_get_buffer_condition(channel) & G_IO_IN);
}

static void on_state(void *userdata, const char *trouble)
{
	struct app *a = userdata;

	if (trouble) {
		fprintf(stderr, "fake-daemon: %s\n", trouble);
		return;
	}
	puts("ready");
	if (a->ready || !a->input)
		return;
	a->ready = true;
	if (a->interactive)
		g_io_add_watch(a->input, G_IO_IN | G_IO_HUP | G_IO_ERR, on_input, a);
	else
		g_timeout_add(0, on_line_due, a);
}

static gboolean on_signal(gpointer userdata)
{
	quit(userdata, 0);
	return G_SOURCE_REMOVE;
}

static int open_script(struct app *a, const char *file)
{
	GError *e = NULL;

	a->interactive = strcmp(file, "-") == 0;
	a->input = a->interactive ? g_io_channel_unix_new(0) : g_io_channel_new_file(file, "r", &e);
	if (!a->input) {
		fprintf(stderr, "fake-daemon: %s\n", e->message);
		g_error_free(e);
		return -ENOENT;
	}
	g_io_channel_set_encoding(a->input, NULL, NULL);
	if (a->interactive)
		g_io_channel_set_flags(a->input, G_IO_FLAG_NONBLOCK, NULL);
	return 0;
}

static int run(struct app *a, const char *address, const char *folder)
{
	const struct bus_events events = { .state = on_state, .userdata = a };
	struct store *store = fake_store_new();
	struct fake_model model;
	struct bus *bus;
	int r = 0;

	if (folder && *folder)
		r = fake_store_load(store, folder);
	if (r < 0)
		fprintf(stderr, "fake-daemon: %s: no folder that can be read\n", folder);
	fake_model_init(&model, store);
	if (r >= 0)
		r = bus_new(BUS_ADDRESS, address, &model.model, &events, &bus);
	if (r >= 0) {
		a->script.model = &model;
		a->script.bus = bus;
		g_main_loop_run(a->loop);
		bus_free(bus);
	}
	fake_model_done(&model);
	fake_store_free(store);
	return r < 0 ? 1 : a->status;
}

int main(int argc, char **argv)
{
	struct app a = { 0 };
	int status;

	if (argc < 2 || argc > 4) {
		fprintf(stderr, "usage: fake-daemon ADDRESS [FOLDER [SCRIPT]]\n");
		return 2;
	}
	setlinebuf(stdout);
	a.loop = g_main_loop_new(NULL, FALSE);
	if (argc == 4 && open_script(&a, argv[3]) < 0)
		return 1;
	g_unix_signal_add(SIGTERM, on_signal, &a);
	g_unix_signal_add(SIGINT, on_signal, &a);
	status = run(&a, argv[1], argc > 2 ? argv[2] : NULL);
	if (a.input)
		g_io_channel_unref(a.input);
	g_main_loop_unref(a.loop);
	return status;
}
