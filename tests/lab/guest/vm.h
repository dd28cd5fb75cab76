/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The least of KVM that a probe needs: a VM, memory slots, vCPUs that run the
 * payload. Errors are negative errno values; nothing is printed here.
 */

/* Guest-physical layout. The slots under test start at TEST_IPA. */
#define CODE_IPA UINT64_C(0)
#define EXIT_IPA UINT64_C(0x09000000) /* mapped by no slot: a store exits */
#define TEST_IPA UINT64_C(0x100000000)
#define STALL_IPA UINT64_C(0x1000000000)

#define CODE_SIZE UINT64_C(0x20000) /* two pages of the largest granule: code, stop flag */
#define STOP_OFFSET UINT64_C(0x10000)

enum { CODE_SLOT, TEST_SLOT, STALL_SLOT };

struct vm {
	int kvm_fd;
	int fd;
	size_t run_size;
	uint8_t *code; /* CODE_SIZE bytes, shared with the guest */
};

struct vcpu {
	int fd;
	struct kvm_run *run;
	size_t run_size;
};

struct walk {
	uint64_t first; /* guest-physical address */
	uint64_t stride;
	uint64_t count;
	bool write;
	uint64_t salt; /* a write stores address + salt */
};

struct walk_result {
	uint64_t slowest_ticks; /* of one step, in counter ticks */
	uint64_t sum;		/* of all words read */
	uint64_t left;		/* steps not done because of vm_stop_walks() */
};

/* Opens /dev/kvm, makes a VM with a 40-bit IPA and loads the payload. */
int vm_open(struct vm *ret_vm);
void vm_close(struct vm *vm);

/* size 0 deletes the slot. flags as in KVM_SET_USER_MEMORY_REGION. */
int vm_set_slot(const struct vm *vm, unsigned int slot, uint32_t flags, uint64_t ipa, uint64_t size, void *memory);

/* Reads and resets a slot's dirty log; bitmap holds one bit a page. */
int vm_get_log(const struct vm *vm, unsigned int slot, void *bitmap);

/* Makes walks on all vCPUs end at their next step, or lets them run again. */
void vm_stop_walks(const struct vm *vm, bool stop);

int vcpu_open(const struct vm *vm, unsigned int id, struct vcpu *ret_vcpu);
void vcpu_close(struct vcpu *vcpu);

/* Runs one walk to its end. Blocks; one thread a vCPU. */
int vcpu_walk(const struct vcpu *vcpu, const struct walk *walk, struct walk_result *ret_result);
