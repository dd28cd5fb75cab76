/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The adapters, each on a tree or a child of the test's own. */

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/migration.h"
#include "host/clock.h"
#include "host/hugepages.h"
#include "host/procfs.h"
#include "host/qmp.h"
#include "host/statusxml.h"
#include "host/watch.h"

#define UUID "6d1f7a52-5d0c-4c1e-9d7b-000000000001"

static char *tree;

static void put(const char *file, const char *text, gssize n)
{
	g_autofree char *path = g_build_filename(tree, file, NULL);
	g_autofree char *dir = g_path_get_dirname(path);

	g_assert_cmpint(g_mkdir_with_parents(dir, 0700), ==, 0);
	g_assert_true(g_file_set_contents(path, text, n, NULL));
}

static void put_process(int pid, unsigned start, const char *arguments, size_t n)
{
	g_autofree char *cmdline = g_strdup_printf("%d/cmdline", pid), *stat = g_strdup_printf("%d/stat", pid);
	g_autofree char *text = g_strdup_printf("%d (qemu) x) S 1 1 1 0 -1 0 0 0 0 0 1 1 0 0 20 0 3 0 %u 1000 1", pid, start);

	put(cmdline, arguments, (gssize) n);
	put(stat, text, -1);
}

#define SOURCE_ARGS "/usr/bin/qemu-system-x86_64\0-uuid\0" UUID "\0-m\0size=524288k\0-smp\0" "2,sockets=2\0"
#define DESTINATION_ARGS "/usr/bin/qemu-system-x86_64\0-uuid\0" UUID "\0-m\0" "512\0-smp\0cpus=4\0-incoming\0defer\0"

static void test_finds_each_side(void)
{
	struct qemu_process q;

	put_process(100, 5000, SOURCE_ARGS, sizeof(SOURCE_ARGS) - 1);
	put_process(101, 9000, DESTINATION_ARGS, sizeof(DESTINATION_ARGS) - 1);
	put_process(102, 1, "/bin/grep\0-uuid\0" UUID "\0", 48);
	g_assert_cmpint(procfs_find_qemu(tree, UUID, SIDE_SOURCE, &q), ==, 0);
	g_assert_cmpint(q.pid, ==, 100);
	g_assert_cmpuint(q.start, ==, 5000);
	g_assert_cmpuint(q.vcpus, ==, 2);
	g_assert_cmpuint(q.memory_bytes, ==, 512u << 20);
	g_assert_false(q.incoming);
	g_assert_cmpint(procfs_find_qemu(tree, UUID, SIDE_DESTINATION, &q), ==, 0);
	g_assert_cmpint(q.pid, ==, 101);
	g_assert_cmpuint(q.vcpus, ==, 4);
	g_assert_true(q.incoming);
	g_assert_cmpint(procfs_find_qemu(tree, "6d1f7a52-5d0c-4c1e-9d7b-00000000ffff", SIDE_SOURCE, &q), ==, -ENOENT);
	g_assert_cmpint(procfs_find_qemu("/nonexistent", UUID, SIDE_SOURCE, &q), ==, -ENOENT);
}

static void test_sees_a_process_replaced(void)
{
	struct qemu_process q;

	put_process(100, 5000, SOURCE_ARGS, sizeof(SOURCE_ARGS) - 1);
	g_assert_cmpint(procfs_find_qemu(tree, UUID, SIDE_SOURCE, &q), ==, 0);
	g_assert_true(procfs_is_alive(tree, &q));
	put_process(100, 6000, SOURCE_ARGS, sizeof(SOURCE_ARGS) - 1);
	g_assert_false(procfs_is_alive(tree, &q));
}

static void test_sizes(void)
{
	g_assert_cmpuint(procfs_parse_memory("size=1048576k,slots=16"), ==, 1u << 30);
	g_assert_cmpuint(procfs_parse_memory("2G"), ==, 2ull << 30);
	g_assert_cmpuint(procfs_parse_memory("256"), ==, 256u << 20);
	g_assert_cmpuint(procfs_parse_memory("junk"), ==, 0);
	g_assert_cmpuint(procfs_parse_smp("8"), ==, 8);
	g_assert_cmpuint(procfs_parse_smp("maxcpus=8,cpus=3"), ==, 3);
}

