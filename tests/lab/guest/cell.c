/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "cell.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mark.h"

/* A cell at work. */
struct run {
	const struct cell *cell;
	struct vm vm;
	struct vcpu vcpu;
	struct stall stall;
	uint8_t *memory;
	uint8_t *pass_of;    /* each page: the last pass that wrote it, 0 none */
	uint8_t pass;
	uint8_t *dirty;	     /* bit a page: written since the log was last read */
	uint8_t *log;
	size_t page, pages, block;
};

static const char *const method_names[_METHOD_MAX] = {
	[METHOD_SLOT] = "slot",	    [METHOD_FAULT] = "fault",	  [METHOD_LOGOFF] = "logoff",
	[METHOD_HOLE] = "hole", [METHOD_INPLACE] = "inplace",
};

static const char *const access_names[_ACCESS_MAX] = {
	[ACCESS_RW] = "rw",
	[ACCESS_RO] = "ro",
	[ACCESS_MIXED] = "mixed",
};

const char *method_to_string(enum method method)
{
	return method_names[method];
}

enum method method_from_string(const char *name)
{
	for (int i = 0; i < _METHOD_MAX; i++)
		if (strcmp(method_names[i], name) == 0)
			return i;
	return _METHOD_INVALID;
}

const char *access_to_string(enum access access)
{
	return access_names[access];
}

