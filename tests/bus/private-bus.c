/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "private-bus.h"

static const char configuration[] =
	"<!DOCTYPE busconfig PUBLIC \"-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN\"\n"
	" \"http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd\">\n"
	"<busconfig>\n"
	"  <listen>unix:path=%s/socket</listen>\n"
	"  <auth>EXTERNAL</auth>\n"
	"  <policy context=\"default\">\n"
	"    <allow user=\"*\"/><allow own=\"*\"/><allow send_destination=\"*\"/><allow receive_type=\"method_call\"/>\n"
	"    <allow receive_type=\"signal\"/><allow receive_type=\"method_return\"/><allow receive_type=\"error\"/>\n"
	"  </policy>\n"
	"</busconfig>\n";

void private_bus_need(void)
{
	char *path = g_find_program_in_path("dbus-daemon");

	if (!path) {
		puts("1..0 # SKIP there is no dbus-daemon here (Debian: apt install dbus-daemon)");
		exit(0);
	}
	g_free(path);
}

void private_bus_init(struct private_bus *p)
{
	char file[96], *text;

	*p = (struct private_bus) { .dir = "/tmp/rollbackd-test-bus-XXXXXX" };
	g_assert_nonnull(mkdtemp(p->dir));
	snprintf(p->address, sizeof(p->address), "unix:path=%s/socket", p->dir);
	snprintf(file, sizeof(file), "%s/bus.conf", p->dir);
	text = g_strdup_printf(configuration, p->dir);
	g_assert_true(g_file_set_contents(file, text, -1, NULL));
	g_free(text);
}

static void child(const struct private_bus *p, int fd, pid_t parent)
{
	char config[128], address[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	/* It tells there of each limit that a client of ours meets. */
	if (!freopen("/dev/null", "w", stderr))
		_exit(1);
	snprintf(config, sizeof(config), "--config-file=%s/bus.conf", p->dir);
	snprintf(address, sizeof(address), "--print-address=%d", fd);
	execlp("dbus-daemon", "dbus-daemon", "--nofork", "--nopidfile", config, address, NULL);
	_exit(127);
}

/* It prints its address once it listens. */
void private_bus_start(struct private_bus *p)
{
	char byte, socket[96];
	pid_t parent = getpid();
	int fds[2];

	snprintf(socket, sizeof(socket), "%s/socket", p->dir);
	unlink(socket);
	g_assert_cmpint(pipe(fds), ==, 0);
	p->pid = fork();
	g_assert_cmpint(p->pid, >=, 0);
	if (p->pid == 0)
		child(p, fds[1], parent);
	close(fds[1]);
	g_assert_cmpint(read(fds[0], &byte, 1), ==, 1);
	close(fds[0]);
}

void private_bus_stop(struct private_bus *p)
{
	if (!p->pid)
		return;
	kill(p->pid, SIGKILL);
	while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
		;
	p->pid = 0;
}

void private_bus_done(struct private_bus *p)
{
	static const char *const names[] = { "socket", "bus.conf" };
	char file[96];

	private_bus_stop(p);
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		snprintf(file, sizeof(file), "%s/%s", p->dir, names[i]);
		g_unlink(file);
	}
	g_assert_cmpint(rmdir(p->dir), ==, 0);
}
