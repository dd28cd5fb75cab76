/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Measures one cell on the kernel it runs on and prints it as one line,
 * "CELL key=value ...". Times are of this machine: under emulation, ratios
 * inside one boot only. Exit 0: measured and contents right; 77: this kernel
 * or its memory cannot; 1: anything else.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cell.h"

static void usage(void)
{
	printf("usage: probe --number N --backing pmd|1g|thp --size MIB --density 1|50|100\n"
	       "             --access rw|ro|mixed --method slot|fault|logoff|hole|inplace [--stall VCPUS]\n");
}

static int parse_number(const char *text, unsigned long min, unsigned long max, unsigned long *ret_value)
{
	char *end;

	errno = 0;
	*ret_value = strtoul(text, &end, 10);
	if (errno || *end || end == text || *ret_value < min || *ret_value > max) {
		printf("'%s': expected a number from %lu to %lu\n", text, min, max);
		return -EINVAL;
	}
	return 0;
}

static int parse_option(struct cell *cell, int option, const char *text)
{
	unsigned long n = 0;
	int r = 0;

	switch (option) {
	case 'n':
		r = parse_number(text, 1, 6000, &n);
		cell->number = (unsigned int)n;
		break;
	case 's':
		r = parse_number(text, 1, 1 << 20, &n);
		cell->size = (size_t)n << 20;
		break;
	case 'd':
		r = parse_number(text, 1, 100, &n);
		cell->density = (unsigned int)n;
		break;
	case 'v':
		r = parse_number(text, 0, STALL_VCPUS_MAX, &n);
		cell->stall_vcpus = (unsigned int)n;
		break;
	case 'b':
		cell->backing = backing_from_string(text);
		break;
	case 'a':
		cell->access = access_from_string(text);
		break;
	case 'm':
		cell->method = method_from_string(text);
		break;
	default:
		r = -EINVAL;
	}
	return r;
}

static int parse(int argc, char **argv, struct cell *ret_cell)
{
	static const struct option options[] = {
		{ "number", required_argument, NULL, 'n' },  { "backing", required_argument, NULL, 'b' },
		{ "size", required_argument, NULL, 's' },    { "density", required_argument, NULL, 'd' },
		{ "access", required_argument, NULL, 'a' },  { "method", required_argument, NULL, 'm' },
		{ "stall", required_argument, NULL, 'v' },   { 0 },
	};
	struct cell cell = { .number = 1, .backing = BACKING_PMD, .size = 64 << 20, .density = 100 };
	int c;

	cell.access = ACCESS_RO;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		if (parse_option(&cell, c, optarg) < 0)
			return -EINVAL;
	if (optind != argc || cell.backing == _BACKING_INVALID || cell.access == _ACCESS_INVALID ||
	    cell.method == _METHOD_INVALID)
		return -EINVAL;
	*ret_cell = cell;
	return 0;
}

static void print_interval(const char *name, const struct interval *interval)
{
	printf(" %s_ns=%" PRIu64 " %s_tag=%u", name, interval->ns, name, interval->tag);
}

static void print_extension(const struct extension_result *e)
{
	printf(" x_flushes=%" PRIu64 " x_tables=%" PRIu64 " x_leaves=%" PRIu64 " x_installed=%" PRIu64, e->flush_calls,
	       e->tables, e->leaves, e->installed);
	printf(" x_kept=%" PRIu64 " x_holds=%" PRIu64 " x_holds_idle=%" PRIu64, e->kept, e->holds, e->holds_idle);
	printf(" x_longest_ns=%" PRIu64 " x_free_ns=%" PRIu64, e->longest_hold_ns, e->free_ns);
}

static void print_report(const struct cell *cell, const struct cell_report *r)
{
	printf("CELL number=%u backing=%s mib=%zu density=%u access=%s method=%s stall=%u", cell->number,
	       backing_to_string(cell->backing), cell->size >> 20, cell->density, access_to_string(cell->access),
	       method_to_string(cell->method), cell->stall_vcpus);
	printf(" blocks=%" PRIu64 " dirtied=%" PRIu64, r->blocks, r->dirtied);
	print_interval("logon", &r->logon);
	print_interval("logoff", &r->logoff);
	print_interval("op", &r->op);
	print_interval("touch", &r->touch);
	printf(" kib_whole=%ld kib_split=%ld kib_logoff=%ld kib_op=%ld kib_touch=%ld", r->kib_whole, r->kib_split,
	       r->kib_logoff, r->kib_op, r->kib_touch);
	printf("\nCELL2 number=%u holds=%" PRIu64 " longest_ns=%" PRIu64 " held_ns=%" PRIu64, cell->number,
	       r->holds.calls, r->holds.longest_ns, r->holds.total_ns);
	printf(" idle_stall_ns=%" PRIu64 " busy_stall_ns=%" PRIu64 " stall_faults=%" PRIu64 " ran_dry=%d",
	       r->stall.idle_ns, r->stall.busy_ns, r->stall.faults, r->stall.ran_dry);
	print_extension(&r->extension);
	printf("\n");
}

/* Marks come from one place: the CPU that interrupts of the others do not reach. */
static void stay_on_cpu_0(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(0, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(int argc, char **argv)
{
	struct cell_report report;
	struct cell cell;
	int r = parse(argc, argv, &cell);

	if (r < 0) {
		usage();
		return 2;
	}
	if (!cell.stall_vcpus)
		stay_on_cpu_0();
	r = cell_run(&cell, &report);
	if (r == -ENOTSUP || r == -ENOMEM) {
		printf("cannot: %s\n", strerror(-r));
		return 77;
	}
	if (r < 0) {
		printf("failed: %s\n", strerror(-r));
		return 1;
	}
	print_report(&cell, &report);
	return 0;
}
