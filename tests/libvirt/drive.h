/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the fixtures of the drive share: both sides of a rig, a migration that runs in a thread, expectations. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <libvirt/libvirt.h>

#include "relay.h"
#include "watch.h"

/* How long anything is waited for, ms: software emulation on a busy machine is slow. */
#define PATIENCE_MS 40000

struct drive {
	const char *rig; /* its run directory */
	char uri[2][160];
	virConnectPtr conn[2];
	uint16_t relay_port;
	const char *rig_command; /* path of the rig command, or NULL */
	int pause_ms; /* how long a fixture leaves its guest stopped */
};

enum side { SRC, DST };

struct move_options {
	unsigned int flags;	     /* besides VIR_MIGRATE_LIVE and VIR_MIGRATE_UNSAFE */
	unsigned long long mib_s;    /* of QEMU's own limit; 0: none */
	unsigned long long postcopy_mib_s; /* the same once in post-copy */
	bool p2p;
	bool relay;		     /* through the relay at relay_port, which the fixture has made */
	const char *dest_xml;
};

struct move;

/* (Re)connect to a side, and subscribe to its events. */
int connect_side(struct drive *d, enum side side);

/* Print what went wrong; returns -1. */
int fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Wait for a line (watch.h), or fail. */
int expect(size_t from, const char *line);

/* Start migrating a guest; NULL (said) if that cannot be. End with move_end(). */
struct move *move_begin(struct drive *d, const char *guest, const struct move_options *options);
/* Wait for the end, and free. 0 if it ended as `success` says, else -1 (said). */
int move_end(struct move *move, bool success);
bool move_over(struct move *move);

/* The domain on a side, or NULL (said). */
virDomainPtr domain_on(struct drive *d, enum side side, const char *guest);
/* Is the guest in this state there? -1 (said) if not within a few seconds. */
int expect_state(struct drive *d, enum side side, const char *guest, int state);
int suspend(struct drive *d, const char *guest);
int resume(struct drive *d, const char *guest);
int abort_job(struct drive *d, const char *guest);
/* Send a signal to the guest's QEMU on a side. */
int signal_qemu(struct drive *d, enum side side, const char *guest, int number);
void sleep_ms(int ms);

/* A fixture: 0 if it did what its name says, and the guest ended where that leads to. */
struct fixture {
	const char *name;
	int (*run)(struct drive *d);
	const char *what; /* one sentence, for recordings */
};
extern const struct fixture rollback_fixtures[], other_fixtures[], restart_fixtures[];

/* Bring every guest back to running on the source, whatever happened. */
int reset(struct drive *d);
