/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <libvirt/virterror.h>

#include "host/libvirt-internal.h"

/* A libvirtd that hangs is found within three missed answers. */
#define KEEPALIVE_SECONDS 5
#define KEEPALIVE_COUNT   3

/* Connecting is a handful of calls and a list; each may take as long as one call. */
#define CONNECT_CALLS 3

#define BACKOFF_MIN NSEC_PER_SEC

/* Two threads a URI connect or close: one that hangs does not keep the next attempt from trying. */
#define ADMIN_THREADS 2

struct attempt {
	char *uri;
	struct lv_pair *pair;
	struct lv_listed *domains;
	unsigned n;
	uint32_t version;
	char *error;             /* NULL: connected */
	char *refused;           /* NULL, or what is missing */
};

char *lv_error(const char *what)
{
	virErrorPtr e = virGetLastError();

	return g_strdup_printf("%s: %s", what, e && e->message ? e->message : "unknown error");
}

static void on_close(virConnectPtr conn, int reason, void *opaque);

static void link_free(void *opaque)
{
	lv_link_unref(opaque);
}

static void close_watch(virConnectPtr conn, struct lv_pair *p, bool *ret_)
{
	*ret_ = virConnectRegisterCloseCallback(conn, on_close, lv_link_ref(p->link), link_free) == 0;
	if (!*ret_)
		lv_link_unref(p->link);
	virConnectSetKeepAlive(conn, KEEPALIVE_SECONDS, KEEPALIVE_COUNT); /* -1 or 1: a driver without a connection to keep */
}

/* Any thread but the main one: every call here may block. */
static void pair_close(struct lv_pair *p)
{
	if (p->events) {
		lv_events_deregister(p);
		if (p->close_events)
			virConnectUnregisterCloseCallback(p->events, on_close);
		virConnectClose(p->events);
	}
	if (p->calls) {
		if (p->close_calls)
			virConnectUnregisterCloseCallback(p->calls, on_close);
		virConnectClose(p->calls);
	}
	lv_link_unref(p->link);
	g_free(p);
}

static gpointer pair_close_thread(gpointer data)
{
	pair_close(data);
	return NULL;
}

struct lv_pair *lv_pair_ref(struct lv_pair *p)
{
	g_atomic_ref_count_inc(&p->refs);
	return p;
}

void lv_pair_unref(struct lv_pair *p)
{
	GThread *t;

	if (!p || !g_atomic_ref_count_dec(&p->refs))
		return;
	/* Without a thread to close it the connection stays: better than a main loop that hangs. */
	t = g_thread_try_new("rbd-close", pair_close_thread, p, NULL);
	if (t)
		g_thread_unref(t);
}

static struct lv_pair *pair_new(struct lv_link *link)
{
	struct lv_pair *p = g_new0(struct lv_pair, 1);

	g_atomic_ref_count_init(&p->refs);
	p->link = lv_link_ref(link);
	p->qmp_callback = -1;
	for (int i = 0; i < LV_CALLBACKS; i++)
		p->callbacks[i] = -1;
	return p;
}

/* Read-only shows lifecycle events at least. */
static virConnectPtr open_best(const char *uri, char **ret_error)
{
	virConnectPtr c = virConnectOpen(uri), ro;

	if (c)
		return c;
	*ret_error = lv_error("cannot connect read-write");
	ro = virConnectOpenReadOnly(uri);
	return ro;
}

enum run_state lv_run_state(int state, int reason, bool *ret_paused_by_migration)
{
	*ret_paused_by_migration = false;
	switch (state) {
	case VIR_DOMAIN_RUNNING:
	case VIR_DOMAIN_BLOCKED:
	case VIR_DOMAIN_SHUTDOWN:
		return RUN_RUNNING;
	case VIR_DOMAIN_PAUSED:
		*ret_paused_by_migration = reason == VIR_DOMAIN_PAUSED_MIGRATION || reason == VIR_DOMAIN_PAUSED_POSTCOPY ||
					   reason == VIR_DOMAIN_PAUSED_POSTCOPY_FAILED;
		return RUN_PAUSED;
	case VIR_DOMAIN_PMSUSPENDED:
		return RUN_PAUSED;
	case VIR_DOMAIN_SHUTOFF:
	case VIR_DOMAIN_CRASHED:
		return RUN_OFF;
	}
	return RUN_UNKNOWN;
}

