/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_HOST_STATUSXML_H
#define ROLLBACKD_HOST_STATUSXML_H

#include <stddef.h>
#include <sys/types.h>

#include "core/event.h"

/* libvirt's own status file of a running domain says which asynchronous job holds it and whether the client asked for
 * peer-to-peer: nothing else tells that without taking the domain's job lock. It is private to libvirt, so what cannot
 * be read or understood is "unknown" and never an error. */
struct status_xml {
	enum job_state job;
	enum operation operation;
	enum side side;            /* of a migration */
	enum driver driver;
	pid_t pid;                 /* 0 unknown */
	char uuid[REPORT_UUID_LEN + 1];
};

/* 0 or a negative errno; -EBADMSG when it is no status file. Any thread. */
int status_xml_read(const char *path, struct status_xml *ret_);
int status_xml_parse(const char *text, size_t n, struct status_xml *ret_);

#endif
