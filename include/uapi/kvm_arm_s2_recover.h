/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * KVM_ARM_S2_RECOVER: find split stage-2 blocks of a VM, and put them back
 * ========================================================================
 *
 * A kernel with the second half of the series in kernel-patch/ has this ioctl.
 * The header works with any kernel headers, old or patched, and needs nothing of
 * the kernel's source.
 *
 * What it is about
 *
 *   Dirty logging, as used by live migration, maps a VM's memory page by page. If
 *   the VM stays on the host after all, its stage-2 page tables stay split. The
 *   ioctl counts what is split, and turns it back into blocks: all of it with one
 *   TLB flush, instead of one flush for each block and only for those that a vCPU
 *   happens to fault in.
 *
 * Is it there?
 *
 *   ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_S2_RECOVER) on /dev/kvm returns 0
 *   or less if not; otherwise a mask. Bit number OP says that operation OP is of
 *   use on this host (KVM_ARM_S2_UNMAP needs FEAT_S2FWB). KVM_ARM_S2_CAP_LOG_OFF
 *   says that the kernel recovers blocks by itself whenever the logging of a
 *   memslot is switched off; it follows kvm.recover_huge_pages, a module parameter
 *   that can change at any time. A kernel with only the first half of the series
 *   recovers by itself and returns 0: look for the parameter
 *   /sys/module/kvm/parameters/recover_huge_pages then.
 *
 * The call
 *
 *   struct kvm_arm_s2_recover r = {
 *           .vm_fd = fd,                 a descriptor of the VM
 *           .op = KVM_ARM_S2_IN_PLACE,
 *           .gpa = 0, .size = 1ULL << 52,
 *   };
 *   do {
 *           ret = ioctl(kvm, KVM_ARM_S2_RECOVER, &r);
 *           ... add up the counts ...
 *   } while (ret == 0 && r.size);        also again on EINTR
 *
 *   kvm is /dev/kvm. The descriptor comes from pidfd_getfd(2) on QEMU, or over a
 *   socket. Close it right after the call: it keeps the VM and its memory.
 *
 *   The caller must be the process that created the VM, or have CAP_SYS_PTRACE in
 *   the user namespace of that process.
 *
 *   gpa and size (bytes, page aligned, no overflow) give a range of guest physical
 *   addresses. They may cover more than the VM has. On return they are what is left
 *   of the range. flags, pad, pad2 and reserved must be 0, on each call.
 *
 *   On failure the struct is left as it was, and errno is
 *     EBADF       vm_fd is not open
 *     EINVAL      vm_fd is no VM, unknown op, field not zero, bad range
 *     EPERM       neither the VM's process nor CAP_SYS_PTRACE over it
 *     EIO         the VM is dead
 *     ESRCH       the VM's process has exited; only its descriptor is left
 *     EINTR       a signal came before anything was done
 *     EFAULT      bad pointer
 *     EOPNOTSUPP  pKVM
 *   and ENOTTY or EINVAL from kernels that do not know the ioctl.
 *
 * Operations
 *
 *   KVM_ARM_S2_DRY_RUN    changes nothing and takes KVM's MMU lock for read only.
 *       One memslot a call, the first that has memory in the range: it is described
 *       by slot, slot_flags (KVM_MEM_*), slot_gpa and slot_size; slot_size is 0 if
 *       there was none. Call again until size is 0.
 *       tables[level]     tables there
 *       blocks[level]     blocks there
 *       leaves            valid entries in last-level tables; of the
 *                         tables[last - 1] << (level_shift[last - 1] - page shift)
 *                         that would fit: how full they are
 *       host_huge[level]  tables where the host maps a block at least that large,
 *                         and the memslot's alignment allows one: what is split
 *                         and need not be
 *       kept[reason]      last-level tables that KVM_ARM_S2_IN_PLACE would keep
 *
 *   KVM_ARM_S2_IN_PLACE   puts blocks where tables were. No faults follow, but one a
 *       block on the first write to memory that was only read so far, and on the
 *       first instruction fetched from memory not wholly executed so far.
 *
 *   KVM_ARM_S2_UNMAP      removes tables and lets the guest's faults map the blocks.
 *       Shorter hold of the lock, one fault a block afterwards. Does not touch
 *       blocks. Without FEAT_S2FWB it removes nothing (kept[HOLES]).
 *
 *   The last two skip memslots that log dirty pages (slots_skipped), and consider
 *   only tables that lie inside one memslot and inside the range.
 *       tables[level]     tables freed
 *       blocks[level]     blocks installed (0 for UNMAP)
 *       leaves            valid entries in the freed tables
 *       kept[reason]      tables kept, of any level
 *
 * Counts and times
 *
 *   Counts are for one call, not for one range: add them up. A level is that of the
 *   entry that points to the table or is the block; 1 << level_shift[level] bytes is
 *   what it covers. With 4 KiB pages 1 is 1 GiB and 2 is 2 MiB.
 *
 *   holds is how often the MMU lock was taken for write and something changed, and
 *   flushes the number of TLB flush calls: they are equal. It is 1 unless somebody
 *   waited for the lock or the CPU. holds_idle: taken, nothing changed. hold_max_ns:
 *   the longest of these holds. walk_ns, flush_ns and install_ns passed with the
 *   lock held, free_ns without. A dry run fills in walk_ns only.
 *
 * Why a table is kept
 *
 *   KVM_ARM_S2_KEPT_LOGGING       the memslot logs dirty pages or may not be touched
 *   KVM_ARM_S2_KEPT_RANGE         reaches out of the memslot or the range, or guest
 *                                 and host addresses are not equally aligned
 *   KVM_ARM_S2_KEPT_INVALIDATING  the host was changing its mapping: try again
 *   KVM_ARM_S2_KEPT_HOST          the host maps nothing there, or smaller units
 *   KVM_ARM_S2_KEPT_PHYS          an entry maps other memory than the host does
 *   KVM_ARM_S2_KEPT_ATTR          attributes differ, or not write-back memory
 *   KVM_ARM_S2_KEPT_HOLES         entries missing, and no FWB, or MTE in use
 *   KVM_ARM_S2_KEPT_CHILD         a table below was kept
 *
 * The numbers
 *
 *   of the ioctl and of the capability are chosen far from those that upstream will
 *   give out next, because this is not upstream. They change if it gets there.
 */

