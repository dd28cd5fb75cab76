/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The drive performs one fixture on a rig: a real migration that ends in a given way. It says nothing of what an observer
 * should see; it only makes sure that what was meant to happen did.
 */

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libvirt/virterror.h>

#include "drive.h"

/* Default of --pause, ms: long enough to be told from scheduling noise. */
#define PAUSE_MS 500
/* Longer than any fixture takes, even where every wait runs into its limit once. */
#define DEADLINE_S 150

static const char *const sides[] = { "src", "dst" };

static int usage(FILE *to)
{
	fputs("usage: drive --rig DIRECTORY [--rig-command PATH] [--pause MS] FIXTURE\n"
	      "       drive --rig DIRECTORY reset\n"
	      "       drive --list\n"
	      "Performs a fixture on the guests of a rig. --pause: how long a guest is left stopped, or a job left running\n"
	      "(500). reset: every guest runs on the source again. --list: all fixtures, a tab, what each does.\n", to);
	return to == stdout ? EXIT_SUCCESS : 2;
}

static const struct fixture *const lists[] = { rollback_fixtures, other_fixtures, restart_fixtures };
#define N_LISTS (sizeof(lists) / sizeof(*lists))

static const struct fixture *find(const char *name)
{
	for (size_t i = 0; i < N_LISTS; i++)
		for (const struct fixture *f = lists[i]; f->name; f++)
			if (strcmp(f->name, name) == 0)
				return f;
	return NULL;
}

static int list(void)
{
	for (size_t i = 0; i < N_LISTS; i++)
		for (const struct fixture *f = lists[i]; f->name; f++)
			printf("%s\t%s\n", f->name, f->what);
	return EXIT_SUCCESS;
}

static void on_error(void *opaque, virErrorPtr error)
{
	(void) opaque;
	(void) error;
}

int connect_side(struct drive *d, enum side side)
{
	snprintf(d->uri[side], sizeof(d->uri[side]), "qemu+unix:///system?socket=%s/%s/run/libvirt-sock", d->rig, sides[side]);
	/* A connection that was lost is left to the thread that may still be using it. */
	d->conn[side] = virConnectOpen(d->uri[side]);
	if (!d->conn[side])
		return fail("%s: %s", d->uri[side], virGetLastErrorMessage());
	if (watch_connection(d->conn[side], sides[side]) < 0)
		return fail("%s: no events: %s", d->uri[side], virGetLastErrorMessage());
	return 0;
}

static int open_rig(struct drive *d)
{
	char path[256];
	unsigned int port = 0;
	FILE *file;

	snprintf(path, sizeof(path), "%s/relay-port", d->rig);
	file = fopen(path, "re");
	if (!file)
		return fail("no rig at %s", d->rig);
	if (fscanf(file, "%u", &port) != 1 || port > UINT16_MAX)
		port = 0;
	fclose(file);
	d->relay_port = (uint16_t) port;
	return connect_side(d, SRC) < 0 ? -1 : connect_side(d, DST);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "rig", required_argument, NULL, 'r' }, { "rig-command", required_argument, NULL, 'R' },
		{ "pause", required_argument, NULL, 'p' },
		{ "list", no_argument, NULL, 'l' },	 { "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct drive d = { .pause_ms = PAUSE_MS };
	const struct fixture *fixture;
	int c, r;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		switch (c) {
		case 'r':
			d.rig = optarg;
			break;
		case 'p':
			d.pause_ms = atoi(optarg);
			break;
		case 'R':
			d.rig_command = optarg;
			break;
		case 'l':
			return list();
		case 'h':
			return usage(stdout);
		default:
			return usage(stderr);
		}
	if (!d.rig || optind != argc - 1 || d.pause_ms < 0)
		return usage(stderr);
	fixture = find(argv[optind]);
	if (!fixture && strcmp(argv[optind], "reset") != 0) {
		fail("no fixture is called %s: see --list", argv[optind]);
		return 2;
	}
	alarm(DEADLINE_S);
	virSetErrorFunc(NULL, on_error);
	if (virInitialize() < 0 || watch_start() < 0 || open_rig(&d) < 0)
		return EXIT_FAILURE;
	r = fixture ? fixture->run(&d) : reset(&d);
	for (int i = 0; i < 2; i++)
		if (d.conn[i])
			virConnectClose(d.conn[i]);
	return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
