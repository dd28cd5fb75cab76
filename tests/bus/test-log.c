/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The log's plain lines and what systemd is told: stderr is a pipe, $NOTIFY_SOCKET a socket of ours. */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "log.h"
#include "notify.h"

/* Runs f with stderr in a pipe and returns what it wrote. */
static char *captured(void (*f)(void *data), void *data)
{
	int fds[2], saved = dup(2);
	char *text = g_malloc0(1 << 20);
	size_t n = 0;
	ssize_t got;

	g_assert_cmpint(pipe(fds), ==, 0);
	g_assert_cmpint(fcntl(fds[1], F_SETPIPE_SZ, 1 << 20), >, 0);
	dup2(fds[1], 2);
	close(fds[1]);
	f(data);
	dup2(saved, 2);
	close(saved);
	while ((got = read(fds[0], text + n, (1 << 20) - 1 - n)) > 0)
		n += (size_t) got;
	close(fds[0]);
	return text;
}

static void write_fields(void *unused)
{
	const char *const fields[] = { "A", "one", "SKIPPED", NULL, "B", "two\nERROR forged\x1b[31m\x7f", NULL };

	(void) unused;
	log_setup(LOG_INFO);
	log_event(LOG_INFO, "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b01", fields, "hello %d\r\n\xc2\x9b and \xc3\xa9", 7);
	log_line(LOG_DEBUG, "not shown");
	log_set_level(LOG_DEBUG);
	log_line(LOG_DEBUG, "shown");
}

static void test_plain_lines(void)
{
	char *text;

	g_unsetenv("JOURNAL_STREAM");
	text = captured(write_fields, NULL);
	g_assert_cmpstr(text, ==, "hello 7\\x0d\\x0a\\x9b and \xc3\xa9 A=one B=two\\x0aERROR forged\\x1b[31m\\x7f\nshown\n");
	g_free(text);
}

static void write_long(void *data)
{
	const char *const fields[] = { "F", data, NULL };

	log_setup(LOG_INFO);
	log_event(LOG_INFO, NULL, fields, "%s", (const char *) data);
	log_line(LOG_INFO, "after");
}

static void test_long_text_is_cut_at_a_character(void)
{
	GString *endless = g_string_new(NULL);
	char *text;

	for (int i = 0; i < 20000; i++)
		g_string_append(endless, "\xe2\x82\xac");
	text = captured(write_long, endless->str);
	g_assert_true(g_utf8_validate(text, -1, NULL));
	g_assert_cmpuint(strlen(text), <, 8192 + 10);
	g_assert_true(g_str_has_suffix(text, "\nafter\n"));
	g_free(text);
	g_string_free(endless, TRUE);
}

/* A stream that is not stderr's, though the variable is there: whoever redirects stderr wants to read it. */
static void test_journal_stream_of_another_file(void)
{
	char *text;

	g_setenv("JOURNAL_STREAM", "8:1234", TRUE);
	text = captured(write_fields, NULL);
	g_assert_true(g_str_has_prefix(text, "hello 7"));
	g_free(text);
	g_setenv("JOURNAL_STREAM", "garbage", TRUE);
	text = captured(write_fields, NULL);
	g_assert_true(g_str_has_prefix(text, "hello 7"));
	g_free(text);
	g_unsetenv("JOURNAL_STREAM");
}

static void write_as_journal(void *data)
{
	char stream[64];
	struct stat st;

	g_assert_cmpint(fstat(2, &st), ==, 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long) st.st_dev, (unsigned long long) st.st_ino);
	g_setenv("JOURNAL_STREAM", stream, TRUE);
	write_fields(data);
}

/* With a journal the pipe stays empty; without one nothing may be lost: the lines come here. */
static void test_journal_stream_of_stderr(void)
{
	bool journal = access("/run/systemd/journal/socket", W_OK) == 0;
	char *text = captured(write_as_journal, NULL);

	g_test_message("journald is %s", journal ? "here" : "absent");
	if (journal)
		g_assert_cmpstr(text, ==, "");
	else
		g_assert_true(g_str_has_prefix(text, "hello 7"));
	g_free(text);
	g_unsetenv("JOURNAL_STREAM");
}

enum { THREADS = 4, LINES = 200 };

static gpointer write_many(gpointer data)
{
	const char *const fields[] = { "THREAD", data, NULL };

	for (int i = 0; i < LINES; i++)
		log_event(LOG_INFO, NULL, fields, "line of a thread");
	return NULL;
}

