/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* libvirt's callbacks, turned into plain events. They run on the main thread, inside libvirt's event loop; no call that
 * leaves the process is made here. */

#include <errno.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/virterror.h>

#include "host/libvirt-internal.h"
#include "host/qmp.h"

/* A daemon that comes up on a busy host sees a burst while it lists; beyond this something is wrong, and it is counted. */
#define HELD_MAX 20000

G_STATIC_ASSERT(LIFECYCLE_STARTED == (int) VIR_DOMAIN_EVENT_STARTED);
G_STATIC_ASSERT(LIFECYCLE_SUSPENDED == (int) VIR_DOMAIN_EVENT_SUSPENDED);
G_STATIC_ASSERT(LIFECYCLE_RESUMED == (int) VIR_DOMAIN_EVENT_RESUMED);
G_STATIC_ASSERT(LIFECYCLE_STOPPED == (int) VIR_DOMAIN_EVENT_STOPPED);
G_STATIC_ASSERT(LIFECYCLE_CRASHED == (int) VIR_DOMAIN_EVENT_CRASHED);
G_STATIC_ASSERT(DEFINED_RENAMED == (int) VIR_DOMAIN_EVENT_DEFINED_RENAMED);
G_STATIC_ASSERT(UNDEFINED_RENAMED == (int) VIR_DOMAIN_EVENT_UNDEFINED_RENAMED);
G_STATIC_ASSERT(STARTED_MIGRATED == (int) VIR_DOMAIN_EVENT_STARTED_MIGRATED);
G_STATIC_ASSERT(STARTED_RESTORED == (int) VIR_DOMAIN_EVENT_STARTED_RESTORED);
G_STATIC_ASSERT(SUSPENDED_MIGRATED == (int) VIR_DOMAIN_EVENT_SUSPENDED_MIGRATED);
G_STATIC_ASSERT(SUSPENDED_POSTCOPY == (int) VIR_DOMAIN_EVENT_SUSPENDED_POSTCOPY);
G_STATIC_ASSERT(SUSPENDED_POSTCOPY_FAILED == (int) VIR_DOMAIN_EVENT_SUSPENDED_POSTCOPY_FAILED);
G_STATIC_ASSERT(RESUMED_MIGRATED == (int) VIR_DOMAIN_EVENT_RESUMED_MIGRATED);
G_STATIC_ASSERT(STOPPED_MIGRATED == (int) VIR_DOMAIN_EVENT_STOPPED_MIGRATED);
G_STATIC_ASSERT(STOPPED_SAVED == (int) VIR_DOMAIN_EVENT_STOPPED_SAVED);
G_STATIC_ASSERT(STOPPED_FAILED == (int) VIR_DOMAIN_EVENT_STOPPED_FAILED);

struct held_event {
	char uuid[REPORT_UUID_LEN + 1];
	char name[REPORT_NAME_MAX];
	struct event ev;
	bool is_qmp;
	long long seconds;
	unsigned micros;
};

static void pass_on(struct lv *lv, struct held_event *h)
{
	if (h->is_qmp)
		lv->sink.qmp(lv->sink.userdata, lv, h->uuid, h->name, &h->ev, h->seconds, h->micros);
	else
		lv->sink.event(lv->sink.userdata, lv, h->uuid, h->name, &h->ev);
}

static void take(struct lv_link *l, virDomainPtr dom, struct held_event *h)
{
	const char *name = virDomainGetName(dom);

	if (!l->lv || virDomainGetUUIDString(dom, h->uuid) < 0)
		return;
	report_copy_text(h->name, sizeof(h->name), name ? name : "");
	if (l->listed)
		pass_on(l->lv, h);
	else if (l->held.length < HELD_MAX)
		g_queue_push_tail(&l->held, g_memdup2(h, sizeof(*h)));
	else
		l->held_dropped++;
}

/* An event that has just arrived; false when nobody listens any more. */
static bool arrive(struct lv_link *l, enum event_kind kind, enum stamp_source source, struct held_event *ret_)
{
	struct clock_reading now;

	if (!l->lv)
		return false;
	now = clock_read(l->lv->options.clock);
	*ret_ = (struct held_event) { .ev = event_at_arrival(kind, source, now.monotonic, now.real_offset) };
	ret_->ev.clock_stepped = now.stepped;
	return true;
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr dom, int event, int detail, void *opaque)
{
	struct held_event h;

	(void) conn;
	if (!arrive(opaque, EVENT_LIFECYCLE, STAMP_LIFECYCLE, &h))
		return 0;
	h.ev.lifecycle.event = event;
	h.ev.lifecycle.detail = detail;
	take(opaque, dom, &h);
	return 0;
}

