/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "extension.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "memory.h"

#if __has_include("kvm_arm_s2_recover.h")
#include "kvm_arm_s2_recover.h"
#endif

/* Part A's switch. */
#define PARAMETER "/sys/module/kvm/parameters/recover_huge_pages"

bool extension_has_log_off(void)
{
	return access(PARAMETER, F_OK) == 0;
}

int extension_set_log_off(bool on)
{
	if (!extension_has_log_off())
		return on ? -ENOTSUP : 0;
	return write_file(PARAMETER, on ? "Y" : "N");
}

#define TRACING "/sys/kernel/tracing/"
#define EVENT TRACING "events/kvm/kvm_s2_recover/enable"

int extension_watch_begin(void)
{
	int r;

	if (access(EVENT, F_OK) < 0)
		return -ENOTSUP;
	r = write_file(TRACING "trace", "");
	return r < 0 ? r : write_file(EVENT, "1");
}

/* The sum of " key a" or " key a+b"; of a the first only where that is asked for. */
static uint64_t event_number(const char *line, const char *key, bool first_only)
{
	const char *at = strstr(line, key);
	char *end;
	uint64_t n;

	if (!at)
		return 0;
	n = strtoull(at + strlen(key), &end, 10);
	return *end == '+' && !first_only ? n + strtoull(end + 1, NULL, 10) : n;
}

/* " kept {0x0,0x2,...}" */
static uint64_t event_kept(const char *line)
{
	const char *at = strstr(line, " kept {");
	uint64_t sum = 0;
	char *end;

	for (at = at ? at + strlen(" kept {") : NULL; at; at = *end == ',' ? end + 1 : NULL)
		sum += strtoull(at, &end, 16);
	return sum;
}

static void add_event(struct extension_result *sum, const char *line)
{
	uint64_t longest = event_number(line, " hold_max_ns ", false), holds = event_number(line, " holds ", true);

	sum->flush_calls += event_number(line, " flushes ", false);
	sum->tables += event_number(line, " tables ", false);
	sum->leaves += event_number(line, " leaves ", false);
	sum->installed += event_number(line, " blocks ", false);
	sum->kept += event_kept(line);
	sum->holds += holds;
	sum->holds_idle += event_number(line, " holds ", false) - holds;
	sum->free_ns += event_number(line, " free_ns ", false);
	if (longest > sum->longest_hold_ns)
		sum->longest_hold_ns = longest;
}

int extension_watch_end(struct extension_result *ret_result)
{
	struct extension_result sum = { 0 };
	char line[2048];
	FILE *trace;
	int r = write_file(EVENT, "0");

	if (r < 0)
		return r;
	trace = fopen(TRACING "trace", "re");
	if (!trace)
		return -errno;
	while (fgets(line, sizeof(line), trace))
		if (strstr(line, "kvm_s2_recover:"))
			add_event(&sum, line);
	fclose(trace);
	*ret_result = sum;
	return 0;
}

#ifdef KVM_ARM_S2_RECOVER
static void add_result(struct extension_result *sum, const struct kvm_arm_s2_recover *one)
{
	for (int i = 0; i < KVM_ARM_S2_LEVELS; i++) {
		sum->tables += one->tables[i];
		sum->installed += one->blocks[i];
	}
	for (int i = 0; i < KVM_ARM_S2_KEPT_MAX; i++)
		sum->kept += one->kept[i];
	sum->flush_calls += one->flushes;
	sum->holds += one->holds;
	sum->holds_idle += one->holds_idle;
	sum->leaves += one->leaves;
	sum->free_ns += one->free_ns;
	if (one->hold_max_ns > sum->longest_hold_ns)
		sum->longest_hold_ns = one->hold_max_ns;
}

/* The call advances gpa and size; interrupted, it is made again for the rest. */
static int call(const struct vm *vm, uint32_t op, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	struct kvm_arm_s2_recover arg = { .vm_fd = vm->fd, .op = op, .gpa = ipa, .size = size };
	struct extension_result sum = { 0 };

	while (arg.size > 0) {
		struct kvm_arm_s2_recover next = { .vm_fd = vm->fd, .op = op, .gpa = arg.gpa, .size = arg.size };

		if (ioctl(vm->kvm_fd, KVM_ARM_S2_RECOVER, &next) < 0) {
			if (errno == EINTR)
				continue;
			return errno == ENOTTY || errno == EINVAL ? -ENOTSUP : -errno;
		}
		if (next.size >= arg.size)
			return -EPROTO;
		add_result(&sum, &next);
		arg = next;
	}
	*ret_result = sum;
	return 0;
}

int extension_make_hole(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	return call(vm, KVM_ARM_S2_UNMAP, ipa, size, ret_result);
}

int extension_recover(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	return call(vm, KVM_ARM_S2_IN_PLACE, ipa, size, ret_result);
}
#else
int extension_make_hole(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	(void)vm;
	(void)ipa;
	(void)size;
	(void)ret_result;
	return -ENOTSUP;
}

int extension_recover(const struct vm *vm, uint64_t ipa, uint64_t size, struct extension_result *ret_result)
{
	return extension_make_hole(vm, ipa, size, ret_result);
}
#endif
