/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A real QEMU/KVM guest on huge pages, a live migration of it, and its cancel:
 * does the stage-2 stay split? "recovered" demands that table memory is back
 * where it was, "split" that it is not (what a stock kernel does, so that the
 * first cannot pass by measuring nothing). The guest must run on and lose no
 * write.
 *
 * usage: qemu_cancel recovered|split
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "extension.h"
#include "memory.h"
#include "qmp.h"

#define CONSOLE "/tmp/nested.log"
#define QMP "/tmp/nested.qmp"
#define SINK "/tmp/nested.sink"
/* Of 256 MiB, 96 are written: 48 tables of 4 KiB. */
#define SPLIT_KIB 100
/* A block here and there may be in use as a table for good reasons, e.g. the guest's own ROM. */
#define SLACK_KIB 24

static const char *const qemu_argv[] = {
	"/usr/bin/qemu-system-aarch64", "-accel", "kvm", "-cpu", "host", "-M", "virt,gic-version=host,memory-backend=ram",
	"-object", "memory-backend-file,id=ram,mem-path=/mnt/huge,size=256M,prealloc=on", "-m", "256M", "-smp", "1",
	"-nodefaults", "-display", "none", "-net", "none", "-serial", "file:" CONSOLE, "-qmp",
	"unix:" QMP ",server=on,wait=off", "-kernel", "/lab/nested/Image", "-initrd", "/lab/nested/initrd.gz", "-append",
	"console=ttyAMA0 quiet", NULL,
};

static pid_t start_qemu(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execv(qemu_argv[0], (char *const *)qemu_argv);
		fprintf(stderr, "%s: %s\n", qemu_argv[0], strerror(errno));
		_exit(127);
	}
	return pid;
}

/* Last round the guest reported; 0 if none, -EBADMSG if it lost a write. */
static long guest_round(void)
{
	char line[256];
	long round = 0;
	FILE *f = fopen(CONSOLE, "re");

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "BAD")) {
			printf("guest says: %s", line);
			round = -EBADMSG;
			break;
		}
		sscanf(line, "round %ld", &round);
	}
	fclose(f);
	return round;
}

static int wait_round(long at_least, int timeout_s)
{
	for (int i = 0; i < timeout_s * 10; i++) {
		long round = guest_round();

		if (round < 0)
			return (int)round;
		if (round >= at_least)
			return 0;
		usleep(100000);
	}
	return -ETIMEDOUT;
}

static int wait_split(long base_kib, int timeout_s, long *ret_kib)
{
	for (int i = 0; i < timeout_s; i++) {
		*ret_kib = memory_table_kib();
		if (*ret_kib >= base_kib + SPLIT_KIB)
			return 0;
		sleep(1);
	}
	printf("table memory %ld KiB, then %ld: the migration split nothing\n", base_kib, *ret_kib);
	return -ETIMEDOUT;
}

static int wait_cancelled(int qmp)
{
	char answer[8192];

	for (int i = 0; i < 300; i++) {
		int r = qmp_command(qmp, "{\"execute\":\"query-migrate\"}\n", answer, sizeof(answer));

		if (r < 0)
			return r;
		if (strstr(answer, "\"cancelled\""))
			return 0;
		usleep(100000);
	}
	printf("migration still: %s\n", answer);
	return -ETIMEDOUT;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static int migrate_and_cancel(int qmp, long base_kib, long *ret_split_kib)
{
	static const char *const commands[] = {
		"{\"execute\":\"migrate-set-parameters\",\"arguments\":{\"max-bandwidth\":16777216,\"downtime-limit\":1}}\n",
		"{\"execute\":\"migrate\",\"arguments\":{\"uri\":\"unix:" SINK "\"}}\n",
	};
	char answer[8192];
	uint64_t began;
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(commands) / sizeof(commands[0]); i++)
		r = qmp_command(qmp, commands[i], answer, sizeof(answer));
	if (r == 0)
		r = wait_split(base_kib, 60, ret_split_kib);
	began = now_ns();
	if (r == 0)
		r = qmp_command(qmp, "{\"execute\":\"migrate_cancel\"}\n", answer, sizeof(answer));
	if (r == 0)
		r = wait_cancelled(qmp);
	printf("cancel took %.1f ms\n", (double)(now_ns() - began) / 1e6);
	return r;
}

static int judge(bool want_recovered, long base_kib, long split_kib)
{
	long round = guest_round(), after_kib, later_kib;
	int r;

	after_kib = memory_table_kib();
	r = wait_round(round + 3, 60);
	later_kib = memory_table_kib();
	printf("tables KiB: %ld before, %ld migrating, %ld after the cancel, %ld after three more rounds\n", base_kib,
	       split_kib, after_kib, later_kib);
	if (r < 0) {
		printf("the guest does not run on: %s\n", strerror(-r));
		return r;
	}
	if (want_recovered != (after_kib <= base_kib + SLACK_KIB)) {
		printf("failed: expected the stage-2 to be %s\n", want_recovered ? "recovered" : "split");
		return -EPROTO;
	}
	return 0;
}

static int run(bool want_recovered)
{
	long base_kib, split_kib = 0;
	int r = extension_set_log_off(want_recovered), qmp;

	if (r < 0)
		return r;
	r = qmp_sink(SINK);
	if (r < 0)
		return r;
	start_qemu();
	qmp = qmp_open(QMP, 60000);
	if (qmp < 0)
		return qmp;
	r = wait_round(3, 120);
	base_kib = memory_table_kib();
	if (r == 0)
		r = migrate_and_cancel(qmp, base_kib, &split_kib);
	if (r == 0)
		r = judge(want_recovered, base_kib, split_kib);
	close(qmp);
	return r;
}

int main(int argc, char **argv)
{
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc != 2 || (strcmp(argv[1], "recovered") != 0 && strcmp(argv[1], "split") != 0)) {
		printf("usage: qemu_cancel recovered|split\n");
		return 2;
	}
	r = run(strcmp(argv[1], "recovered") == 0);
	if (r == -ENOTSUP) {
		printf("cannot: this kernel has no recovery to switch\n");
		return 77;
	}
	if (r < 0)
		printf("failed: %s\n", strerror(-r));
	return r < 0;
}
