/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_DISK_H
#define ROLLBACKD_STORE_DISK_H

#include "store/folders.h"

/* What the writer does on the disk, one step a call, each finding or making the folders first. All calls may take as long
 * as the disk likes. Negative errno; -EBUSY: another process uses the folder. */
struct disk {
	char *dir; /* g_free */
	struct folders folders;
};

void disk_done(struct disk *d);

/* Could something be written? */
int disk_probe(struct disk *d);
/* On the disk when this returns. A finished report replaces the file of the same id in flight. */
int disk_write(struct disk *d, const struct report *r, bool finished, uint64_t *ret_bytes);
/* A finished report. That it was not there is no failure; nor is a file that alone cannot be removed, for it must not stop
 * the rest: the next start finds it again. */
int disk_remove(struct disk *d, uint64_t began, uint64_t id);

#endif
