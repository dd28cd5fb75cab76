/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "vm.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/kvm.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

extern const uint8_t payload_begin[], payload_end[];

#define CORE_REG(field)                                                                                           \
	(KVM_REG_ARM64 | KVM_REG_SIZE_U64 | KVM_REG_ARM_CORE |                                                    \
	 (offsetof(struct kvm_regs, regs.field) / sizeof(uint32_t)))
#define X_REG(n) (CORE_REG(regs[0]) + 2 * (uint64_t)(n))

/* EL1h, all interrupts masked */
#define PSTATE_EL1H UINT64_C(0x3c5)

static int load_payload(struct vm *vm)
{
	void *code = mmap(NULL, CODE_SIZE * 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		return -errno;
	vm->code = code;
	memcpy(vm->code, payload_begin, (size_t)(payload_end - payload_begin));
	__builtin___clear_cache((char *)vm->code, (char *)vm->code + CODE_SIZE);
	return vm_set_slot(vm, CODE_SLOT, 0, CODE_IPA, CODE_SIZE, vm->code);
}

int vm_open(struct vm *ret_vm)
{
	struct vm vm = { .kvm_fd = -1, .fd = -1 };
	int r;

	vm.kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm.kvm_fd < 0)
		return -errno;
	vm.fd = ioctl(vm.kvm_fd, KVM_CREATE_VM, 0);
	r = vm.fd < 0 ? -errno : ioctl(vm.kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (r > 0) {
		vm.run_size = (size_t)r;
		r = load_payload(&vm);
	}
	if (r < 0) {
		vm_close(&vm);
		return r;
	}
	*ret_vm = vm;
	return 0;
}

void vm_close(struct vm *vm)
{
	if (vm->code)
		munmap(vm->code, CODE_SIZE * 2);
	if (vm->fd >= 0)
		close(vm->fd);
	if (vm->kvm_fd >= 0)
		close(vm->kvm_fd);
	*vm = (struct vm){ .kvm_fd = -1, .fd = -1 };
}

int vm_set_slot(const struct vm *vm, unsigned int slot, uint32_t flags, uint64_t ipa, uint64_t size, void *memory)
{
	struct kvm_userspace_memory_region region = {
		.slot = slot,
		.flags = flags,
		.guest_phys_addr = ipa,
		.memory_size = size,
		.userspace_addr = (uintptr_t)memory,
	};

	return ioctl(vm->fd, KVM_SET_USER_MEMORY_REGION, &region) < 0 ? -errno : 0;
}

int vm_get_log(const struct vm *vm, unsigned int slot, void *bitmap)
{
	struct kvm_dirty_log log = { .slot = slot, .dirty_bitmap = bitmap };

	return ioctl(vm->fd, KVM_GET_DIRTY_LOG, &log) < 0 ? -errno : 0;
}

void vm_stop_walks(const struct vm *vm, bool stop)
{
	__atomic_store_n((uint64_t *)(vm->code + STOP_OFFSET), stop, __ATOMIC_SEQ_CST);
}

int vcpu_open(const struct vm *vm, unsigned int id, struct vcpu *ret_vcpu)
{
	struct vcpu vcpu = { .fd = ioctl(vm->fd, KVM_CREATE_VCPU, id), .run_size = vm->run_size };
	struct kvm_vcpu_init init;
	void *run;
	int r;

	if (vcpu.fd < 0)
		return -errno;
	run = mmap(NULL, vcpu.run_size, PROT_READ | PROT_WRITE, MAP_SHARED, vcpu.fd, 0);
	if (run == MAP_FAILED) {
		r = -errno;
		close(vcpu.fd);
		return r;
	}
	vcpu.run = run;
	if (ioctl(vm->fd, KVM_ARM_PREFERRED_TARGET, &init) < 0 || ioctl(vcpu.fd, KVM_ARM_VCPU_INIT, &init) < 0) {
		r = -errno;
		vcpu_close(&vcpu);
		return r;
	}
	*ret_vcpu = vcpu;
	return 0;
}

void vcpu_close(struct vcpu *vcpu)
{
	munmap(vcpu->run, vcpu->run_size);
	close(vcpu->fd);
	*vcpu = (struct vcpu){ .fd = -1 };
}

static int set_reg(const struct vcpu *vcpu, uint64_t id, uint64_t value)
{
	struct kvm_one_reg reg = { .id = id, .addr = (uintptr_t)&value };

	return ioctl(vcpu->fd, KVM_SET_ONE_REG, &reg) < 0 ? -errno : 0;
}

static int load_walk(const struct vcpu *vcpu, const struct walk *walk)
{
	const uint64_t x[] = {
		walk->first, walk->stride, walk->count, walk->write, walk->salt, EXIT_IPA, CODE_IPA + STOP_OFFSET,
	};
	int r = set_reg(vcpu, CORE_REG(pc), CODE_IPA);

	if (r == 0)
		r = set_reg(vcpu, CORE_REG(pstate), PSTATE_EL1H);
	for (unsigned int i = 0; r == 0 && i < sizeof(x) / sizeof(x[0]); i++)
		r = set_reg(vcpu, X_REG(i), x[i]);
	return r;
}

/* The payload answers with three stores to EXIT_IPA. */
static int next_answer(const struct vcpu *vcpu, uint64_t *ret_value)
{
	int r;

	do
		r = ioctl(vcpu->fd, KVM_RUN, 0);
	while (r < 0 && errno == EINTR);
	if (r < 0)
		return -errno;
	if (vcpu->run->exit_reason != KVM_EXIT_MMIO || !vcpu->run->mmio.is_write)
		return -EPROTO;
	memcpy(ret_value, vcpu->run->mmio.data, sizeof(*ret_value));
	return 0;
}

int vcpu_walk(const struct vcpu *vcpu, const struct walk *walk, struct walk_result *ret_result)
{
	struct walk_result result = { 0 };
	int r = load_walk(vcpu, walk);

	if (r == 0)
		r = next_answer(vcpu, &result.slowest_ticks);
	if (r == 0)
		r = next_answer(vcpu, &result.sum);
	if (r == 0)
		r = next_answer(vcpu, &result.left);
	if (r < 0)
		return r;
	*ret_result = result;
	return 0;
}
