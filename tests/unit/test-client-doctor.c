/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* doctor on trees that the test makes: hosts that this machine is not. */

#include <errno.h>
#include <ftw.h>
#include <locale.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "doctor-print.h"
#include "test-client-check.h"

static char root[] = "/tmp/rollbackctl-doctor-XXXXXX";
static char proc[64], sys[64], dev[64];

static void make_parents(char *path)
{
	for (char *p = path + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(path, 0755);
		*p = '/';
	}
}

static void put(const char *base, const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", base, name);
	make_parents(path);
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) != 0) {
		perror(path);
		exit(99);
	}
}

static void put_link(const char *base, const char *name, const char *target)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", base, name);
	make_parents(path);
	if (symlink(target, path) < 0) {
		perror(path);
		exit(99);
	}
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void) st, (void) type;
	return ftw->level > 0 ? remove(path) : 0;
}

static struct doctor begin(void)
{
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	mkdir(proc, 0755);
	mkdir(sys, 0755);
	mkdir(dev, 0755);
	return (struct doctor) { .proc = proc, .sys = sys, .dev = dev, .page_size = 4096, .machine = "aarch64", .group = "Test" };
}

static char nothing[1];
static const struct finding none = { .found = nothing, .state = DOCTOR_STATE_MAX };

static const struct finding *find(const struct doctor *d, const char *id)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->findings[i].id, id) == 0)
			return &d->findings[i];
	printf("# no finding \"%s\"\n", id);
	check_failures++;
	return &none;
}

static void expect(const struct doctor *d, const char *id, enum doctor_state state, const char *found)
{
	const struct finding *f = find(d, id);

	CHECK_TEXT(f->found, found);
	if (f->state != state) {
		printf("# %s: state %d, expected %d\n", id, (int) f->state, (int) state);
		check_failures++;
	}
	/* What is missing says what is lost. */
	CHECK(f->state != DOCTOR_MISSING || (f->lost && f->remedy));
}

static void put_status(const char *capabilities)
{
	char text[128];

	snprintf(text, sizeof(text), "Name:\trollbackctl\nCapPrm:\tffffffffffffffff\nCapEff:\t%s\n", capabilities);
	put(proc, "self/status", text);
}

static void test_yama(void)
{
	struct doctor d = begin();

	put_status("0000000000080000"); /* CAP_SYS_PTRACE alone */
	put(proc, "sys/kernel/yama/ptrace_scope", "1\n");
	doctor_rights(&d);
	expect(&d, "yama", DOCTOR_OK, "level 1 (descendants only, unless CAP_SYS_PTRACE)");
	doctor_done(&d);

	d = begin();
	put_status("0000000000000002"); /* CAP_DAC_OVERRIDE alone */
	put(proc, "sys/kernel/yama/ptrace_scope", "2\n");
	put(proc, "self/clear_refs", "");
	doctor_rights(&d);
	expect(&d, "yama", DOCTOR_MISSING, "level 2 (CAP_SYS_PTRACE only), and CAP_SYS_PTRACE is not there");
	expect(&d, "clear-refs", DOCTOR_OK, "writable, with CAP_DAC_OVERRIDE");
	doctor_done(&d);

	d = begin();
	put_status("ffffffffffffffff");
	put(proc, "sys/kernel/yama/ptrace_scope", "3\n");
	doctor_rights(&d);
	expect(&d, "yama", DOCTOR_MISSING, "level 3: even root is refused");
	expect(&d, "clear-refs", DOCTOR_MISSING, "not in this kernel");
	doctor_done(&d);
}

static void test_rights_without_capabilities(void)
{
	struct doctor d = begin();

	put_status("0000000000000000");
	put(proc, "self/clear_refs", "");
	doctor_rights(&d);
	expect(&d, "yama", DOCTOR_OK, "not in this kernel");
	expect(&d, "clear-refs", DOCTOR_MISSING, "there, but without CAP_DAC_OVERRIDE only for own processes");
	doctor_done(&d);
}