static void write_from_threads(void *unused)
{
	static const char *const names[THREADS] = { "a", "b", "c", "d" };
	GThread *threads[THREADS];

	(void) unused;
	log_setup(LOG_INFO);
	for (int i = 0; i < THREADS; i++)
		threads[i] = g_thread_new("log", write_many, (gpointer) names[i]);
	for (int i = 0; i < THREADS; i++)
		g_thread_join(threads[i]);
}

static void test_threads_do_not_mix(void)
{
	char *text = captured(write_from_threads, NULL), **lines = g_strsplit(text, "\n", -1);
	unsigned n = 0;

	for (; lines[n] && *lines[n]; n++)
		g_assert_true(g_regex_match_simple("^line of a thread THREAD=[abcd]$", lines[n], 0, 0));
	g_assert_cmpuint(n, ==, THREADS * LINES);
	g_strfreev(lines);
	g_free(text);
}

static int notify_socket(char *dir)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	g_assert_nonnull(mkdtemp(dir));
	g_assert_cmpint(fd, >=, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", dir);
	g_assert_cmpint(bind(fd, (struct sockaddr *) &address, sizeof(address)), ==, 0);
	g_setenv("NOTIFY_SOCKET", address.sun_path, TRUE);
	return fd;
}

static void assert_told(int fd, const char *expected)
{
	char text[512];
	ssize_t n = recv(fd, text, sizeof(text) - 1, 0);

	g_assert_cmpint(n, >, 0);
	text[n] = '\0';
	g_assert_true(g_str_has_prefix(text, expected));
}

static bool nothing_told(int fd)
{
	char byte;

	return recv(fd, &byte, 1, MSG_PEEK) < 0 && errno == EAGAIN;
}

static gboolean on_end(gpointer loop)
{
	g_main_loop_quit(loop);
	return G_SOURCE_REMOVE;
}

static void run_loop(guint msec)
{
	GMainLoop *loop = g_main_loop_new(NULL, FALSE);

	g_timeout_add(msec, on_end, loop);
	g_main_loop_run(loop);
	g_main_loop_unref(loop);
}

static void test_what_systemd_is_told(void)
{
	char dir[] = "/tmp/rollbackd-test-notify-XXXXXX", pid[16], *path;
	int fd = notify_socket(dir);

	notify_ready();
	assert_told(fd, "READY=1");
	notify_reloading();
	assert_told(fd, "RELOADING=1\nMONOTONIC_USEC=");
	notify_status("two\nlines of %s", "it");
	assert_told(fd, "STATUS=two lines of it");
	notify_stopping();
	assert_told(fd, "STOPPING=1");
	/* The watchdog is off: no timer. */
	notify_watchdog_start();
	run_loop(50);
	g_assert_true(nothing_told(fd));
	snprintf(pid, sizeof(pid), "%d", getpid());
	g_setenv("WATCHDOG_PID", pid, TRUE);
	g_setenv("WATCHDOG_USEC", "100000", TRUE);
	notify_watchdog_start();
	run_loop(300);
	/* Once at the start, then each 50 ms. */
	assert_told(fd, "WATCHDOG=1");
	assert_told(fd, "WATCHDOG=1");
	assert_told(fd, "WATCHDOG=1");
	notify_watchdog_stop();
	while (!nothing_told(fd))
		assert_told(fd, "WATCHDOG=1");
	run_loop(200);
	g_assert_true(nothing_told(fd));
	close(fd);
	path = g_strdup_printf("%s/notify", dir);
	g_unlink(path);
	g_rmdir(dir);
	g_free(path);
	g_unsetenv("NOTIFY_SOCKET");
	g_unsetenv("WATCHDOG_USEC");
	g_unsetenv("WATCHDOG_PID");
	notify_ready(); /* to nobody */
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/log/plain-lines", test_plain_lines);
	g_test_add_func("/log/long-text-is-cut-at-a-character", test_long_text_is_cut_at_a_character);
	g_test_add_func("/log/journal-stream-of-another-file", test_journal_stream_of_another_file);
	g_test_add_func("/log/journal-stream-of-stderr", test_journal_stream_of_stderr);
	g_test_add_func("/notify/what-systemd-is-told", test_what_systemd_is_told);
	/* The last one: GLib warns of changes of the environment once there have been threads. */
	g_test_add_func("/log/threads-do-not-mix", test_threads_do_not_mix);
	return g_test_run();
}