enum access access_from_string(const char *name)
{
	for (int i = 0; i < _ACCESS_MAX; i++)
		if (strcmp(access_names[i], name) == 0)
			return i;
	return _ACCESS_INVALID;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void interval_begin(struct interval *interval)
{
	mark(0);
	interval->ns = now_ns();
}

static void interval_end(const struct run *run, struct interval *interval, unsigned int which)
{
	interval->ns = now_ns() - interval->ns;
	interval->tag = run->cell->number * 8 + which;
	mark(interval->tag);
}

/* The salt makes what each pass writes to a page a word of its own. */
static uint64_t salt(uint8_t pass)
{
	return (uint64_t)pass << 48;
}

/* Write one word to every stride-th page from first on. */
static int write_pages(struct run *run, size_t first, size_t stride, struct walk_result *ret_result)
{
	size_t count = (run->pages - first + stride - 1) / stride;
	struct walk walk = {
		.first = TEST_IPA + first * run->page,
		.stride = stride * run->page,
		.count = count,
		.write = true,
		.salt = salt(++run->pass),
	};

	for (size_t i = first; i < run->pages; i += stride) {
		run->pass_of[i] = run->pass;
		run->dirty[i / 8] |= (uint8_t)(1 << i % 8);
	}
	return vcpu_walk(&run->vcpu, &walk, ret_result);
}

static int set_slot(struct run *run, uint32_t flags, size_t size)
{
	return vm_set_slot(&run->vm, TEST_SLOT, flags, TEST_IPA, size, run->memory);
}

/* The log must say what was written since it was last read, no more and no less. */
static int read_log(struct run *run, uint64_t *ret_dirty)
{
	uint64_t dirty = 0;
	int r = vm_get_log(&run->vm, TEST_SLOT, run->log);

	if (r < 0)
		return r;
	for (size_t i = 0; i < run->pages; i++)
		dirty += run->log[i / 8] >> i % 8 & 1;
	if (memcmp(run->log, run->dirty, (run->pages + 7) / 8) != 0) {
		printf("dirty log differs from what the guest wrote (%" PRIu64 " pages logged)\n", dirty);
		return -EBADMSG;
	}
	memset(run->dirty, 0, (run->pages + 7) / 8);
	*ret_dirty = dirty;
	return 0;
}

static int check_content(const struct run *run)
{
	for (size_t i = 0; i < run->pages; i++) {
		uint64_t is, want = run->pass_of[i] ? TEST_IPA + i * run->page + salt(run->pass_of[i]) : 0;

		memcpy(&is, run->memory + i * run->page, sizeof(is));
		if (is != want) {
			printf("page %zu holds %#" PRIx64 ", expected %#" PRIx64 "\n", i, is, want);
			return -EBADMSG;
		}
	}
	return 0;
}

static int open_run(struct run *run)
{
	const struct cell *cell = run->cell;
	int r;

	run->page = (size_t)sysconf(_SC_PAGESIZE);
	run->pages = cell->size / run->page;
	run->block = backing_block(cell->backing);
	if (run->block == 0 || cell->size == 0 || cell->size % run->block)
		return -EINVAL;
	run->pass_of = calloc(run->pages, 1);
	run->dirty = calloc(run->pages / 8 + 8, 1);
	run->log = calloc(run->pages / 8 + 8, 1);
	if (!run->pass_of || !run->dirty || !run->log)
		return -ENOMEM;
	r = memory_map(cell->backing, cell->size, (void **)&run->memory);
	if (r == 0)
		r = vm_open(&run->vm);
	if (r == 0)
		r = vcpu_open(&run->vm, 0, &run->vcpu);
	if (r == 0)
		r = set_slot(run, 0, cell->size);
	if (r == 0 && cell->stall_vcpus)
		r = stall_open(&run->stall, &run->vm, cell->stall_vcpus);
	return r;
}

static void close_run(struct run *run)
{
	if (run->vcpu.run)
		vcpu_close(&run->vcpu);
	vm_stop_walks(&run->vm, false);
	stall_close(&run->stall);
	vm_close(&run->vm);
	if (run->memory)
		memory_unmap(run->memory, run->cell->size);
	free(run->pass_of);
	free(run->dirty);
	free(run->log);
}

/* Map whole blocks, then split them the way the cell asks for. */
static int split(struct run *run, struct cell_report *report)
{
	size_t stride = 100 / run->cell->density;
	struct walk_result result;
	int r = write_pages(run, 0, run->block / run->page, &result);

	report->kib_whole = memory_table_kib();
	report->blocks = run->cell->size / run->block;
	memset(run->dirty, 0, (run->pages + 7) / 8);
	interval_begin(&report->logon);
	if (r == 0)
		r = set_slot(run, KVM_MEM_LOG_DIRTY_PAGES, run->cell->size);
	interval_end(run, &report->logon, 0);
	if (r == 0)
		r = write_pages(run, 0, stride, &result);
	if (r == 0)
		r = read_log(run, &report->dirtied);
	if (r == 0 && run->cell->access != ACCESS_RO)
		r = write_pages(run, 0, run->cell->access == ACCESS_RW ? stride : 2 * stride, &result);
	report->kib_split = memory_table_kib();
	return r;
}

/* Touch every block once, in its second page: a hole at any density below 100. */
static int touch(struct run *run, struct cell_report *report)
{
	struct walk_result result = { 0 };
	size_t stride = run->block / run->page;
	int r;

	interval_begin(&report->touch);
	r = write_pages(run, stride > 1 ? 1 : 0, stride, &result);
	interval_end(run, &report->touch, 3);
	return r;
}

static int do_method(struct run *run, struct cell_report *report)
{
	switch (run->cell->method) {
	case METHOD_SLOT:
		return set_slot(run, 0, 0);
	case METHOD_FAULT:
	case METHOD_LOGOFF:
		return 0;
	case METHOD_HOLE:
		return extension_make_hole(&run->vm, TEST_IPA, run->cell->size, &report->extension);
	case METHOD_INPLACE:
		return extension_recover(&run->vm, TEST_IPA, run->cell->size, &report->extension);
	case _METHOD_MAX:
	case _METHOD_INVALID:
		break;
	}
	return -EINVAL;
}

/* Only the stock paths go through calls that holds.h knows. */
static bool has_holds(enum method method)
{
	return method == METHOD_SLOT || method == METHOD_FAULT;
}

static int recover(struct run *run, struct cell_report *report)
{
	struct cell_report r0 = { 0 };
	int r = 0, probed = -ENOTSUP;

	if (run->cell->stall_vcpus)
		r = stall_begin(&run->stall);
	if (has_holds(run->cell->method) && !run->cell->stall_vcpus)
		probed = holds_begin();
	interval_begin(&report->op);
	if (r == 0)
		r = run->cell->method == METHOD_FAULT ? touch(run, &r0) : do_method(run, report);
	interval_end(run, &report->op, 2);
	if (run->cell->method == METHOD_FAULT)
		report->op = r0.touch;
	if (probed == 0)
		probed = holds_end(&report->holds);
	if (run->cell->stall_vcpus) {
		int q = stall_end(&run->stall, &report->stall);

		r = r ? r : q;
	}
	return r;
}

/* Logging off, with the kernel's own recovery only where it is what the cell measures. */
static int log_off(struct run *run, struct cell_report *report)
{
	bool recovers = run->cell->method == METHOD_LOGOFF;
	int r = extension_set_log_off(recovers);

	if (r == 0 && recovers)
		r = extension_watch_begin();
	interval_begin(&report->logoff);
	if (r == 0)
		r = set_slot(run, 0, run->cell->size);
	interval_end(run, &report->logoff, 1);
	if (r == 0 && recovers)
		r = extension_watch_end(&report->extension);
	report->kib_logoff = memory_table_kib();
	return r;
}

int cell_run(const struct cell *cell, struct cell_report *ret_report)
{
	struct run run = { .cell = cell, .vm = { .kvm_fd = -1, .fd = -1 } };
	struct cell_report report = { 0 };
	int r = open_run(&run);

	if (r == 0)
		r = split(&run, &report);
	if (r == 0)
		r = log_off(&run, &report);
	if (r == 0)
		r = recover(&run, &report);
	report.kib_op = memory_table_kib();
	if (r == 0 && cell->method == METHOD_SLOT)
		r = set_slot(&run, 0, cell->size);
	if (cell->method == METHOD_FAULT)
		report.touch = report.op;
	else if (r == 0)
		r = touch(&run, &report);
	report.kib_touch = memory_table_kib();
	if (r == 0)
		r = check_content(&run);
	close_run(&run);
	if (r < 0)
		return r;
	*ret_report = report;
	return 0;
}
