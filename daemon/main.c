/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib-unix.h>
#include <libvirt-glib/libvirt-glib.h>
#include <stdio.h>
#include <stdlib.h>

#include "config.h"
#include "log.h"
#include "manager.h"
#include "notify.h"
#include "rollbackd/names.h"

/* Parses, sets up, runs. Exit codes: 0 stopped when asked to, 1 could not start, 2 bad command line or configuration. */

struct daemon {
	char *config_file;
	char *address;
	gboolean user, check_config, version;
	GMainLoop *loop;
	struct manager *manager;
};

static gboolean on_stop(gpointer data)
{
	struct daemon *d = data;

	notify_stopping();
	log_event(LOG_INFO, RBD_MSG_STOPPING, NULL, "Stopping.");
	g_main_loop_quit(d->loop);
	return G_SOURCE_CONTINUE;
}

static gboolean on_reload(gpointer data)
{
	struct daemon *d = data;
	struct config c;
	char error[512];

	notify_reloading();
	if (config_load(d->config_file, &c, error, sizeof(error)) < 0) {
		log_line(LOG_ERR, "Configuration not reloaded, the old one stays: %s", error);
	} else {
		manager_reload(d->manager, &c);
		config_done(&c);
		log_line(LOG_NOTICE, "Configuration reloaded.");
	}
	notify_ready();
	return G_SOURCE_CONTINUE;
}

static int parse(struct daemon *d, int *argc, char ***argv)
{
	const GOptionEntry entries[] = {
		{ "config", 'c', 0, G_OPTION_ARG_FILENAME, &d->config_file, "Configuration file instead of " RBD_CONFIG_FILE, "FILE" },
		{ "address", 'a', 0, G_OPTION_ARG_STRING, &d->address, "D-Bus address instead of the system bus", "ADDRESS" },
		{ "user", 'u', 0, G_OPTION_ARG_NONE, &d->user, "The user's bus instead of the system bus", NULL },
		{ "check-config", 0, 0, G_OPTION_ARG_NONE, &d->check_config, "Read the configuration, say what is wrong with it, and exit", NULL },
		{ "version", 0, 0, G_OPTION_ARG_NONE, &d->version, "Print the version and exit", NULL },
		{ NULL, 0, 0, G_OPTION_ARG_NONE, NULL, NULL, NULL },
	};
	g_autoptr(GOptionContext) ctx = g_option_context_new("- watches libvirt for migrations and tells what a rollback cost");
	g_autoptr(GError) error = NULL;

	g_option_context_add_main_entries(ctx, entries, NULL);
	if (!g_option_context_parse(ctx, argc, argv, &error)) {
		fprintf(stderr, "rollbackd: %s; see rollbackd --help\n", error->message);
		return 2;
	}
	if (*argc > 1) {
		fprintf(stderr, "rollbackd: unexpected argument %s; see rollbackd --help\n", (*argv)[1]);
		return 2;
	}
	if (d->user && d->address) {
		fprintf(stderr, "rollbackd: --user and --address exclude each other\n");
		return 2;
	}
	return 0;
}

static int run(struct daemon *d, const struct config *c)
{
	const struct manager_options options = {
		.bus_kind = d->address ? BUS_ADDRESS : d->user ? BUS_USER : BUS_SYSTEM,
		.bus_address = d->address,
	};

	log_setup(c->log_level);
	gvir_event_register();
	d->loop = g_main_loop_new(NULL, FALSE);
	if (manager_new(c, &options, &d->manager) < 0) {
		fprintf(stderr, "rollbackd: out of memory\n");
		return 1;
	}
	g_unix_signal_add(SIGTERM, on_stop, d);
	g_unix_signal_add(SIGINT, on_stop, d);
	g_unix_signal_add(SIGHUP, on_reload, d);
	log_event(LOG_INFO, RBD_MSG_STARTED, NULL, "rollbackd %s started.", ROLLBACKD_VERSION);
	notify_watchdog_start();
	notify_ready();
	g_main_loop_run(d->loop);
	notify_watchdog_stop();
	d->manager = manager_free(d->manager);
	g_main_loop_unref(d->loop);
	return 0;
}

int main(int argc, char **argv)
{
	struct daemon d = { 0 };
	struct config c;
	char error[512];
	int r = parse(&d, &argc, &argv);

	if (r == 0 && d.version) {
		printf("rollbackd %s\n", ROLLBACKD_VERSION);
	} else if (r == 0) {
		if (config_load(d.config_file, &c, error, sizeof(error)) < 0) {
			fprintf(stderr, "rollbackd: %s\n", error);
			r = 2;
		} else {
			if (d.check_config)
				printf("rollbackd: the configuration is good\n");
			else
				r = run(&d, &c);
			config_done(&c);
		}
	}
	g_free(d.config_file);
	g_free(d.address);
	return r;
}