/* This very process: it has base pages and no reason to hide them. */
static void test_backing_of_a_real_process(void)
{
	struct backing b;
	uint64_t base = 0;

	procfs_backing("/proc", getpid(), &b);
	g_assert_cmpint(b.pid, ==, getpid());
	for (unsigned i = 0; i < b.n; i++)
		if (b.pages[i].kind == PAGE_BASE)
			base = b.pages[i].bytes;
	g_assert_cmpuint(base, >, 0);
	procfs_backing(tree, 4711, &b);
	g_assert_cmpuint(b.n, ==, 0);
	g_assert_cmpstr(b.reason, !=, "");
}

static void test_hugepage_pool(void)
{
	struct backing b = { .n = 2 };
	uint64_t size, bytes;

	put("kernel/mm/hugepages/hugepages-32768kB/free_hugepages", "7\n", -1); /* a 16K kernel's block */
	g_assert_cmpint(hugepages_free(tree, 32u << 20, &bytes), ==, 0);
	g_assert_cmpuint(bytes, ==, 7 * (32ull << 20));
	g_assert_cmpint(hugepages_free(tree, 2u << 20, &bytes), ==, -ENOENT);
	b.pages[0].kind = PAGE_BASE;
	b.pages[0].bytes = 1ull << 40;
	g_assert_false(hugepages_of(&b, &size, &bytes));
	b.pages[1].kind = PAGE_HUGETLB;
	b.pages[1].page_size = 1ull << 30;
	b.pages[1].bytes = 4ull << 30;
	g_assert_true(hugepages_of(&b, &size, &bytes));
	g_assert_cmpuint(size, ==, 1ull << 30);
}

static struct status_xml parse_status(const char *text, int expected)
{
	struct status_xml s = { .pid = -1 };

	g_assert_cmpint(status_xml_parse(text, strlen(text), &s), ==, expected);
	return s;
}

static void test_status_file(void)
{
	struct status_xml s = parse_status(
		"<!-- a comment -->\n<domstatus state='running' reason='booted' pid='4242'>\n"
		"<job type='none' async='migration out' phase='perform3' flags='0x3'><disk/></job>\n"
		"<domain type='kvm' id='3'><name>g</name><uuid>" UUID "</uuid></domain></domstatus>", 0);

	g_assert_cmpint(s.pid, ==, 4242);
	g_assert_cmpint(s.job, ==, JOB_ACTIVE);
	g_assert_cmpint(s.operation, ==, OP_MIGRATION);
	g_assert_cmpint(s.driver, ==, DRIVER_P2P);
	g_assert_cmpint(s.side, ==, SIDE_SOURCE);
	g_assert_cmpstr(s.uuid, ==, UUID);
	s = parse_status("<domstatus pid='1'><job type='none' async='migration out' flags='0x1'/></domstatus>", 0);
	g_assert_cmpint(s.driver, ==, DRIVER_DIRECT);
	s = parse_status("<domstatus pid='1'><job type='modify' async='none'/></domstatus>", 0);
	g_assert_cmpint(s.job, ==, JOB_NONE);
	s = parse_status("<domstatus pid='1'><job async='snapshot'/></domstatus>", 0);
	g_assert_cmpint(s.operation, ==, OP_SNAPSHOT);
	g_assert_cmpint(s.driver, ==, DRIVER_UNKNOWN);
	s = parse_status("<domstatus pid='1'/>", 0);
	g_assert_cmpint(s.job, ==, JOB_NONE);
	parse_status("<domain><job async='save'/></domain>", -EBADMSG);
	parse_status("<domstatus pid='1'><job", -EBADMSG);
	parse_status("", -EBADMSG);
}