/* Really tried, on a child of this very process: as root without yama 3 and without a filter it has to work. */
static void test_pidfd_getfd_is_tried(void)
{
	struct doctor d = begin();
	const struct finding *f;

	put_status("ffffffffffffffff");
	doctor_rights(&d);
	f = find(&d, "pidfd-getfd");
	CHECK(f->state == DOCTOR_OK || f->state == DOCTOR_MISSING);
	CHECK((f->state == DOCTOR_OK) == (strstr(f->found, "works") != NULL));
	doctor_done(&d);
}

static void test_clear_refs_is_never_written(void)
{
	struct doctor d = begin();
	char path[128];
	struct stat st;

	put_status("ffffffffffffffff");
	put(proc, "self/clear_refs", "x");
	doctor_rights(&d);
	snprintf(path, sizeof(path), "%s/self/clear_refs", proc);
	CHECK(stat(path, &st) == 0 && st.st_size == 1);
	doctor_done(&d);
}

static void test_kvm(void)
{
	struct doctor d = begin();

	put(proc, "meminfo", "MemTotal: 1 kB\nSecPageTables:       556 kB\n");
	doctor_kvm(&d);
	expect(&d, "kvm", DOCTOR_MISSING, "not there");
	expect(&d, "kvm-extension", DOCTOR_UNKNOWN, "cannot be asked for without /dev/kvm");
	expect(&d, "table-memory", DOCTOR_OK, "counted, 556 KiB of stage-2 tables on this host now");
	doctor_done(&d);

	d = begin();
	put(dev, "kvm", "");
	put(proc, "meminfo", "MemTotal: 1 kB\n");
	put(sys, "module/kvm/parameters/recover_huge_pages", "Y\n");
	doctor_kvm(&d);
	expect(&d, "kvm", DOCTOR_MISSING, "there but unusable: Inappropriate ioctl for device");
	expect(&d, "kvm-extension", DOCTOR_OK, "not there, and the kernel recovers blocks by itself (kvm.recover_huge_pages)");
	expect(&d, "table-memory", DOCTOR_MISSING, "SecPageTables is not counted");
	doctor_done(&d);

	d = begin();
	d.machine = "x86_64";
	doctor_kvm(&d);
	expect(&d, "kvm-extension", DOCTOR_OK, "not needed: KVM on x86 restores large pages by itself when a migration's logging ends");
	expect(&d, "table-memory", DOCTOR_UNKNOWN, "meminfo: No such file or directory");
	doctor_done(&d);
}

static void put_tracing(const char *base, const char *readme, const char *clocks)
{
	char name[128];

	snprintf(name, sizeof(name), "%s/README", base);
	put(sys, name, readme);
	snprintf(name, sizeof(name), "%s/trace_clock", base);
	put(sys, name, clocks);
	snprintf(name, sizeof(name), "%s/events/enable", base);
	put(sys, name, "0\n");
}

