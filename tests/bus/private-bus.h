/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BUS_PRIVATE_BUS_H
#define ROLLBACKD_TESTS_BUS_PRIVATE_BUS_H

#include <sys/types.h>

/* A dbus-daemon of our own: its configuration and socket lie in a temporary folder, it is ended by its pid, and it dies with
 * the test. It has the limits of dbus-daemon's system bus. Failures end the test. */
struct private_bus {
	char dir[64];
	char address[128];
	pid_t pid; /* 0: not running */
};

/* Prints a TAP "skip all" line and exits 0 when there is no dbus-daemon here. */
void private_bus_need(void);

void private_bus_init(struct private_bus *p);  /* folder and configuration; not started */
void private_bus_start(struct private_bus *p); /* waits until it answers */
void private_bus_stop(struct private_bus *p);  /* SIGKILL: the way a bus goes that nobody expects */
void private_bus_done(struct private_bus *p);

#endif
