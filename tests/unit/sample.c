/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "sample.h"

#define BEGAN_REAL_USEC  INT64_C(1796061823123456) /* 2026-11-30T18:03:43.123456Z */
#define BEGAN_MONO_USEC  UINT64_C(123456789)

static void set(struct report *r, enum mark_id id, uint64_t usec, enum stamp_source source, uint64_t resolution_usec)
{
	r->marks[id] = (struct mark) {
		.at = (BEGAN_MONO_USEC + usec) * NSEC_PER_USEC, .source = source, .resolution = resolution_usec * NSEC_PER_USEC,
	};
}

static void came(struct report *r, uint64_t usec, const char *what)
{
	struct timeline_entry *e = &r->timeline[r->timeline_n++];

	e->at = (BEGAN_MONO_USEC + usec) * NSEC_PER_USEC;
	e->arrival = e->at + 3212 * NSEC_PER_USEC;
	e->stamp_usec = BEGAN_REAL_USEC + (int64_t) usec;
	e->source = STAMP_QMP;
	snprintf(e->what, sizeof(e->what), "%s", what);
	r->events++;
	r->stamps_qmp++;
}

static void common(struct report *r, uint64_t id)
{
	memset(r, 0, sizeof(*r));
	report_init(r);
	report_set_id(r, id);
	strcpy(r->uuid, "5f7c8b52-6f2e-4a53-9d0e-3d4a5d0f9a11");
	strcpy(r->name, "guest1");
	strcpy(r->uri, "qemu:///system");
	strcpy(r->boot_id, "0a0b0c0d-0102-0304-0506-070809101112");
	strcpy(r->kernel, "6.12.117");
	strcpy(r->arch, "aarch64");
	r->page_size = 4096;
	r->qemu_version = 7002019;
	r->libvirt_version = 9000000;
	r->side = SIDE_SOURCE;
	r->operation = OP_MIGRATION;
	r->driver = DRIVER_P2P;
	r->real_offset = (uint64_t) (BEGAN_REAL_USEC - (int64_t) BEGAN_MONO_USEC) * NSEC_PER_USEC;
	r->vcpus = 2;
	r->memory_bytes = 512 << 20;
	r->backing.pid = 4711;
	r->backing.n = 2;
	r->backing.pages[0].kind = PAGE_HUGETLB;
	r->backing.pages[0].page_size = 2 << 20;
	r->backing.pages[0].bytes = 512 << 20;
	r->backing.pages[1].kind = PAGE_BASE;
	r->backing.pages[1].page_size = 4096;
	r->backing.pages[1].bytes = 30 << 20;
	strcpy(r->backend, "none");
	strcpy(r->backend_reason, "this version observes only");
}

static void source_rollback(struct report *r)
{
	common(r, 0x6f1d0c9a4be2a713);
	r->state = MIG_RESUMED;
	r->outcome = OUTCOME_FAILED;
	r->cause = CAUSE_QEMU_FAILED;
	r->paused = true;
	r->iterations = 4;
	set(r, MARK_T0, 0, STAMP_QMP, 1);
	set(r, MARK_TS, 5987654, STAMP_QMP, 1);
	set(r, MARK_T1, 5987801, STAMP_QMP, 1);
	set(r, MARK_T2, 6200111, STAMP_QMP, 1);
	set(r, MARK_T3, 6530865, STAMP_QMP, 1);
	set(r, MARK_TE, 6531002, STAMP_QMP, 1);
	r->marks[MARK_TB].missing = MISSING_NOT_SEEN;
	came(r, 0, "MIGRATION setup");
	came(r, 80012, "MIGRATION active");
	came(r, 5987654, "STOP");
	came(r, 6200111, "MIGRATION failed");
	came(r, 6530865, "RESUME");
}

static void source_cancel_running(struct report *r)
{
	common(r, 0x00000000000000a1);
	r->driver = DRIVER_DIRECT;
	r->state = MIG_RESUMED;
	r->outcome = OUTCOME_CANCELLED;
	r->cause = CAUSE_CANCEL;
	r->iterations = 2;
	set(r, MARK_TB, 0, STAMP_JOB, 1000);
	set(r, MARK_T0, 310000, STAMP_QMP, 1);
	set(r, MARK_T2, 4000000, STAMP_QMP, 1);
	set(r, MARK_TE, 4002500, STAMP_QMP, 1);
	r->marks[MARK_TS].missing = MISSING_NOT_APPLICABLE;
	r->marks[MARK_T1].missing = MISSING_NOT_APPLICABLE;
	r->marks[MARK_T3].missing = MISSING_NOT_APPLICABLE;
	r->marks[MARK_T4].missing = MISSING_NOT_APPLICABLE;
	report_note(r, NOTE_STORAGE_COPY);
	came(r, 310000, "MIGRATION setup");
	came(r, 4000000, "MIGRATION cancelling");
	came(r, 4002500, "MIGRATION cancelled");
}

