/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor.h"

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * INT64_C(1000) + ts.tv_nsec / 1000000;
}

/* Until the end of file, the deadline or the limit. True at the end of file. */
static bool read_all(int fd, char *text, int64_t deadline)
{
	size_t used = 0;

	while (used < DOCTOR_SMALL) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		int64_t left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&p, 1, (int) left) == 0)
			break;
		n = read(fd, text + used, DOCTOR_SMALL - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		used += (size_t) n;
	}
	return used == DOCTOR_SMALL;
}

char *doctor_in_child(void (*work)(int fd, void *userdata), void *userdata, int timeout_ms)
{
	char *text;
	int ends[2];
	bool complete;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	fflush(NULL); /* else the child would write our buffers a second time */
	pid = fork();
	if (pid < 0) {
		close(ends[0]);
		close(ends[1]);
		return NULL;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		close(ends[0]);
		work(ends[1], userdata);
		_exit(0);
	}
	close(ends[1]);
	text = xcalloc(DOCTOR_SMALL + 1, 1);
	complete = read_all(ends[0], text, now_ms() + timeout_ms);
	close(ends[0]);
	if (!complete)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (complete)
		return text;
	free(text);
	errno = ETIMEDOUT;
	return NULL;
}

static void run_program(int fd, void *userdata)
{
	const char *const *argv = userdata;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	execv(argv[0], (char *const *) (uintptr_t) argv);
	_exit(127);
}

char *doctor_run(const char *const *argv, int timeout_ms)
{
	return doctor_in_child(run_program, (void *) (uintptr_t) argv, timeout_ms);
}
