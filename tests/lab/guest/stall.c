/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "stall.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

/* Of one vCPU in one pass: long enough for the idle pass to see the scheduler. */
#define PASS_BYTES (UINT64_C(32) << 20)

static uint64_t ticks_to_ns(uint64_t ticks)
{
	uint64_t hz;

	__asm__("mrs %0, cntfrq_el0" : "=r"(hz));
	return (uint64_t)((double)ticks * 1e9 / (double)hz);
}

static void *run_walk(void *user)
{
	struct stall_thread *t = user;

	t->error = vcpu_walk(&t->vcpu, &t->walk, &t->result);
	return NULL;
}

static int start_pass(struct stall *stall, unsigned int pass)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	vm_stop_walks(stall->vm, false);
	for (unsigned int i = 0; i < stall->n; i++) {
		struct stall_thread *t = &stall->threads[i];

		t->walk = (struct walk){
			.first = STALL_IPA + (2 * i + pass) * PASS_BYTES,
			.stride = page,
			.count = stall->pages_each,
			.write = true,
		};
		if (pthread_create(&t->thread, NULL, run_walk, t) != 0)
			return -EAGAIN;
	}
	return 0;
}

static int join_pass(struct stall *stall, uint64_t *ret_slowest, uint64_t *ret_left)
{
	uint64_t slowest = 0, left = 0;
	int r = 0;

	for (unsigned int i = 0; i < stall->n; i++) {
		struct stall_thread *t = &stall->threads[i];

		pthread_join(t->thread, NULL);
		if (t->error < 0)
			r = t->error;
		if (t->result.slowest_ticks > slowest)
			slowest = t->result.slowest_ticks;
		left += t->result.left;
	}
	vm_stop_walks(stall->vm, false);
	*ret_slowest = slowest;
	*ret_left = left;
	return r;
}

int stall_open(struct stall *stall, const struct vm *vm, unsigned int n)
{
	uint64_t size = 2 * n * PASS_BYTES, left;
	int r;

	memset(stall, 0, sizeof(*stall));
	stall->vm = vm;
	stall->pages_each = PASS_BYTES / (uint64_t)sysconf(_SC_PAGESIZE);
	r = memory_map(BACKING_BASE, size, &stall->memory);
	if (r == 0)
		r = vm_set_slot(vm, STALL_SLOT, 0, STALL_IPA, size, stall->memory);
	for (; r == 0 && stall->n < n; stall->n++)
		r = vcpu_open(vm, stall->n + 1, &stall->threads[stall->n].vcpu);
	if (r == 0)
		r = start_pass(stall, 0);
	if (r == 0)
		r = join_pass(stall, &stall->idle_ticks, &left);
	return r;
}

void stall_close(struct stall *stall)
{
	for (unsigned int i = 0; i < stall->n; i++)
		vcpu_close(&stall->threads[i].vcpu);
	if (stall->memory)
		memory_unmap(stall->memory, 2 * stall->n * PASS_BYTES);
	memset(stall, 0, sizeof(*stall));
}

int stall_begin(struct stall *stall)
{
	int r = start_pass(stall, 1);

	/* all of them are at it before the something begins */
	usleep(100000);
	return r;
}

int stall_end(struct stall *stall, struct stall_report *ret_report)
{
	uint64_t slowest, left;
	int r;

	vm_stop_walks(stall->vm, true);
	r = join_pass(stall, &slowest, &left);
	if (r < 0)
		return r;
	*ret_report = (struct stall_report){
		.idle_ns = ticks_to_ns(stall->idle_ticks),
		.busy_ns = ticks_to_ns(slowest),
		.faults = stall->n * stall->pages_each - left,
		.ran_dry = left == 0,
	};
	return 0;
}
