/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "vm.h"

/* What a patched kernel adds. On a stock one everything here says -ENOTSUP. */

struct extension_result {
	uint64_t flush_calls;
	uint64_t tables;     /* detached, all levels */
	uint64_t leaves;     /* dropped with them */
	uint64_t installed;  /* blocks */
	uint64_t kept;	     /* tables, for whatever reason */
	uint64_t holds;	     /* of mmu_lock in which something was detached: each ends in one flush */
	uint64_t holds_idle; /* those that found nothing */
	uint64_t longest_hold_ns;
	uint64_t free_ns;
};

/* Does log-off recover by itself here? */
bool extension_has_log_off(void);

/* Switches that on or off, so that stock paths can be measured in the same boot. */
int extension_set_log_off(bool on);

/*
 * What log-off recovered, from the kvm_s2_recover events between the two
 * calls, summed up. -ENOTSUP: the kernel has no such event.
 */
int extension_watch_begin(void);
int extension_watch_end(struct extension_result *ret_result);

/* One flush, blocks left to come back by faults; or installed in the same hold. */
int extension_make_hole(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result);
int extension_recover(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result);