#ifndef ROLLBACKD_UAPI_KVM_ARM_S2_RECOVER_H
#define ROLLBACKD_UAPI_KVM_ARM_S2_RECOVER_H

#include <linux/ioctl.h>
#include <linux/kvm.h>
#include <linux/types.h>

/* Headers of a patched kernel have all of this already. */
#ifndef KVM_CAP_ARM_S2_RECOVER

#define KVM_CAP_ARM_S2_RECOVER	21058

#define KVM_ARM_S2_RECOVER	_IOWR(KVMIO, 0xf0, struct kvm_arm_s2_recover)

/* kvm_arm_s2_recover.op; as bits, what KVM_CAP_ARM_S2_RECOVER returns */
#define KVM_ARM_S2_DRY_RUN		0
#define KVM_ARM_S2_UNMAP		1
#define KVM_ARM_S2_IN_PLACE		2

/* Further bits that KVM_CAP_ARM_S2_RECOVER returns */
#define KVM_ARM_S2_CAP_LOG_OFF		(1U << 16)

/* Indices of kvm_arm_s2_recover.kept */
#define KVM_ARM_S2_KEPT_LOGGING		0
#define KVM_ARM_S2_KEPT_RANGE		1
#define KVM_ARM_S2_KEPT_INVALIDATING	2
#define KVM_ARM_S2_KEPT_HOST		3
#define KVM_ARM_S2_KEPT_PHYS		4
#define KVM_ARM_S2_KEPT_ATTR		5
#define KVM_ARM_S2_KEPT_HOLES		6
#define KVM_ARM_S2_KEPT_CHILD		7
#define KVM_ARM_S2_KEPT_MAX		16

#define KVM_ARM_S2_LEVELS		4

struct kvm_arm_s2_recover {
	/* in */
	__s32 vm_fd;
	__u32 op;
	__u32 flags;
	__u32 pad;
	/* in/out */
	__u64 gpa;
	__u64 size;
	/* out */
	__u8 level_shift[KVM_ARM_S2_LEVELS];
	__u32 slot;
	__u32 slot_flags;
	__u32 pad2;
	__u64 slot_gpa;
	__u64 slot_size;
	__u64 tables[KVM_ARM_S2_LEVELS];
	__u64 blocks[KVM_ARM_S2_LEVELS];
	__u64 host_huge[KVM_ARM_S2_LEVELS];
	__u64 kept[KVM_ARM_S2_KEPT_MAX];
	__u64 leaves;
	__u64 visited;
	__u64 slots_skipped;
	__u64 flushes;
	__u64 holds;
	__u64 holds_idle;
	__u64 walk_ns;
	__u64 flush_ns;
	__u64 install_ns;
	__u64 free_ns;
	__u64 hold_max_ns;
	__u64 reserved[16];
};

#endif /* KVM_CAP_ARM_S2_RECOVER */

#endif /* ROLLBACKD_UAPI_KVM_ARM_S2_RECOVER_H */