static bool list_one(virDomainPtr dom, struct lv_listed *ret_)
{
	const char *name = virDomainGetName(dom);
	int state, reason;

	if (virDomainGetUUIDString(dom, ret_->uuid) < 0)
		return false;
	report_copy_text(ret_->name, sizeof(ret_->name), name ? name : "");
	if (virDomainGetState(dom, &state, &reason, 0) < 0)
		return false; /* gone meanwhile: its events tell */
	ret_->run = lv_run_state(state, reason, &ret_->paused_by_migration);
	return true;
}

static bool list(struct attempt *a)
{
	virDomainPtr *doms = NULL;
	int n = virConnectListAllDomains(a->pair->events, &doms, VIR_CONNECT_LIST_DOMAINS_ACTIVE);

	if (n < 0)
		return false;
	a->domains = g_new0(struct lv_listed, (gsize) n + 1);
	for (int i = 0; i < n; i++) {
		a->n += list_one(doms[i], &a->domains[a->n]);
		virDomainFree(doms[i]);
	}
	free(doms);
	return true;
}

static void attempt_run(void *data)
{
	struct attempt *a = data;
	struct lv_pair *p = a->pair;
	unsigned long version;

	p->events = open_best(a->uri, &a->refused);
	if (!p->events) {
		a->error = g_steal_pointer(&a->refused);
		return;
	}
	close_watch(p->events, p, &p->close_events);
	if (lv_events_register(p) < 0) {
		a->error = lv_error("cannot register for lifecycle events");
		return;
	}
	if (p->qmp_callback < 0 && !a->refused)
		a->refused = lv_error("no QMP events");
	if (virConnectGetLibVersion(p->events, &version) == 0)
		a->version = (uint32_t) version;
	if (!list(a)) {
		a->error = lv_error("cannot list domains");
		return;
	}
	p->calls = a->refused && p->qmp_callback < 0 ? virConnectOpenReadOnly(a->uri) : virConnectOpen(a->uri);
	if (!p->calls) {
		a->error = lv_error("cannot open the connection for calls");
		return;
	}
	close_watch(p->calls, p, &p->close_calls);
}

static void attempt_free(void *data)
{
	struct attempt *a = data;

	lv_pair_unref(a->pair);
	g_free(a->uri);
	g_free(a->domains);
	g_free(a->error);
	g_free(a->refused);
	g_free(a);
}

static void set_state(struct lv *lv, enum lv_state state, const char *detail)
{
	bool same = lv->state == state && g_strcmp0(lv->detail, detail) == 0;

	if (same)
		return;
	lv->state = state;
	g_free(lv->detail);
	lv->detail = g_strdup(detail);
	lv->sink.state(lv->sink.userdata, lv);
}

static gboolean on_retry(gpointer data)
{
	struct lv *lv = data;

	lv->retry_timer = 0;
	lv_start(lv);
	return G_SOURCE_REMOVE;
}

static void drop_link(struct lv *lv)
{
	if (lv->link)
		lv_link_cut(lv->link);
	lv_link_unref(lv->link);
	lv->link = NULL;
}

static void down(struct lv *lv, const char *why)
{
	struct lv_pair *pair = g_steal_pointer(&lv->pair);

	drop_link(lv);
	lv_pair_unref(pair);
	lv->qmp = false;
	if (!lv->retry_timer)
		lv->retry_timer = g_timeout_add((guint) (lv->backoff / NSEC_PER_MSEC), on_retry, lv);
	lv->backoff = MIN(lv->backoff * 2, lv->options.reconnect_max);
	set_state(lv, LV_DOWN, why);
}

