/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor.h"
#include "uapi/kvm_arm_s2_recover.h"

static const char kvm_lost[] = "guests run in software emulation; there is nothing to tear down, migrations are watched all the same";
static const char extension_lost[] = "after a rollback a guest's memory stays mapped page by page; rollbackd only reports it";
static const char extension_remedy[] = "a kernel with the series of kernel-patch/";

static int look_at_device(struct doctor *d)
{
	_cleanup_free_ char *path = xprintf("%s/kvm", d->dev);
	int fd = open(path, O_RDWR | O_CLOEXEC), version;

	if (fd < 0) {
		doctor_add(d, "kvm", DOCTOR_MISSING, 0, "/dev/kvm", kvm_lost,
			   errno == ENOENT ? "load the module kvm_intel, kvm_amd or (arm64) boot at EL2; in a VM: allow nesting"
					   : "membership in the group kvm, and DeviceAllow=/dev/kvm in the unit",
			   "%s", errno == ENOENT ? "not there" : strerror(errno));
		return -1;
	}
	version = ioctl(fd, KVM_GET_API_VERSION, 0);
	if (version == KVM_API_VERSION) {
		doctor_add(d, "kvm", DOCTOR_OK, 0, "/dev/kvm", kvm_lost, NULL, "usable, API version %d", version);
		return fd;
	}
	doctor_add(d, "kvm", DOCTOR_MISSING, 0, "/dev/kvm", kvm_lost, "a /dev/kvm that is KVM's", "there but unusable: %s",
		   version < 0 ? strerror(errno) : "another API version than 12");
	close(fd);
	return -1;
}

static bool recovers_by_itself(const struct doctor *d)
{
	_cleanup_free_ char *text = doctor_read(DOCTOR_SMALL, d->sys, "module/kvm/parameters/recover_huge_pages");

	return text && (*text == 'Y' || *text == '1');
}

static void look_at_extension(struct doctor *d, int kvm)
{
	bool arm = strcmp(d->machine, "aarch64") == 0, own = recovers_by_itself(d);
	int mask = kvm >= 0 && arm ? ioctl(kvm, KVM_CHECK_EXTENSION, KVM_CAP_ARM_S2_RECOVER) : 0;

	if (mask > 0)
		doctor_add(d, "kvm-extension", DOCTOR_OK, 0, "KVM extension", extension_lost, NULL, "there (mask %#x)%s", (unsigned) mask,
			   own ? "; the kernel also recovers blocks by itself" : "");
	else if (own)
		doctor_add(d, "kvm-extension", DOCTOR_OK, 0, "KVM extension", extension_lost, NULL,
			   "not there, and the kernel recovers blocks by itself (kvm.recover_huge_pages)");
	else if (!arm && strcmp(d->machine, "x86_64") == 0)
		doctor_add(d, "kvm-extension", DOCTOR_OK, 0, "KVM extension", extension_lost, NULL,
			   "not needed: KVM on x86 restores large pages by itself when a migration's logging ends");
	else if (kvm < 0)
		doctor_add(d, "kvm-extension", DOCTOR_UNKNOWN, 0, "KVM extension", extension_lost, extension_remedy, "cannot be asked for without /dev/kvm");
	else
		doctor_add(d, "kvm-extension", DOCTOR_MISSING, 0, "KVM extension", extension_lost, extension_remedy, "not in this kernel");
}

/* Table memory counts show on any kernel whether a guest is still split. */
static void look_at_accounting(struct doctor *d)
{
	static const char lost[] = "on a stock kernel nothing tells whether a guest is still split";
	_cleanup_free_ char *text = doctor_read(DOCTOR_SMALL, d->proc, "meminfo");
	uint64_t kib;

	if (!text)
		doctor_add(d, "table-memory", DOCTOR_UNKNOWN, 0, "table memory", lost, NULL, "meminfo: %s", strerror(errno));
	else if (doctor_number(text, "SecPageTables:", 10, &kib))
		doctor_add(d, "table-memory", DOCTOR_OK, 0, "table memory", lost, NULL, "counted, %llu KiB of stage-2 tables on this host now",
			   (unsigned long long) kib);
	else
		doctor_add(d, "table-memory", DOCTOR_MISSING, 0, "table memory", lost, "a kernel of 6.1 or later", "SecPageTables is not counted");
}

void doctor_kvm(struct doctor *d)
{
	int kvm = look_at_device(d);

	look_at_extension(d, kvm);
	look_at_accounting(d);
	if (kvm >= 0)
		close(kvm);
}
