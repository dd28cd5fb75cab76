/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * A relay between two QEMUs that can be slowed, stalled and cut. It listens on 127.0.0.1:port and passes on to
 * 127.0.0.2:port: the destination is told to listen there, the source to connect here. It has a thread of its own; the
 * calls below may come from any other, one at a time.
 */

#include <stdbool.h>
#include <stdint.h>

struct relay;

/* NULL, with errno set, if the port cannot be had. */
struct relay *relay_new(uint16_t port);
/* Ends all connections. NULL is fine. Returns NULL. */
struct relay *relay_free(struct relay *relay);

/* From source to destination no more than this many bytes a second; 0 is no limit. */
void relay_limit(struct relay *relay, int64_t bytes_s);
/* While stalled, nothing passes in either direction, and nothing is closed. */
void relay_stall(struct relay *relay, bool stalled);
/* Close all connections there are; new ones are taken. */
void relay_cut(struct relay *relay);