static void test_qmp(void)
{
	struct event ev = { 0 };

	g_assert_cmpint(qmp_decode("MIGRATION", "{\"status\":\"pre-switchover\"}", &ev), ==, 0);
	g_assert_cmpint(ev.kind, ==, EVENT_QMP_MIGRATION);
	g_assert_cmpint(ev.status, ==, QMP_PRE_SWITCHOVER);
	static const char *const odd[] = { NULL, "", "[]", "{}", "{\"status\":7}", "{\"status\":\"from-the-future\"}", "{\"status\"", "\"x\"" };

	for (size_t i = 0; i < G_N_ELEMENTS(odd); i++) {
		g_assert_cmpint(qmp_decode("MIGRATION", odd[i], &ev), ==, 0);
		g_assert_cmpint(ev.kind, ==, EVENT_QMP_UNKNOWN);
	}
	g_assert_cmpint(qmp_decode("MIGRATION_PASS", "{\"pass\":-3}", &ev), ==, 0);
	g_assert_cmpuint(ev.iteration, ==, 0);
	g_assert_cmpint(qmp_decode("BALLOON_CHANGE", NULL, &ev), ==, -ENOENT);
}

static void test_clock_is_steady(void)
{
	struct clock c;
	nsec_t offset;

	clock_open(&c);
	offset = c.map.offset;
	for (int i = 0; i < 1000; i++) {
		struct clock_reading r = clock_read(&c);

		g_assert_false(r.stepped);
		g_assert_cmpuint(r.real_offset, ==, offset);
	}
	clock_close(&c);
}

struct seen {
	GMainLoop *loop;
	bool exited, answered, back;
};

static void on_exited(void *data)
{
	struct seen *s = data;

	s->exited = true;
	g_main_loop_quit(s->loop);
}

static void on_pool(bool back, void *data)
{
	struct seen *s = data;

	s->answered = true;
	s->back = back;
	g_main_loop_quit(s->loop);
}

static void test_watch(void)
{
	struct seen s = { .loop = g_main_loop_new(NULL, FALSE) };
	const struct watch_events events = { .exited = on_exited, .pool = on_pool, .userdata = &s };
	struct watch *w;
	g_autofree char *status = NULL;
	pid_t pid = fork();

	if (pid == 0) {
		pause();
		_exit(0);
	}
	status = g_strdup_printf("%d/status", (int) pid);
	put(status, "Name:\tqemu\nHugetlbPages:\t    4096 kB\n", -1);
	put("kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "1\n", -1);
	g_assert_cmpint(watch_new(pid, 2u << 20, tree, tree, &events, &w), ==, 0);
	watch_sample(w); /* 1 free + 2 held: 3 when it is gone */
	kill(pid, SIGKILL);
	g_main_loop_run(s.loop);
	g_assert_true(s.exited);
	g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
	watch_pool(w);
	g_assert_false(s.answered);
	put("kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "3\n", -1);
	g_main_loop_run(s.loop);
	g_assert_true(s.back);
	watch_free(w);
	g_assert_cmpint(watch_new(pid, 0, tree, tree, &events, &w), ==, -ESRCH);
	g_main_loop_unref(s.loop);
}

static void remove_tree(const char *path)
{
	g_autoptr(GDir) d = g_dir_open(path, 0, NULL);
	const char *name;

	while (d && (name = g_dir_read_name(d))) {
		g_autofree char *child = g_build_filename(path, name, NULL);

		remove_tree(child);
	}
	g_remove(path);
}

int main(int argc, char **argv)
{
	int r;

	g_test_init(&argc, &argv, NULL);
	tree = g_dir_make_tmp("rollbackd-test-XXXXXX", NULL);
	g_assert_nonnull(tree);
	g_test_add_func("/host/procfs finds each side's process", test_finds_each_side);
	g_test_add_func("/host/procfs sees a process replaced", test_sees_a_process_replaced);
	g_test_add_func("/host/procfs reads QEMU's sizes", test_sizes);
	g_test_add_func("/host/backing of a real process", test_backing_of_a_real_process);
	g_test_add_func("/host/hugepages of any size", test_hugepage_pool);
	g_test_add_func("/host/libvirt's status file", test_status_file);
	g_test_add_func("/host/QMP events, odd ones too", test_qmp);
	g_test_add_func("/host/both clocks", test_clock_is_steady);
	g_test_add_func("/host/watching a process end and its pages come back", test_watch);
	r = g_test_run();
	remove_tree(tree);
	g_free(tree);
	return r;
}
