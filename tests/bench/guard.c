/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "guard.h"

#define LOAD(field)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
#define TRAP_IF(nr)    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, nr, 0, 1), RETURN(SECCOMP_RET_TRAP)

static volatile sig_atomic_t count, last;

static const struct {
	int nr;
	const char *name;
} calls[] = {
	{ SYS_fsync, "fsync" }, { SYS_fdatasync, "fdatasync" }, { SYS_sync, "sync" }, { SYS_syncfs, "syncfs" },
	{ SYS_sync_file_range, "sync_file_range" }, { SYS_msync, "msync" }, { SYS_renameat2, "renameat2" },
	{ SYS_unlinkat, "unlinkat" }, { SYS_mkdirat, "mkdirat" }, { SYS_ftruncate, "ftruncate" }, { SYS_openat, "openat" },
#ifdef SYS_renameat
	{ SYS_renameat, "renameat" },
#endif
#ifdef SYS_rename
	{ SYS_rename, "rename" }, { SYS_unlink, "unlink" }, { SYS_mkdir, "mkdir" }, { SYS_rmdir, "rmdir" }, { SYS_open, "open" },
#endif
};

const char *guard_last(void)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (count && calls[i].nr == last)
			return calls[i].name;
	return "";
}

unsigned guard_count(void)
{
	return (unsigned) count;
}

static void on_sigsys(int sig, siginfo_t *info, void *context)
{
	ucontext_t *u = context;

	(void) sig;
	count++;
	last = info->si_syscall;
#if defined(__x86_64__)
	u->uc_mcontext.gregs[REG_RAX] = -EPERM;
#elif defined(__aarch64__)
	u->uc_mcontext.regs[0] = (unsigned long) -EPERM;
#else
	(void) u;
#endif
}

int guard_this_thread(void)
{
	struct sigaction action = { .sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO };
	struct sock_filter filter[] = {
		LOAD(nr),
		TRAP_IF(SYS_fsync), TRAP_IF(SYS_fdatasync), TRAP_IF(SYS_sync), TRAP_IF(SYS_syncfs), TRAP_IF(SYS_sync_file_range),
		TRAP_IF(SYS_msync), TRAP_IF(SYS_renameat2), TRAP_IF(SYS_unlinkat), TRAP_IF(SYS_mkdirat), TRAP_IF(SYS_ftruncate),
#ifdef SYS_renameat
		TRAP_IF(SYS_renameat),
#endif
#ifdef SYS_rename
		TRAP_IF(SYS_rename), TRAP_IF(SYS_unlink), TRAP_IF(SYS_mkdir), TRAP_IF(SYS_rmdir), TRAP_IF(SYS_open),
#endif
		/* openat: for writing, or creating. The flags are in the low half of the third argument on these machines. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, O_WRONLY | O_RDWR | O_CREAT, 0, 1),
		RETURN(SECCOMP_RET_TRAP),
		RETURN(SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	if (sigaction(SIGSYS, &action, NULL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return -errno;
	return 0;
}
