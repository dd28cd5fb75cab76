/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_BUS_H
#define ROLLBACKCTL_BUS_H

/* The way to rollbackd. What fails is recorded in the ctl as a sentence that says what to do. */

#include <systemd/sd-bus.h>

#include "ctl.h"

/* How long one answer may take: the daemon answers from memory or from a local file. */
#define BUS_TIMEOUT_USEC (10 * UINT64_C(1000000))

/* Opens the bus that the options name. 0 or an exit code. */
int bus_open(struct ctl *c, sd_bus **ret_);

/* The same, quietly: 0 or a negative errno. */
int bus_open_quietly(const struct ctl *c, sd_bus **ret_);
const char *bus_name(const struct ctl *c); /* "the system bus", "the bus at ADDRESS" (to be made safe) */

/* Calls a method of rollbackd. 0 or an exit code; *ret_ then holds nothing. */
int bus_call(struct ctl *c, sd_bus *bus, const char *path, const char *interface, const char *method, sd_bus_message **ret_,
	     const char *types, ...);

/* Sends a call that was made with sd_bus_message_new_method_call(). */
int bus_send(struct ctl *c, sd_bus *bus, sd_bus_message *call, sd_bus_message **ret_);

/* Records what an error of a call means; returns the exit code. r is the negative errno. */
int bus_explain(struct ctl *c, const sd_bus_error *e, int r);

/* Is the name rollbackd's, and nobody there? (Not: an error that the daemon itself gave.) */
bool bus_error_is_absence(const sd_bus_error *e);

/* A message that does not look as its contract says. */
int bus_bad_answer(struct ctl *c, int r);

static inline void bus_messagep(sd_bus_message **m)
{
	sd_bus_message_unref(*m);
}
static inline void bus_closep(sd_bus **b)
{
	sd_bus_flush_close_unref(*b);
}
#define _cleanup_message_ __attribute__((cleanup(bus_messagep)))
#define _cleanup_bus_ __attribute__((cleanup(bus_closep)))
#define _cleanup_bus_error_ __attribute__((cleanup(sd_bus_error_free)))

#endif