static void test_tracing(void)
{
	struct doctor d = begin();

	put_tracing("kernel/tracing", "mini-HOWTO\n\t Format: hist:keys=<field1>\n", "[local] global counter uptime perf mono mono_raw\n");
	put(sys, "kernel/tracing/synthetic_events", "");
	put(sys, "kernel/tracing/events/kvm/kvm_entry/id", "1\n");
	put(sys, "kernel/tracing/events/kvm/kvm_exit/id", "2\n");
	put(proc, "self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
	put(sys, "fs/cgroup/cgroup.controllers", "cpuset cpu io memory hugetlb pids\n");
	doctor_tracing(&d);
	expect(&d, "tracefs", DOCTOR_OK, "mounted");
	expect(&d, "hist-triggers", DOCTOR_OK, "there, with synthetic events and the clock mono");
	expect(&d, "kvm-tracepoints", DOCTOR_OK, "kvm_entry and kvm_exit");
	expect(&d, "cgroup", DOCTOR_OK, "version 2, with the memory controller");
	doctor_done(&d);

	d = begin();
	put_tracing("kernel/debug/tracing", "mini-HOWTO without it\n", "[local] mono\n");
	put(proc, "self/mounts", "tmpfs /sys/fs/cgroup tmpfs ro 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n");
	doctor_tracing(&d);
	expect(&d, "tracefs", DOCTOR_OK, "mounted");
	expect(&d, "hist-triggers", DOCTOR_MISSING, "not in this kernel");
	expect(&d, "kvm-tracepoints", DOCTOR_MISSING, "kvm_entry and kvm_exit are not there");
	expect(&d, "cgroup", DOCTOR_MISSING, "hybrid: controllers are those of version 1");
	doctor_done(&d);
}

static void test_tracing_without_mono(void)
{
	struct doctor d = begin();

	put_tracing("kernel/tracing", "hist:keys\n", "[local] global mono_raw\n");
	put(sys, "kernel/tracing/synthetic_events", "");
	put(proc, "self/mounts", "cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n");
	doctor_tracing(&d);
	expect(&d, "hist-triggers", DOCTOR_MISSING, "no trace clock \"mono\"");
	expect(&d, "cgroup", DOCTOR_MISSING, "version 1");
	doctor_done(&d);

	d = begin();
	put(proc, "filesystems", "nodev\tsysfs\n");
	put(proc, "self/mounts", "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n");
	put(sys, "fs/cgroup/cgroup.controllers", "cpu io\n");
	doctor_tracing(&d);
	expect(&d, "tracefs", DOCTOR_MISSING, "not in this kernel");
	expect(&d, "hist-triggers", DOCTOR_UNKNOWN, "cannot be seen without tracefs");
	expect(&d, "cgroup", DOCTOR_MISSING, "version 2, without the memory controller");
	doctor_done(&d);
}

static void test_security(void)
{
	struct doctor d = begin();

	put(sys, "kernel/security/lockdown", "none integrity [confidentiality]\n");
	put(sys, "fs/selinux/enforce", "1");
	put(sys, "fs/selinux/booleans/deny_ptrace", "1 1");
	put(sys, "module/apparmor/parameters/enabled", "Y\n");
	put(proc, "self/attr/apparmor/current", "rollback\033[2Jd (enforce)\n");
	doctor_security(&d);
	expect(&d, "lockdown", DOCTOR_MISSING, "confidentiality");
	expect(&d, "selinux", DOCTOR_MISSING, "enforcing, with deny_ptrace on");
	expect(&d, "apparmor", DOCTOR_OK, "enabled; this process is confined by: rollback\\x1b[2Jd (enforce)");
	doctor_done(&d);

	d = begin();
	put(sys, "kernel/security/lockdown", "none [integrity] confidentiality\n");
	put(sys, "fs/selinux/enforce", "0");
	doctor_security(&d);
	expect(&d, "lockdown", DOCTOR_OK, "integrity");
	expect(&d, "selinux", DOCTOR_OK, "permissive");
	expect(&d, "apparmor", DOCTOR_OK, "not enabled");
	doctor_done(&d);

	d = begin();
	doctor_security(&d);
	expect(&d, "lockdown", DOCTOR_UNKNOWN, "securityfs is not mounted: cannot be read");
	CHECK(find(&d, "lockdown")->remedy && strstr(find(&d, "lockdown")->remedy, "mount -t securityfs"));
	expect(&d, "selinux", DOCTOR_OK, "not enabled");
	doctor_done(&d);
}

static void put_pool(unsigned kib, const char *all, const char *unused)
{
	char name[128];

	snprintf(name, sizeof(name), "kernel/mm/hugepages/hugepages-%ukB/nr_hugepages", kib);
	put(sys, name, all);
	snprintf(name, sizeof(name), "kernel/mm/hugepages/hugepages-%ukB/free_hugepages", kib);
	put(sys, name, unused);
}

static void test_page_sizes_are_data(void)
{
	static const struct {
		uint64_t page_size;
		const char *text;
	} cases[] = {
		{ 4096, "4 KiB; the smallest block is 2 MiB (512 pages)" },
		{ 16384, "16 KiB; the smallest block is 32 MiB (2048 pages)" },
		{ 65536, "64 KiB; the smallest block is 512 MiB (8192 pages)" },
	};

	for (size_t i = 0; i < 3; i++) {
		struct doctor d = begin();

		d.page_size = cases[i].page_size;
		doctor_memory(&d);
		expect(&d, "page-size", DOCTOR_OK, cases[i].text);
		expect(&d, "hugetlb", DOCTOR_MISSING, "none in this kernel");
		expect(&d, "thp", DOCTOR_MISSING, "not in this kernel");
		doctor_done(&d);
	}
}

static void test_pools(void)
{
	struct doctor d = begin();

	put_pool(1048576, "192\n", "3\n");
	put_pool(64, "0\n", "0\n");
	put_pool(2048, "10\n", "x\n");
	put(sys, "kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
	put(sys, "kernel/mm/transparent_hugepage/hpage_pmd_size", "33554432\n");
	doctor_memory(&d);
	expect(&d, "hugetlb", DOCTOR_OK, "64 KiB: none reserved; 2 MiB: cannot be read; 1 GiB: 3 of 192 free");
	expect(&d, "thp", DOCTOR_OK, "madvise (32 MiB)");
	doctor_done(&d);

	d = begin();
	put(sys, "kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
	doctor_memory(&d);
	expect(&d, "thp", DOCTOR_MISSING, "never (size not known)");
	doctor_done(&d);
}

/* Arguments with ';' for the NULs. */
static void put_process(const char *pid, const char *arguments, const char *pid_namespace, const char *mount_namespace)
{
	char name[128], path[256], text[1024];
	size_t n = strlen(arguments);
	FILE *f;

	snprintf(name, sizeof(name), "%s/ns/pid", pid);
	put_link(proc, name, pid_namespace);
	snprintf(name, sizeof(name), "%s/ns/mnt", pid);
	put_link(proc, name, mount_namespace);
	snprintf(path, sizeof(path), "%s/%s/cmdline", proc, pid);
	memcpy(text, arguments, n + 1);
	for (size_t i = 0; i < n; i++)
		if (text[i] == ';')
			text[i] = 0;
	f = fopen(path, "w");
	if (!f || fwrite(text, 1, n + 1, f) != n + 1 || fclose(f) != 0)
		exit(99);
}

#define HOST "pid:[4026531836]"
#define MOUNTS "mnt:[4026531841]"
#define UUID_1 "5f7c8b52-6f2e-4a53-9d0e-3d4a5d0f9a11"
#define UUID_2 "11111111-2222-3333-4444-555555555555"

static void put_self(const char *pid_namespace)
{
	put_link(proc, "self/ns/pid", pid_namespace);
	put_link(proc, "self/ns/mnt", MOUNTS);
}

static void test_guests_that_libvirt_does_not_know(void)
{
	struct doctor d = begin();

	put_self(HOST);
	put_process("42", "/usr/bin/qemu-system-aarch64;-name;guest=guest1,debug-threads=on;-uuid;" UUID_1, HOST, "mnt:[4026532176]");
	put_process("7", "/usr/libexec/qemu-kvm;-name;plain\033[31m;-uuid;" UUID_2, "pid:[4026532999]", "mnt:[4026532998]");
	put_process("9", "qemu-system-x86_64", HOST, MOUNTS);
	put_process("11", "/usr/bin/qemu-system-x86_64;-S;-machine;none,accel=kvm:tcg", HOST, MOUNTS); /* libvirt's probe: no guest */
	put_process("12", "/bin/sh;qemu-system-x86_64", HOST, MOUNTS);
	d.known_uuids = calloc(1, sizeof(char *));
	d.known_uuids[0] = strdup("5F7C8B52-6F2E-4A53-9D0E-3D4A5D0F9A11");
	d.n_known = 1;
	d.libvirt_answered = true;
	doctor_qemu(&d);
	expect(&d, "pid-namespace", DOCTOR_OK, "the host's pid namespace");
	expect(&d, "qemu-known", DOCTOR_MISSING,
	       "2 of 3 running are not known to libvirt: 7 (plain\\x1b[31m, in another pid namespace), 9 (no name)");
	CHECK(find(&d, "qemu-known")->matters);
	CHECK(!doctor_is_well(&d));
	doctor_done(&d);
}

static void test_guests_when_libvirt_did_not_answer(void)
{
	struct doctor d = begin();

	put_self("pid:[4026532999]");
	put_process("42", "/usr/bin/qemu-system-aarch64;-name;guest=guest1;-uuid;" UUID_1, "pid:[4026532999]", MOUNTS);
	d.libvirt_failed = true;
	doctor_qemu(&d);
	expect(&d, "pid-namespace", DOCTOR_MISSING, "this is a pid namespace of its own");
	expect(&d, "qemu-known", DOCTOR_UNKNOWN, "1 of 1 running are not known to a libvirt that answered: 42 (guest1)");
	CHECK(doctor_is_well(&d)); /* unknown is not missing */
	doctor_done(&d);

	d = begin();
	put_self(HOST);
	doctor_qemu(&d);
	expect(&d, "qemu-known", DOCTOR_OK, "no QEMU runs that can be seen from here");
	doctor_done(&d);
}

static void check_uris(const char *file, const char *first, const char *second)
{
	char **uris = doctor_config_uris(file);

	CHECK(uris != NULL);
	if (uris) {
		CHECK_TEXT(uris[0], first);
		CHECK(second ? uris[1] && strcmp(uris[1], second) == 0 : !uris[1]);
	}
	doctor_free_words(uris);
}

static void test_uris_of_the_configuration(void)
{
	struct doctor d = begin();
	char file[128];

	snprintf(file, sizeof(file), "%s/x.conf", root);
	CHECK(doctor_config_uris(file) == NULL && errno == ENOENT);
	put(root, "x.conf", "# Uris=no:///\n[Reports]\nUris=no:///\n[Libvirt]\n #Uris=no:///\nCallTimeoutSec=5\n");
	check_uris(file, "qemu:///system", NULL);
	put(root, "x.conf", "[Libvirt]\nUris = qemu:///a ; qemu+unix:///b?socket=/x ;\r\n");
	check_uris(file, "qemu:///a", "qemu+unix:///b?socket=/x");
	put(root, "x.conf.d/50-b.conf", "[Libvirt]\nUris=qemu:///second\n");
	put(root, "x.conf.d/60-c.conf.off", "[Libvirt]\nUris=qemu:///off\n");
	put(root, "x.conf.d/10-a.conf", "[Libvirt]\nUris=qemu:///first\n");
	check_uris(file, "qemu:///second", NULL);
	doctor_done(&d);
}

static void write_and_hang(int fd, void *userdata)
{
	if (write(fd, userdata, strlen(userdata)) < 0)
		_exit(1);
	for (;;)
		pause();
}

static void write_only(int fd, void *userdata)
{
	if (write(fd, userdata, strlen(userdata)) < 0)
		_exit(1);
}

static void test_a_child_that_hangs_is_given_up(void)
{
	static char hello[] = "hello";
	struct timespec before, after;

	CHECK_TEXT_FREE(doctor_in_child(write_only, hello, 5000), "hello");
	clock_gettime(CLOCK_MONOTONIC, &before);
	CHECK(doctor_in_child(write_and_hang, hello, 100) == NULL && errno == ETIMEDOUT);
	clock_gettime(CLOCK_MONOTONIC, &after);
	CHECK(after.tv_sec - before.tv_sec < 5);
}

int main(void)
{
	static const struct check_test tests[] = {
		{ "yama's levels against capabilities", test_yama },
		{ "rights without capabilities", test_rights_without_capabilities },
		{ "pidfd_getfd is really tried", test_pidfd_getfd_is_tried },
		{ "clear_refs is opened, never written", test_clear_refs_is_never_written },
		{ "/dev/kvm, the extension, table memory", test_kvm },
		{ "tracefs, hist triggers, cgroup 2; debugfs and hybrid", test_tracing },
		{ "no clock mono, no tracefs, cgroup 1", test_tracing_without_mono },
		{ "lockdown, SELinux, AppArmor", test_security },
		{ "blocks follow from the page size", test_page_sizes_are_data },
		{ "hugetlb pools and transparent huge pages", test_pools },
		{ "guests that libvirt does not know", test_guests_that_libvirt_does_not_know },
		{ "guests when libvirt did not answer", test_guests_when_libvirt_did_not_answer },
		{ "URIs of the configuration file and its folder", test_uris_of_the_configuration },
		{ "a child that hangs is given up", test_a_child_that_hangs_is_given_up },
	};
	int r;

	setlocale(LC_ALL, "C.UTF-8");
	if (!mkdtemp(root))
		return 99;
	snprintf(proc, sizeof(proc), "%s/proc", root);
	snprintf(sys, sizeof(sys), "%s/sys", root);
	snprintf(dev, sizeof(dev), "%s/dev", root);
	r = CHECK_MAIN(tests);
	nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	rmdir(root);
	return r;
}
