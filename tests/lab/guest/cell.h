/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "extension.h"
#include "holds.h"
#include "memory.h"
#include "stall.h"

/*
 * One cell of the table: a VM whose memory is mapped by blocks, split by dirty
 * logging in a given way, and brought back by a given method.
 */

enum method {
	METHOD_SLOT,	/* stock: delete the slot, add it again */
	METHOD_FAULT,	/* stock: the guest's own faults collapse blocks */
	METHOD_LOGOFF,	/* the kernel recovers when logging is switched off */
	METHOD_HOLE,	/* extension: unmap the range with one flush */
	METHOD_INPLACE, /* extension: install blocks in the same hold */
	_METHOD_MAX,
	_METHOD_INVALID = -1,
};

/* What the guest has to the 4 KiB pages it dirtied when logging ends. */
enum access {
	ACCESS_RW, /* written after the last read of the log */
	ACCESS_RO, /* write-protected by it */
	ACCESS_MIXED, /* every second one written again */
	_ACCESS_MAX,
	_ACCESS_INVALID = -1,
};

struct cell {
	unsigned int number; /* in this boot; tags of the plugin derive from it */
	enum backing backing;
	enum method method;
	enum access access;
	size_t size;		  /* bytes, a multiple of the backing's block */
	unsigned int density;	  /* percent of pages dirtied: 1, 50, 100 */
	unsigned int stall_vcpus; /* 0: do not measure stalls */
};

/* An interval: its length and the tag of its counts. */
struct interval {
	uint64_t ns;
	unsigned int tag;
};

struct cell_report {
	struct interval logon, logoff, op, touch;
	long kib_whole, kib_split, kib_logoff, kib_op, kib_touch; /* of stage-2 tables */
	uint64_t blocks, dirtied;
	uint64_t slowest_touch_ns;
	struct holds holds; /* of op; calls == 0 where nothing could be probed */
	struct extension_result extension;
	struct stall_report stall;
};

const char *method_to_string(enum method method);
enum method method_from_string(const char *name);
const char *access_to_string(enum access access);
enum access access_from_string(const char *name);

/*
 * Runs the cell. Negative errno as met; -ENOTSUP: this kernel or its memory
 * cannot; -EBADMSG: the dirty log or the memory's content is wrong, told on
 * stdout.
 */
int cell_run(const struct cell *cell, struct cell_report *ret_report);
