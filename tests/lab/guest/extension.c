/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "extension.h"

#include <errno.h>
#include <linux/kvm.h>
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
