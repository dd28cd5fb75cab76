/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PID 1 of the emulated host. Mounts what tests expect, runs the programs of
 * /lab/plan one after another and powers off.
 *
 * A plan line is NAME<TAB>TIMEOUT<TAB>HUGE<TAB>COMMAND: seconds, number of
 * huge pages of the default size, words split at blanks. Everything said to
 * the outside is written to /dev/kmsg, one record a line, so that a line and a
 * kernel message never mix: "lab: OUT NAME text", "lab: RESULT NAME ...".
 * Exit status 0 is a pass, 4 (kselftest) or 77 (automake) a skip.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAN "/lab/plan"
#define BIN "/lab/bin"
#define ARGS_MAX 32
/* A kmsg record holds 1 KiB with its prefix. */
#define LINE_MAX_BYTES 800

static int kmsg = -1;

__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[1000];
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	if (n >= (int)sizeof(line))
		n = sizeof(line) - 1;
	if (write(kmsg, line, (size_t)n) < 0)
		dprintf(STDERR_FILENO, "%s\n", line);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		say("lab: NOTE cannot write '%s' to %s: %s", text, path, strerror(errno));
	if (fd >= 0)
		close(fd);
}

static void mount_all(void)
{
	static const struct {
		const char *type, *where, *options;
	} mounts[] = {
		{ "proc", "/proc", NULL },
		{ "sysfs", "/sys", NULL },
		{ "devtmpfs", "/dev", NULL },
		{ "tmpfs", "/tmp", NULL },
		{ "tmpfs", "/dev/shm", NULL },
		{ "devpts", "/dev/pts", NULL },
		{ "debugfs", "/sys/kernel/debug", NULL },
		{ "tracefs", "/sys/kernel/tracing", NULL },
		{ "cgroup2", "/sys/fs/cgroup", NULL },
		{ "hugetlbfs", "/mnt/huge", NULL },
	};

	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].where, 0755);
		if (mount(mounts[i].type, mounts[i].where, mounts[i].type, 0, mounts[i].options) < 0)
			dprintf(STDERR_FILENO, "init: mount %s: %s\n", mounts[i].where, strerror(errno));
	}
}

static void emit_line(const char *name, char *line)
{
	for (char *c = line; *c; c++)
		if ((unsigned char)*c < ' ' && *c != '\t')
			*c = '?';
	say("lab: OUT %s %s", name, line);
}

/* Cut what is complete out of the buffer; returns what is left over. */
static size_t emit_lines(const char *name, char *buffer, size_t len, int last)
{
	char *begin = buffer, *end;

	buffer[len] = '\0';
	while ((end = strchr(begin, '\n'))) {
		*end = '\0';
		emit_line(name, begin);
		begin = end + 1;
	}
	len -= (size_t)(begin - buffer);
	if (len && (last || len >= LINE_MAX_BYTES)) {
		emit_line(name, begin);
		return 0;
	}
	memmove(buffer, begin, len);
	return len;
}

/* Returns 1 if the deadline passed before the program closed its output. */
static int pump_output(const char *name, int fd, double deadline)
{
	char buffer[LINE_MAX_BYTES * 2 + 1];
	size_t len = 0;
	ssize_t n;

	for (;;) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		double left = deadline - now();

		if (left <= 0)
			return 1;
		if (poll(&p, 1, (int)(left * 1000) + 1) <= 0)
			continue;
		n = read(fd, buffer + len, LINE_MAX_BYTES);
		if (n <= 0)
			break;
		len = emit_lines(name, buffer, len + (size_t)n, 0);
	}
	emit_lines(name, buffer, len, 1);
	return 0;
}

static void child(char *command, int out)
{
	char *argv[ARGS_MAX + 1];
	int argc = 0;

	for (char *word = strtok(command, " "); word && argc < ARGS_MAX; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	setpgid(0, 0);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	if (argc > 0 && chdir(BIN) == 0)
		execv(argv[0], argv);
	printf("cannot run '%s': %s\n", argv[0] ? argv[0] : "", strerror(errno));
	fflush(stdout);
	_exit(127);
}

static void report(const char *name, int status, int timed_out, double took)
{
	if (timed_out)
		say("lab: RESULT %s fail timed out after %.1f s", name, took);
	else if (WIFSIGNALED(status))
		say("lab: RESULT %s fail signal %d after %.1f s", name, WTERMSIG(status), took);
	else if (WEXITSTATUS(status) == 4 || WEXITSTATUS(status) == 77)
		say("lab: RESULT %s skip exit %d", name, WEXITSTATUS(status));
	else
		say("lab: RESULT %s %s exit %d after %.1f s", name, WEXITSTATUS(status) ? "fail" : "pass",
		    WEXITSTATUS(status), took);
}

static void run_test(const char *name, int timeout, char *command)
{
	double began = now();
	int fds[2], status = 0, timed_out;
	pid_t pid;

	say("lab: BEGIN %s %s", name, command);
	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0) {
		say("lab: RESULT %s fail init: %s", name, strerror(errno));
		return;
	}
	if (pid == 0)
		child(command, fds[1]);
	close(fds[1]);
	timed_out = pump_output(name, fds[0], began + timeout);
	if (timed_out)
		kill(-pid, SIGKILL);
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	close(fds[0]);
	report(name, status, timed_out, now() - began);
}

static void run_plan(void)
{
	char line[2048];
	FILE *plan = fopen(PLAN, "re");

	if (!plan) {
		say("lab: NOTE no plan: %s", strerror(errno));
		return;
	}
	while (fgets(line, sizeof(line), plan)) {
		char *rest = line, *name = strsep(&rest, "\t"), *timeout = strsep(&rest, "\t");
		char *huge = strsep(&rest, "\t"), *command = strsep(&rest, "\n");

		if (!command) {
			say("lab: NOTE bad plan line '%s'", name);
			continue;
		}
		put("/proc/sys/vm/nr_hugepages", huge);
		run_test(name, atoi(timeout), command);
	}
	fclose(plan);
}

static void shell(void)
{
	if (fork() == 0) {
		setsid();
		setenv("PATH", "/bin:" BIN, 1);
		if (chdir(BIN) < 0 || open("/dev/ttyAMA0", O_RDWR) < 0)
			_exit(127);
		for (int fd = 0; fd < 3; fd++)
			dup2(3, fd);
		execl("/bin/busybox", "sh", (char *)NULL);
		_exit(127);
	}
	wait(NULL);
}

int main(void)
{
	mount_all();
	kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	put("/sys/kernel/mm/transparent_hugepage/enabled", "madvise");
	say("lab: READY after %.1f s", now());
	if (access("/lab/shell", F_OK) == 0)
		shell();
	else
		run_plan();
	say("lab: DONE after %.1f s", now());
	sync();
	reboot(RB_POWER_OFF);
	return 1;
}