static void on_iteration(virConnectPtr conn, virDomainPtr dom, int iteration, void *opaque)
{
	struct held_event h;

	(void) conn;
	if (!arrive(opaque, EVENT_ITERATION, STAMP_LIFECYCLE, &h))
		return;
	h.ev.iteration = iteration > 0 ? (uint32_t) iteration : 0;
	take(opaque, dom, &h);
}

static void on_job_completed(virConnectPtr conn, virDomainPtr dom, virTypedParameterPtr params, int n, void *opaque)
{
	struct held_event h;

	(void) conn;
	(void) params; /* wrong or empty after a rollback (docs/measuring.md) */
	(void) n;
	if (arrive(opaque, EVENT_JOB_COMPLETED, STAMP_LIFECYCLE, &h))
		take(opaque, dom, &h);
}

static void on_qmp(virConnectPtr conn, virDomainPtr dom, const char *event, long long seconds, unsigned micros, const char *details, void *opaque)
{
	struct held_event h;

	(void) conn;
	if (!arrive(opaque, EVENT_QMP_UNKNOWN, STAMP_ARRIVAL, &h) || qmp_decode(event, details, &h.ev) < 0)
		return;
	h.is_qmp = true;
	h.seconds = seconds;
	h.micros = micros;
	take(opaque, dom, &h);
}

static void link_free(void *opaque)
{
	lv_link_unref(opaque);
}

static int register_one(struct lv_pair *p, int id, virConnectDomainEventGenericCallback cb)
{
	int r = virConnectDomainEventRegisterAny(p->events, NULL, id, cb, lv_link_ref(p->link), link_free);

	if (r < 0)
		lv_link_unref(p->link);
	return r;
}

int lv_events_register(struct lv_pair *p)
{
	p->callbacks[0] = register_one(p, VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle));
	if (p->callbacks[0] < 0)
		return -EIO;
	p->callbacks[1] = register_one(p, VIR_DOMAIN_EVENT_ID_MIGRATION_ITERATION, VIR_DOMAIN_EVENT_CALLBACK(on_iteration));
	p->callbacks[2] = register_one(p, VIR_DOMAIN_EVENT_ID_JOB_COMPLETED, VIR_DOMAIN_EVENT_CALLBACK(on_job_completed));
	p->qmp_callback = virConnectDomainQemuMonitorEventRegister(p->events, NULL, QMP_EVENTS_REGEX, on_qmp, lv_link_ref(p->link), link_free,
								   VIR_CONNECT_DOMAIN_QEMU_MONITOR_EVENT_REGISTER_REGEX);
	if (p->qmp_callback < 0)
		lv_link_unref(p->link);
	return 0;
}

void lv_events_deregister(struct lv_pair *p)
{
	for (int i = 0; i < LV_CALLBACKS; i++)
		if (p->callbacks[i] >= 0)
			virConnectDomainEventDeregisterAny(p->events, p->callbacks[i]);
	if (p->qmp_callback >= 0)
		virConnectDomainQemuMonitorEventDeregister(p->events, p->qmp_callback);
}

struct lv_link *lv_link_new(struct lv *lv)
{
	struct lv_link *l = g_new0(struct lv_link, 1);

	g_atomic_ref_count_init(&l->refs);
	g_queue_init(&l->held);
	l->lv = lv;
	return l;
}

struct lv_link *lv_link_ref(struct lv_link *l)
{
	g_atomic_ref_count_inc(&l->refs);
	return l;
}

void lv_link_unref(struct lv_link *l)
{
	if (!l || !g_atomic_ref_count_dec(&l->refs))
		return;
	g_queue_clear_full(&l->held, g_free);
	g_free(l);
}

void lv_link_cut(struct lv_link *l)
{
	l->lv = NULL;
	g_queue_clear_full(&l->held, g_free);
}

void lv_link_release(struct lv_link *l)
{
	struct held_event *h;

	l->listed = true;
	while (l->lv && (h = g_queue_pop_head(&l->held))) {
		pass_on(l->lv, h);
		g_free(h);
	}
}
