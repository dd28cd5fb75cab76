/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A QEMU TCG plugin that counts the maintenance instructions an AArch64
 * machine really executes: every TLBI by kind, DC CIVAC / CVAC, IC IALLU(IS).
 *
 * The software inside marks intervals with hint instructions that are no-ops
 * elsewhere: "hint #0x60+d", d = 0..14, appends digit d (base 15) to a tag;
 * "hint #0x6f" ends the interval, writes one line with the tag and what was
 * counted since the last one, and clears the tag. One thread may mark at a
 * time. Counters are of the whole machine.
 *
 * Argument: marks=PATH. Debian ships no qemu-plugin.h, hence the prototypes;
 * build with -DAPI=1 for QEMU 7.2, -DAPI=4 for QEMU 10.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

typedef uint64_t plugin_id;
struct qemu_plugin_tb;
struct qemu_plugin_insn;

void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id, void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(plugin_id, void (*)(plugin_id, void *), void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, void (*)(unsigned int, void *), int flags,
					    void *);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
#if API >= 3
size_t qemu_plugin_insn_data(const struct qemu_plugin_insn *, void *, size_t);
#else
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *);
#endif

EXPORT int qemu_plugin_version = API;

/* A SYS instruction without its register: op1, CRn, CRm, op2. */
#define SYS(op1, crn, crm, op2) ((op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))
#define N_SYS (1 << 14)

static uint64_t count[N_SYS], reported[N_SYS];
static uint64_t tag;
static FILE *out;

static const struct {
	uint16_t sys;
	const char *name;
} names[] = {
	{ SYS(0, 8, 3, 0), "VMALLE1IS" },  { SYS(0, 8, 3, 1), "VAE1IS" },	{ SYS(0, 8, 3, 2), "ASIDE1IS" },
	{ SYS(0, 8, 3, 3), "VAAE1IS" },	   { SYS(0, 8, 3, 5), "VALE1IS" },	{ SYS(0, 8, 3, 7), "VAALE1IS" },
	{ SYS(0, 8, 7, 0), "VMALLE1" },	   { SYS(0, 8, 7, 1), "VAE1" },		{ SYS(0, 8, 7, 2), "ASIDE1" },
	{ SYS(0, 8, 7, 3), "VAAE1" },	   { SYS(0, 8, 7, 5), "VALE1" },	{ SYS(0, 8, 7, 7), "VAALE1" },
	{ SYS(0, 8, 2, 1), "RVAE1IS" },	   { SYS(0, 8, 2, 3), "RVAAE1IS" },	{ SYS(0, 8, 2, 5), "RVALE1IS" },
	{ SYS(0, 8, 2, 7), "RVAALE1IS" },  { SYS(4, 8, 0, 1), "IPAS2E1IS" },	{ SYS(4, 8, 0, 2), "RIPAS2E1IS" },
	{ SYS(4, 8, 0, 5), "IPAS2LE1IS" }, { SYS(4, 8, 0, 6), "RIPAS2LE1IS" },	{ SYS(4, 8, 4, 1), "IPAS2E1" },
	{ SYS(4, 8, 4, 2), "RIPAS2E1" },   { SYS(4, 8, 4, 5), "IPAS2LE1" },	{ SYS(4, 8, 4, 6), "RIPAS2LE1" },
	{ SYS(4, 8, 3, 0), "ALLE2IS" },	   { SYS(4, 8, 3, 1), "VAE2IS" },	{ SYS(4, 8, 3, 4), "ALLE1IS" },
	{ SYS(4, 8, 3, 5), "VALE2IS" },	   { SYS(4, 8, 3, 6), "VMALLS12E1IS" }, { SYS(4, 8, 2, 1), "RVAE2IS" },
	{ SYS(4, 8, 2, 5), "RVALE2IS" },   { SYS(4, 8, 7, 0), "ALLE2" },	{ SYS(4, 8, 7, 1), "VAE2" },
	{ SYS(4, 8, 7, 4), "ALLE1" },	   { SYS(4, 8, 7, 5), "VALE2" },	{ SYS(4, 8, 7, 6), "VMALLS12E1" },
	{ SYS(3, 7, 14, 1), "DC_CIVAC" },  { SYS(3, 7, 10, 1), "DC_CVAC" },	{ SYS(3, 7, 11, 1), "DC_CVAU" },
	{ SYS(0, 7, 1, 0), "IC_IALLUIS" }, { SYS(0, 7, 5, 0), "IC_IALLU" },	{ SYS(3, 7, 5, 1), "IC_IVAU" },
};