static void destination_failed(struct report *r)
{
	common(r, 0xfedcba9876543210);
	r->side = SIDE_DESTINATION;
	r->driver = DRIVER_UNKNOWN;
	r->state = MIG_GONE;
	r->outcome = OUTCOME_FAILED;
	r->cause = CAUSE_QEMU_EXITED;
	set(r, MARK_D0, 0, STAMP_LIFECYCLE, 1000);
	set(r, MARK_D1, 120000, STAMP_QMP, 1);
	set(r, MARK_D2, 6190000, STAMP_QMP, 1);
	set(r, MARK_D3, 6250000, STAMP_KERNEL, 1);
	set(r, MARK_TE, 6250000, STAMP_KERNEL, 1);
	set(r, MARK_D4, 6310000, STAMP_KERNEL, 50000);
	r->marks[MARK_D4].flags = MARK_LOWER_BOUND;
	came(r, 120000, "MIGRATION active");
	came(r, 6190000, "MIGRATION failed");
}

/* As little as can be known: found on start, refused QMP events, libvirt too old to say more. */
static void joined_late(struct report *r)
{
	common(r, 0x1);
	r->side = SIDE_UNKNOWN;
	r->operation = OP_UNKNOWN;
	r->driver = DRIVER_UNKNOWN;
	r->state = MIG_LOST;
	r->outcome = OUTCOME_LOST;
	r->cause = CAUSE_NOT_WATCHED;
	r->qemu_version = r->libvirt_version = 0;
	r->page_size = r->memory_bytes = 0;
	r->vcpus = 0;
	r->name[0] = r->boot_id[0] = r->kernel[0] = r->arch[0] = '\0';
	r->backing = (struct backing) { .reason = "no QEMU process of this domain was found" };
	for (int i = 0; i < MARK_MAX; i++)
		r->marks[i].missing = i < MARK_T4 ? MISSING_JOINED_LATE : MISSING_QMP_REFUSED;
	report_note(r, NOTE_JOINED_LATE);
	report_note(r, NOTE_QMP_REFUSED);
}

static void in_flight(struct report *r)
{
	common(r, 0xabcdef0123456789);
	r->state = MIG_SWITCHOVER;
	r->outcome = OUTCOME_NONE;
	r->paused = true;
	set(r, MARK_T0, 0, STAMP_QMP, 1);
	set(r, MARK_TS, 900000, STAMP_ARRIVAL, 1000);
	set(r, MARK_T1, 900000, STAMP_INFERRED, 1000);
	r->marks[MARK_T1].flags = MARK_CLAMPED | MARK_LATE | MARK_LOWER_BOUND;
	r->marks_clamped = 1;
	report_note(r, NOTE_MARKS_CLAMPED);
	came(r, 0, "MIGRATION setup");
	r->timeline[0].stamp_usec = -1;
	r->timeline[0].source = STAMP_ARRIVAL;
}

/* As long as can be: every note, every text and list full. */
static void everything(struct report *r)
{
	source_rollback(r);
	report_set_id(r, UINT64_MAX);
	memset(r->name, 'n', sizeof(r->name) - 1);
	memcpy(r->name, "\"g\\u\303\244st\"\t", 11);
	memset(r->uri, 'u', sizeof(r->uri) - 1);
	memset(r->kernel, 'k', sizeof(r->kernel) - 1);
	memset(r->arch, 'a', sizeof(r->arch) - 1);
	memset(r->backend, 'b', sizeof(r->backend) - 1);
	memset(r->backend_reason, 'r', sizeof(r->backend_reason) - 1);
	memset(r->backing.reason, 'p', sizeof(r->backing.reason) - 1);
	r->qemu_version = r->libvirt_version = UINT32_MAX;
	r->notes = (1u << NOTE_MAX) - 1;
	r->memory_bytes = INT64_MAX;
	r->backing.n = REPORT_PAGES_MAX;
	for (unsigned i = 0; i < REPORT_PAGES_MAX; i++) {
		r->backing.pages[i].kind = (enum page_kind) (i % PAGE_KIND_MAX);
		r->backing.pages[i].page_size = UINT64_C(4096) << i;
		r->backing.pages[i].bytes = INT64_MAX;
	}
	while (r->timeline_n < REPORT_TIMELINE_MAX)
		came(r, 6530865 + r->timeline_n, "RESUMED/MIGRATED, and as long as it may");
	r->timeline_dropped = UINT32_MAX;
	r->events = UINT32_MAX;
}

const struct sample samples[] = {
	{ "source-rollback", source_rollback },
	{ "source-cancel-running", source_cancel_running },
	{ "destination-failed", destination_failed },
	{ "joined-late", joined_late },
	{ "in-flight", in_flight },
	{ "everything", everything },
};
const unsigned samples_n = sizeof(samples) / sizeof(samples[0]);

void sample_nth(struct report *r, unsigned n, unsigned domains)
{
	source_rollback(r);
	report_set_id(r, (n + 1) * UINT64_C(0x9e3779b97f4a7c15)); /* odd, so all differ */
	r->real_offset += n * NSEC_PER_SEC;
	snprintf(r->uuid, sizeof(r->uuid), "5f7c8b52-6f2e-4a53-9d0e-%012x", n % domains);
	snprintf(r->name, sizeof(r->name), "guest%u", n % domains);
}

