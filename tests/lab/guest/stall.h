/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "vm.h"

#define STALL_VCPUS_MAX 8

/*
 * vCPUs that take stage-2 faults, one after another, in memory of their own
 * while something is done to the VM: the slowest fault is the stall that the
 * something caused. An idle pass first gives the figure to compare with.
 */

struct stall_report {
	uint64_t idle_ns;  /* slowest fault with nothing else going on */
	uint64_t busy_ns;  /* slowest fault between stall_begin() and stall_end() */
	uint64_t faults;   /* taken between the two */
	bool ran_dry;	   /* a vCPU had faulted everything before the end: busy_ns is a lower bound */
};

struct stall_thread {
	struct vcpu vcpu;
	struct walk walk;
	struct walk_result result;
	pthread_t thread;
	int error;
};

struct stall {
	const struct vm *vm;
	unsigned int n;
	void *memory;
	uint64_t pages_each; /* in each of the two passes */
	uint64_t idle_ticks;
	struct stall_thread threads[STALL_VCPUS_MAX];
};

/* Adds a slot and n vCPUs (ids 1 to n) to the VM and runs the idle pass. */
int stall_open(struct stall *stall, const struct vm *vm, unsigned int n);
void stall_close(struct stall *stall);

int stall_begin(struct stall *stall);
int stall_end(struct stall *stall, struct stall_report *ret_report);
