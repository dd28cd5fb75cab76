/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/*
 * How long the stock paths work on stage-2 in one go, by kprobes on the calls
 * that KVM makes once per hold of mmu_lock: kvm_pgtable_stage2_unmap (held for
 * write, one call a step) and kvm_pgtable_stage2_map (held for read, one call
 * a fault). A hold is a little longer than the call.
 */
struct holds {
	uint64_t calls;
	uint64_t longest_ns;
	uint64_t total_ns;
};

/* Arms the probes. -ENOENT: this kernel has no kprobes or no such function. */
int holds_begin(void);

/* Disarms them and reads what was seen since holds_begin(). */
int holds_end(struct holds *ret_holds);
