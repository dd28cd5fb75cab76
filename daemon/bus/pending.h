/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_PENDING_H
#define ROLLBACKD_BUS_PENDING_H

/* Questions whose answer comes later. A bounded set, and a smaller bound per sender, so that no client keeps the others from
 * asking. Main thread. */

#include <systemd/sd-bus.h>

#define PENDING_MAX            64
#define PENDING_PER_SENDER_MAX 8

struct pending {
	struct pending_call *first;
	unsigned n;
};

struct pending_call;

/* Keeps m to be answered later. 0; -ENOMEM; -EMFILE (too many) or -EDQUOT (too many of this sender) with the error set. */
int pending_add(struct pending *p, sd_bus_message *m, struct pending_call **ret_, sd_bus_error *error);

/* The message to answer, or NULL when its connection is gone; owned by the call. */
sd_bus_message *pending_message(struct pending_call *c);

/* The answer is sent, or none will be. */
void pending_drop(struct pending_call *c);

/* The connection is gone: messages are let go, and whoever still holds a call sees pending_message() == NULL. */
void pending_disconnect(struct pending *p);

#endif
