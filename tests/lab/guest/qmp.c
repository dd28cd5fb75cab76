/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "qmp.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	return sa;
}

static int read_line(int fd, char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size) {
		ssize_t r = read(fd, line + n, 1);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return r < 0 ? -errno : -ECONNRESET;
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return 0;
}

int qmp_command(int fd, const char *json, char *answer, size_t size)
{
	int r;

	if (write(fd, json, strlen(json)) < 0)
		return -errno;
	do
		r = read_line(fd, answer, size);
	while (r == 0 && strncmp(answer, "{\"return\"", 9) != 0 && strncmp(answer, "{\"error\"", 8) != 0);
	if (r == 0 && strncmp(answer, "{\"error\"", 8) == 0)
		return -EREMOTEIO;
	return r;
}

int qmp_open(const char *path, int timeout_ms)
{
	struct sockaddr_un sa = address(path);
	char answer[1024];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return -errno;
	while (connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
		if (timeout_ms <= 0) {
			r = -errno;
			close(fd);
			return r;
		}
		usleep(100000);
		timeout_ms -= 100;
	}
	r = qmp_command(fd, "{\"execute\":\"qmp_capabilities\"}\n", answer, sizeof(answer));
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

static void drain(int listener)
{
	static char buffer[65536];
	int fd = accept(listener, NULL, NULL);

	while (fd >= 0 && read(fd, buffer, sizeof(buffer)) > 0)
		;
}

int qmp_sink(const char *path)
{
	struct sockaddr_un sa = address(path);
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	pid_t pid;

	if (listener < 0)
		return -errno;
	unlink(path);
	if (bind(listener, (struct sockaddr *)&sa, sizeof(sa)) < 0 || listen(listener, 1) < 0 || (pid = fork()) < 0) {
		int r = -errno;

		close(listener);
		return r;
	}
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		drain(listener);
		_exit(0);
	}
	close(listener);
	return pid;
}
