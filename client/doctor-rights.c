/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor.h"

/* Numbers of linux/capability.h, which are for ever. */
#define CAP_DAC_OVERRIDE 1
#define CAP_SYS_PTRACE 19

static const char getfd_lost[] = "the KVM extension cannot be told which VM is meant: split tables stay split until the guest reboots";

static bool has_capability(const struct doctor *d, unsigned number, bool *ret_known)
{
	_cleanup_free_ char *status = doctor_read(DOCTOR_SMALL, d->proc, "self/status");
	uint64_t mask = 0;

	*ret_known = status && doctor_number(status, "CapEff:", 16, &mask);
	return mask >> number & 1;
}

/* A child that holds the write end of a pipe and waits to be killed. "closed": not dumpable, as a QEMU of another user is. */
static pid_t spawn_holder(int hold[2], bool closed)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, closed ? 0 : 1);
	if (write(hold[1], "", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Takes the child's write end as the daemon would take QEMU's VM descriptor. 0 or a negative errno. */
static int take_descriptor(pid_t pid, const int hold[2])
{
	struct stat mine, theirs;
	int pidfd = (int) syscall(SYS_pidfd_open, pid, 0), fd, r = 0;

	if (pidfd < 0)
		return -errno;
	fd = (int) syscall(SYS_pidfd_getfd, pidfd, hold[1], 0);
	if (fd < 0)
		r = -errno;
	else if (fstat(fd, &theirs) < 0 || fstat(hold[1], &mine) < 0 || theirs.st_ino != mine.st_ino)
		r = -EBADF;
	if (fd >= 0)
		close(fd);
	close(pidfd);
	return r;
}

static int try_pidfd_getfd(bool closed)
{
	int hold[2], r;
	char ready;
	pid_t pid;

	if (pipe2(hold, O_CLOEXEC) < 0)
		return -errno;
	pid = spawn_holder(hold, closed);
	if (pid < 0) {
		r = -errno;
	} else {
		r = read(hold[0], &ready, 1) == 1 ? take_descriptor(pid, hold) : -EIO;
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(hold[0]);
	close(hold[1]);
	return r;
}

static void look_at_getfd(struct doctor *d)
{
	int r = try_pidfd_getfd(true), own = r < 0 ? try_pidfd_getfd(false) : 0;
	bool cap, known;

	if (r == 0) {
		doctor_add(d, "pidfd-getfd", DOCTOR_OK, 0, "pidfd_getfd", getfd_lost, NULL, "works on a process that is closed to others (tried on a child)");
		return;
	}
	cap = has_capability(d, CAP_SYS_PTRACE, &known);
	if (r == -ENOSYS)
		doctor_add(d, "pidfd-getfd", DOCTOR_MISSING, 0, "pidfd_getfd", getfd_lost, "a kernel of 5.6 or later", "not in this kernel, or filtered away");
	else if (!cap && own == 0)
		doctor_add(d, "pidfd-getfd", DOCTOR_MISSING, 0, "pidfd_getfd", getfd_lost, "CAP_SYS_PTRACE: run as root, or give it to the service",
			   "refused on a process of another user: no CAP_SYS_PTRACE");
	else
		doctor_add(d, "pidfd-getfd", DOCTOR_MISSING, 0, "pidfd_getfd", getfd_lost,
			   "kernel.yama.ptrace_scope below 3, SELinux' deny_ptrace off, and @debug (pidfd_getfd) allowed in the unit's SystemCallFilter",
			   "refused: %s", strerror(-r));
}

static void look_at_yama(struct doctor *d)
{
	static const char *const levels[] = { "classic", "descendants only, unless CAP_SYS_PTRACE", "CAP_SYS_PTRACE only", "nobody" };
	_cleanup_free_ char *text = doctor_read(DOCTOR_SMALL, d->proc, "sys/kernel/yama/ptrace_scope");
	bool cap, known;
	uint64_t level;

	if (!text || !doctor_number(text, "", 10, &level)) {
		doctor_add(d, "yama", text || errno != ENOENT ? DOCTOR_UNKNOWN : DOCTOR_OK, 0, "yama", getfd_lost, NULL, "%s",
			   text ? "its level cannot be read" : errno != ENOENT ? strerror(errno) : "not in this kernel");
		return;
	}
	cap = has_capability(d, CAP_SYS_PTRACE, &known);
	if (level >= 3)
		doctor_add(d, "yama", DOCTOR_MISSING, 0, "yama", getfd_lost, "kernel.yama.ptrace_scope below 3; it takes a reboot to lower it from 3",
			   "level %" PRIu64 ": even root is refused", level);
	else if (level > 0 && known && !cap)
		doctor_add(d, "yama", DOCTOR_MISSING, 0, "yama", getfd_lost, "CAP_SYS_PTRACE: run as root, or give it to the service",
			   "level %" PRIu64 " (%s), and CAP_SYS_PTRACE is not there", level, levels[level]);
	else
		doctor_add(d, "yama", DOCTOR_OK, 0, "yama", getfd_lost, NULL, "level %" PRIu64 " (%s)", level, levels[level]);
}

/* Opened, never written: writing is what tears down. */
static void look_at_clear_refs(struct doctor *d)
{
	static const char lost[] = "no teardown of split tables on a kernel without the extension (it is opt-in, AllowClearRefs=)";
	_cleanup_free_ char *path = xprintf("%s/self/clear_refs", d->proc);
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = errno;
	bool known, cap = has_capability(d, CAP_DAC_OVERRIDE, &known);

	if (fd >= 0)
		close(fd);
	if (fd < 0 && error == ENOENT)
		doctor_add(d, "clear-refs", DOCTOR_MISSING, 0, "clear_refs", lost, "a kernel with CONFIG_PROC_PAGE_MONITOR", "not in this kernel");
	else if (fd < 0)
		doctor_add(d, "clear-refs", DOCTOR_MISSING, 0, "clear_refs", lost, "a writable /proc (ProcSubset=, ProtectKernelTunables= of the unit)",
			   "cannot be opened for writing: %s", strerror(error));
	else if (!known)
		doctor_add(d, "clear-refs", DOCTOR_UNKNOWN, 0, "clear_refs", lost, NULL, "there; whether CAP_DAC_OVERRIDE is, cannot be read");
	else if (!cap)
		doctor_add(d, "clear-refs", DOCTOR_MISSING, 0, "clear_refs", lost, "CAP_DAC_OVERRIDE: run as root, or give it to the service",
			   "there, but without CAP_DAC_OVERRIDE only for own processes");
	else
		doctor_add(d, "clear-refs", DOCTOR_OK, 0, "clear_refs", lost, NULL, "writable, with CAP_DAC_OVERRIDE");
}

void doctor_rights(struct doctor *d)
{
	look_at_getfd(d);
	look_at_yama(d);
	look_at_clear_refs(d);
}