/* splitmix64: small, and the same everywhere. */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void draw_text(uint64_t *s, char *to, size_t size)
{
	size_t n = draw(s) % size;

	memset(to, 0, size);
	for (size_t i = 0; i < n; i++)
		to[i] = (char) (1 + draw(s) % 127);
}

static void draw_marks(struct report *r, uint64_t *s)
{
	for (int i = 0; i < MARK_MAX; i++) {
		struct mark *m = &r->marks[i];
		bool listed = r->side == SIDE_UNKNOWN || (r->side == SIDE_SOURCE ? i < MARK_D0 : i >= MARK_D0 || i == MARK_TE);

		if (draw(s) % 3 == 0) {
			if (listed)
				m->missing = (enum missing) (draw(s) % MISSING_MAX);
			continue;
		}
		m->missing = MISSING_NOT_SEEN;
		/* Te ends a destination's record and comes before T4 on a source. */
		m->at = (1000000 * (uint64_t) (i == MARK_TE && r->side == SIDE_DESTINATION ? MARK_MAX + 1 : i + 1) + draw(s) % 1000000) * NSEC_PER_USEC;
		m->resolution = draw(s) % 100000 * NSEC_PER_USEC;
		m->source = (enum stamp_source) (draw(s) % STAMP_MAX);
		m->flags = draw(s) % 8;
	}
}

static void draw_lists(struct report *r, uint64_t *s)
{
	r->backing.n = draw(s) % (REPORT_PAGES_MAX + 1);
	for (unsigned i = 0; i < r->backing.n; i++) {
		r->backing.pages[i].kind = (enum page_kind) (draw(s) % PAGE_KIND_MAX);
		r->backing.pages[i].page_size = draw(s) >> 1;
		r->backing.pages[i].bytes = draw(s) >> 1;
	}
	r->timeline_n = draw(s) % (REPORT_TIMELINE_MAX + 1);
	for (unsigned i = 0; i < r->timeline_n; i++) {
		struct timeline_entry *e = &r->timeline[i];

		e->at = draw(s) % 5 ? (draw(s) >> 20) * NSEC_PER_USEC : NSEC_INVALID;
		e->arrival = draw(s) % 5 ? (draw(s) >> 20) * NSEC_PER_USEC : NSEC_INVALID;
		e->stamp_usec = draw(s) % 5 ? (int64_t) (draw(s) >> 1) : -1;
		e->source = (enum stamp_source) (draw(s) % STAMP_MAX);
		draw_text(s, e->what, sizeof(e->what));
	}
}

void sample_random(struct report *r, uint64_t seed)
{
	uint64_t s = seed;

	common(r, draw(&s));
	memset(&r->backing, 0, sizeof(r->backing));
	snprintf(r->boot_id, sizeof(r->boot_id), "00000000-0000-0000-0000-%012llx", (unsigned long long) (draw(&s) >> 16));
	draw_text(&s, r->name, sizeof(r->name));
	draw_text(&s, r->uri, sizeof(r->uri));
	draw_text(&s, r->kernel, sizeof(r->kernel));
	draw_text(&s, r->arch, sizeof(r->arch));
	draw_text(&s, r->backend, sizeof(r->backend));
	draw_text(&s, r->backend_reason, sizeof(r->backend_reason));
	draw_text(&s, r->backing.reason, sizeof(r->backing.reason));
	r->backing.pid = (int32_t) (draw(&s) >> 33);
	r->page_size = draw(&s) >> 1;
	r->memory_bytes = draw(&s) >> 1;
	r->qemu_version = (uint32_t) draw(&s);
	r->libvirt_version = (uint32_t) draw(&s);
	r->side = (enum side) (draw(&s) % SIDE_MAX);
	r->operation = (enum operation) (draw(&s) % OP_MAX);
	r->driver = (enum driver) (draw(&s) % DRIVER_MAX);
	r->state = (enum mig_state) (draw(&s) % MIG_STATE_MAX);
	r->outcome = (enum outcome) (draw(&s) % OUTCOME_MAX);
	r->cause = (enum cause) (draw(&s) % CAUSE_MAX);
	r->paused = draw(&s) % 2;
	r->notes = (uint32_t) draw(&s) & ((1u << NOTE_MAX) - 1);
	r->real_offset = draw(&s);
	r->vcpus = (uint32_t) draw(&s);
	r->iterations = (uint32_t) draw(&s);
	r->events = (uint32_t) draw(&s);
	r->events_unknown = (uint32_t) draw(&s);
	r->events_out_of_order = (uint32_t) draw(&s);
	r->marks_clamped = (uint32_t) draw(&s);
	r->stamps_qmp = (uint32_t) draw(&s);
	r->stamps_arrival = (uint32_t) draw(&s);
	r->stamps_rejected = (uint32_t) draw(&s);
	r->timeline_dropped = (uint32_t) draw(&s);
	draw_marks(r, &s);
	draw_lists(r, &s);
}