static void on_close(virConnectPtr conn, int reason, void *opaque)
{
	struct lv_link *l = opaque;

	(void) conn;
	l->closed = true;
	if (!l->lv || !l->listed)
		return; /* attempt_done() looks at it */
	down(l->lv, reason == VIR_CONNECT_CLOSE_REASON_KEEPALIVE ? "libvirt stopped answering" : "libvirt closed the connection");
}

static void up(struct lv *lv, struct attempt *a)
{
	lv->pair = g_steal_pointer(&a->pair);
	lv->backoff = BACKOFF_MIN;
	lv->qmp = lv->pair->qmp_callback >= 0;
	lv->version = a->version;
	set_state(lv, LV_UP, a->refused ? a->refused : "");
	lv->sink.listed(lv->sink.userdata, lv, a->domains, a->n);
	if (lv->link) {
		struct lv_link *l = lv_link_ref(lv->link);

		lv_link_release(l);
		lv_link_unref(l);
	}
}

static void attempt_done(int r, void *data, void *userdata)
{
	struct attempt *a = data;
	struct lv *lv = userdata;

	if (r < 0)
		down(lv, "libvirt does not answer");
	else if (a->error)
		down(lv, a->error);
	else if (a->pair->link->closed)
		down(lv, "libvirt closed the connection");
	else
		up(lv, a);
}

void lv_start(struct lv *lv)
{
	struct attempt *a;
	struct pool_call call;

	drop_link(lv);
	lv->link = lv_link_new(lv);
	a = g_new0(struct attempt, 1);
	a->uri = g_strdup(lv->uri);
	a->pair = pair_new(lv->link);
	call = (struct pool_call) {
		.key = "connect",
		.timeout = CONNECT_CALLS * lv->options.call_timeout,
		.work = attempt_run,
		.done = attempt_done,
		.data_free = attempt_free,
		.data = a,
		.userdata = lv,
	};
	if (lv->state != LV_DOWN)
		set_state(lv, LV_CONNECTING, "");
	if (pool_submit(lv->admin, &call) < 0) {
		attempt_free(a);
		down(lv, "too many attempts to connect hang");
	}
}

static void ignore_error(void *userdata, virErrorPtr error)
{
	(void) userdata;
	(void) error;
}

struct lv *lv_new(const struct lv_options *o, const struct lv_sink *sink)
{
	struct lv *lv = g_new0(struct lv, 1);

	virSetErrorFunc(NULL, ignore_error); /* libvirt would print on stderr */
	lv->options = *o;
	lv->uri = g_strdup(o->uri);
	lv->status_dir = g_strdup(o->status_dir);
	lv->proc = g_strdup(o->proc);
	lv->sink = *sink;
	lv->backoff = BACKOFF_MIN;
	lv->detail = g_strdup("");
	lv->admin = pool_new(ADMIN_THREADS, 4);
	return lv;
}

void lv_free(struct lv *lv)
{
	if (!lv)
		return;
	if (lv->retry_timer)
		g_source_remove(lv->retry_timer);
	pool_free(lv->admin);
	drop_link(lv);
	lv_pair_unref(lv->pair);
	g_free(lv->uri);
	g_free(lv->status_dir);
	g_free(lv->proc);
	g_free(lv->detail);
	g_free(lv);
}

const char *lv_uri(const struct lv *lv)
{
	return lv->uri;
}

enum lv_state lv_get_state(const struct lv *lv)
{
	return lv->state;
}

const char *lv_detail(const struct lv *lv)
{
	return lv->detail;
}

bool lv_qmp_events(const struct lv *lv)
{
	return lv->qmp;
}

uint32_t lv_libvirt_version(const struct lv *lv)
{
	return lv->version;
}
