/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "holds.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "memory.h"

#define TRACING "/sys/kernel/tracing/"
#define THREADS_MAX 64

static const char *const functions[] = { "kvm_pgtable_stage2_unmap", "kvm_pgtable_stage2_map" };

static int append_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), r = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

static int define_probes(void)
{
	char text[128];
	int r = 0;

	for (size_t i = 0; r == 0 && i < sizeof(functions) / sizeof(functions[0]); i++) {
		snprintf(text, sizeof(text), "p:lab/in%zu %s\nr:lab/out%zu %s\n", i, functions[i], i, functions[i]);
		r = append_file(TRACING "kprobe_events", text);
	}
	return r;
}

int holds_begin(void)
{
	int r = 0;

	if (access(TRACING "events/lab/in0", F_OK) < 0)
		r = define_probes();
	if (r == 0)
		r = write_file(TRACING "trace_clock", "mono");
	if (r == 0)
		r = write_file(TRACING "buffer_size_kb", "8192");
	if (r == 0)
		r = write_file(TRACING "trace", "");
	if (r == 0)
		r = write_file(TRACING "events/lab/enable", "1");
	return r;
}

struct entry {
	int pid;
	uint64_t ns;
};

static struct entry *slot_of(struct entry *entries, int pid)
{
	for (int i = 0; i < THREADS_MAX; i++)
		if (entries[i].pid == pid || entries[i].pid == 0) {
			entries[i].pid = pid;
			return &entries[i];
		}
	return NULL;
}

/* "  task-123  [000] .....  12.345678: in0: (...)"; the task's name may hold anything */
static int parse_event(const char *line, int *ret_pid, uint64_t *ret_ns, int *ret_is_entry)
{
	const char *cpu = strstr(line, " ["), *dash;
	unsigned long sec, usec;
	char event[8];

	if (!cpu)
		return -EINVAL;
	for (dash = cpu; dash > line && *dash != '-'; dash--)
		;
	if (sscanf(dash, "-%d", ret_pid) != 1)
		return -EINVAL;
	if (sscanf(cpu, " [%*d] %*s %lu.%lu: %7[a-z0-9]:", &sec, &usec, event) != 3)
		return -EINVAL;
	*ret_ns = ((uint64_t)sec * 1000000 + usec) * 1000;
	*ret_is_entry = event[0] == 'i';
	return 0;
}

static void add_event(struct holds *holds, struct entry *entries, const char *line)
{
	int pid, is_entry;
	struct entry *entry;
	uint64_t ns, took;

	if (line[0] == '#' || parse_event(line, &pid, &ns, &is_entry) < 0)
		return;
	entry = slot_of(entries, pid);
	if (!entry)
		return;
	if (is_entry) {
		entry->ns = ns;
	} else if (entry->ns) {
		took = ns - entry->ns;
		holds->calls++;
		holds->total_ns += took;
		if (took > holds->longest_ns)
			holds->longest_ns = took;
		entry->ns = 0;
	}
}

int holds_end(struct holds *ret_holds)
{
	struct entry entries[THREADS_MAX] = { 0 };
	struct holds holds = { 0 };
	char line[512];
	FILE *trace;
	int r = write_file(TRACING "events/lab/enable", "0");

	if (r < 0)
		return r;
	trace = fopen(TRACING "trace", "re");
	if (!trace)
		return -errno;
	while (fgets(line, sizeof(line), trace))
		add_event(&holds, entries, line);
	fclose(trace);
	*ret_holds = holds;
	return 0;
}