static const char *name_of(unsigned int sys)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].sys == sys)
			return names[i].name;
	return NULL;
}

static void print_count(unsigned int sys, uint64_t n)
{
	const char *name = name_of(sys);

	if (name)
		fprintf(out, " %s=%" PRIu64, name, n);
	else
		fprintf(out, " S1_%u_C%u_C%u_%u=%" PRIu64, sys >> 11, (sys >> 7) & 15, (sys >> 3) & 15, sys & 7, n);
}

static void report(void)
{
	fprintf(out, "MARK %" PRIu64, tag);
	for (unsigned int sys = 0; sys < N_SYS; sys++) {
		uint64_t now = __atomic_load_n(&count[sys], __ATOMIC_RELAXED);

		if (now != reported[sys])
			print_count(sys, now - reported[sys]);
		reported[sys] = now;
	}
	fputc('\n', out);
	fflush(out);
	tag = 0;
}

static void on_sys(unsigned int vcpu, void *user)
{
	(void)vcpu;
	__atomic_fetch_add(&count[(uintptr_t)user], 1, __ATOMIC_RELAXED);
}

static void on_hint(unsigned int vcpu, void *user)
{
	uintptr_t digit = (uintptr_t)user;

	(void)vcpu;
	if (digit == 15)
		report();
	else
		tag = tag * 15 + digit;
}

static bool insn_word(const struct qemu_plugin_insn *insn, uint32_t *ret_word)
{
#if API >= 3
	return qemu_plugin_insn_data(insn, ret_word, 4) == 4;
#else
	memcpy(ret_word, qemu_plugin_insn_data(insn), 4);
	return true;
#endif
}

/* TLBI is CRn 8 or, with FEAT_XS's nXS, 9; DC and IC are CRn 7. */
static bool counted(uint32_t word, unsigned int *ret_sys)
{
	unsigned int crn = (word >> 12) & 15;

	if ((word & 0xfff80000) != 0xd5080000 || crn < 7 || crn > 9)
		return false;
	*ret_sys = (word >> 5) & (N_SYS - 1);
	return crn != 7 || name_of(*ret_sys);
}

static void on_translate(plugin_id id, struct qemu_plugin_tb *tb)
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		unsigned int sys;
		uint32_t word;

		if (!insn_word(insn, &word))
			continue;
		if (counted(word, &sys))
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_sys, 0, (void *)(uintptr_t)sys);
		else if ((word & 0xfffff01f) == 0xd503201f && ((word >> 5) & 0x70) == 0x60)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, on_hint, 0,
							       (void *)(uintptr_t)((word >> 5) & 15));
	}
}

static void on_qemu_exit(plugin_id id, void *user)
{
	(void)id;
	(void)user;
	fclose(out);
}

EXPORT int qemu_plugin_install(plugin_id id, const void *info, int argc, char **argv)
{
	(void)info;
	if (argc != 1 || strncmp(argv[0], "marks=", 6) != 0) {
		fprintf(stderr, "maintenance plugin: expected one argument, marks=PATH\n");
		return -1;
	}
	out = fopen(argv[0] + 6, "w");
	if (!out) {
		perror(argv[0] + 6);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translate);
	qemu_plugin_register_atexit_cb(id, on_qemu_exit, NULL);
	return 0;
}
