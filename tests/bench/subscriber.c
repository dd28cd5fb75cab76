/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "rollbackd/names.h"
#include "shared.h"
#include "subscriber.h"

#define PREFIX_LEN 24 /* of a UUID, before the number of the domain */

static int on_finished(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct subscriber *s = userdata;
	int64_t at = now_ns();
	const char *id, *uuid;
	unsigned long n;

	(void) error;
	if (sd_bus_message_read(m, "ss", &id, &uuid) < 0 || strlen(uuid) <= PREFIX_LEN)
		return 0;
	n = strtoul(uuid + PREFIX_LEN, NULL, 16);
	if (n < s->domains) {
		atomic_store(&s->receipt[n].at, at);
		atomic_fetch_add(&s->n, 1);
	}
	return 0;
}

static int serve(struct subscriber *s, const char *address)
{
	sd_bus *bus;
	int r;

	r = sd_bus_new(&bus);
	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, true);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = sd_bus_match_signal(bus, NULL, NULL, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "MigrationFinished", on_finished, s);
	if (r < 0)
		fprintf(stderr, "bench: subscriber: %s\n", strerror(-r));
	atomic_store(r >= 0 ? &s->ready : &s->failed, true);
	while (r >= 0) {
		r = sd_bus_process(bus, NULL);
		if (r == 0)
			r = sd_bus_wait(bus, UINT64_MAX);
	}
	return 1;
}

struct subscriber *subscriber_start(const char *address, unsigned domains)
{
	struct subscriber *s = shared_new(sizeof(*s) + domains * sizeof(s->receipt[0]));
	pid_t parent = getpid(), pid;

	s->domains = domains;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? serve(s, address) : 1);
	}
	s->pid = pid; /* shared with the child, whose own fork() said 0 */
	for (int i = 0; i < 10000 && pid > 0 && !atomic_load(&s->ready) && !atomic_load(&s->failed); i++)
		usleep(1000);
	if (atomic_load(&s->ready))
		return s;
	fprintf(stderr, "bench: the subscriber could not subscribe\n");
	subscriber_stop(s);
	return NULL;
}

void subscriber_stop(struct subscriber *s)
{
	if (!s || s->pid <= 0)
		return;
	kill(s->pid, SIGKILL);
	while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->pid = 0;
}
