/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fake-model.h"

static nsec_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (nsec_t) ts.tv_sec * NSEC_PER_SEC + (nsec_t) ts.tv_nsec;
}

static unsigned get_connections(void *u, struct model_connection *ret_, unsigned max)
{
	struct fake_model *f = u;

	for (unsigned i = 0; i < f->connections->len && i < max; i++)
		ret_[i] = g_array_index(f->connections, struct model_connection, i);
	return f->connections->len;
}

static unsigned get_counters(void *u, struct model_counter *ret_, unsigned max)
{
	struct fake_model *f = u;

	for (unsigned i = 0; i < f->counters->len && i < max; i++)
		ret_[i] = g_array_index(f->counters, struct model_counter, i);
	return f->counters->len;
}

static const struct report *live_nth(void *u, unsigned n)
{
	struct fake_model *f = u;

	return n < f->live->len ? &((struct fake_live *) g_ptr_array_index(f->live, n))->report : NULL;
}

static const struct report *live_find(void *u, const char *id)
{
	struct fake_live *l = fake_model_find(u, id);

	return l ? &l->report : NULL;
}

struct question {
	struct model_progress progress;
	void (*done)(int r, const struct model_progress *p, void *userdata);
	void *userdata;
};

static gboolean on_answer(gpointer userdata)
{
	struct question *q = userdata;

	q->done(0, &q->progress, q->userdata);
	free(q);
	return G_SOURCE_REMOVE;
}

static int progress(void *u, const char *id, void (*done)(int r, const struct model_progress *p, void *userdata), void *userdata)
{
	struct fake_live *l = fake_model_find(u, id);
	struct question *q;

	if (!l)
		return -ENOENT;
	if (l->progress_result < 0)
		return l->progress_result;
	q = calloc(1, sizeof(*q));
	*q = (struct question) { .progress = l->progress, .done = done, .userdata = userdata };
	g_idle_add(on_answer, q);
	return 0;
}

void fake_model_init(struct fake_model *f, struct store *store)
{
	*f = (struct fake_model) {
		.model = {
			.store = store, .connections = get_connections, .counters = get_counters, .live_nth = live_nth,
			.live_find = live_find, .progress = progress, .backend = "none",
			.backend_reason = "this version observes only", .act = "no",
		},
		.live = g_ptr_array_new_with_free_func(free),
		.connections = g_array_new(FALSE, TRUE, sizeof(struct model_connection)),
		.counters = g_array_new(FALSE, TRUE, sizeof(struct model_counter)),
	};
	f->model.userdata = f;
}

void fake_model_done(struct fake_model *f)
{
	g_ptr_array_unref(f->live);
	g_array_unref(f->connections);
	g_array_unref(f->counters);
}

void fake_model_add_connection(struct fake_model *f, const struct model_connection *c)
{
	struct model_connection copy = *c;

	copy.uri = g_intern_string(c->uri);
	copy.state = g_intern_string(c->state);
	copy.detail = g_intern_string(c->detail);
	for (unsigned i = 0; i < f->connections->len; i++) {
		struct model_connection *old = &g_array_index(f->connections, struct model_connection, i);

		if (strcmp(old->uri, c->uri) == 0) {
			*old = copy;
			return;
		}
	}
	g_array_append_val(f->connections, copy);
}

void fake_model_set_counter(struct fake_model *f, const char *name, uint64_t value)
{
	struct model_counter c = { .name = g_intern_string(name), .value = value };

	for (unsigned i = 0; i < f->counters->len; i++) {
		struct model_counter *old = &g_array_index(f->counters, struct model_counter, i);

		if (strcmp(old->name, name) == 0) {
			old->value = value;
			return;
		}
	}
	g_array_append_val(f->counters, c);
}

struct fake_live *fake_model_begin(struct fake_model *f, struct bus *bus, const char *id, const char *uuid, const char *name)
{
	struct fake_live *l = calloc(1, sizeof(*l));
	struct report *r = &l->report;

	report_init(r);
	report_copy_text(r->id, sizeof(r->id), id);
	report_copy_text(r->uuid, sizeof(r->uuid), uuid);
	report_copy_text(r->name, sizeof(r->name), name);
	report_copy_text(r->uri, sizeof(r->uri), "qemu:///system");
	report_copy_text(r->boot_id, sizeof(r->boot_id), "0a0b0c0d-0102-0304-0506-070809101112");
	report_copy_text(r->kernel, sizeof(r->kernel), "6.1.0");
	report_copy_text(r->arch, sizeof(r->arch), "aarch64");
	report_copy_text(r->backend, sizeof(r->backend), "none");
	report_copy_text(r->backend_reason, sizeof(r->backend_reason), "this version observes only");
	report_copy_text(r->backing.reason, sizeof(r->backing.reason), "there is no process: this is a test");
	r->page_size = 4096;
	r->qemu_version = 7002019;
	r->libvirt_version = 9000000;
	r->side = SIDE_SOURCE;
	r->operation = OP_MIGRATION;
	r->driver = DRIVER_P2P;
	r->state = MIG_SETUP;
	r->real_offset = now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC);
	fake_live_mark(l, MARK_T0, STAMP_QMP);
	l->progress = (struct model_progress) { .processed_bytes = 1, .remaining_bytes = 2, .total_bytes = 3, .age_usec = 4 };
	g_ptr_array_add(f->live, l);
	if (bus)
		bus_migration_added(bus, r);
	return l;
}

struct fake_live *fake_model_find(struct fake_model *f, const char *id)
{
	for (guint i = 0; i < f->live->len; i++) {
		struct fake_live *l = g_ptr_array_index(f->live, i);

		if (strcmp(l->report.id, id) == 0)
			return l;
	}
	return NULL;
}

void fake_live_mark(struct fake_live *l, enum mark_id mark, enum stamp_source source)
{
	l->report.marks[mark] = (struct mark) {
		.at = now(CLOCK_MONOTONIC) / NSEC_PER_USEC * NSEC_PER_USEC, .resolution = NSEC_PER_USEC, .source = source,
	};
}

void fake_model_finish(struct fake_model *f, struct bus *bus, struct fake_live *l, enum mig_state state, enum outcome outcome)
{
	l->report.state = state;
	l->report.outcome = outcome;
	fake_live_mark(l, MARK_TE, STAMP_QMP);
	store_put(f->model.store, &l->report);
	if (bus)
		bus_migration_finished(bus, &l->report);
	g_ptr_array_remove(f->live, l);
}
