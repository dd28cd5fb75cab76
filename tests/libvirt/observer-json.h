/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* One JSON object a line, written and flushed as a whole. Lines may come from any thread. */

#include <stdint.h>
#include <stdio.h>

#include <libvirt/libvirt.h>

/* Where lines go; stays the caller's. Call once, before any thread writes. */
void json_open(FILE *output);

/* The lock that keeps lines whole: begin takes it, end writes "}\n", flushes and lets go. */
void json_begin(const char *kind);
void json_end(void);

/* Begin an event's line: "kind" with both clocks as they were at arrival, and the domain if there is one. */
struct arrival {
	int64_t mono_ns; /* CLOCK_MONOTONIC */
	int64_t real_us; /* CLOCK_REALTIME */
};
struct arrival arrival_now(void);
void json_begin_event(struct arrival at, virDomainPtr domain, const char *kind);

void json_text(const char *key, const char *value);
void json_number(const char *key, int64_t value);
/* `value` is JSON already; NULL is written as null. */
void json_raw(const char *key, const char *value);
void json_params(const char *key, const virTypedParameter *params, int n);
