/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What is asked of libvirt, on threads of the pool that all URIs share.
 *
 * Job statistics of a paused guest are never asked for: libvirt holds the domain's job lock while QEMU's monitor does not
 * answer, and an operator's own abort would fail behind us. Its state (no lock), libvirt's status file and the process
 * tell what is needed; only when QEMU has said its last word, so that its monitor is free, is the job of a paused guest
 * asked for, once. */

#include <errno.h>
#include <libvirt/virterror.h>
#include <stdio.h>
#include <string.h>

#include "host/libvirt-internal.h"
#include "host/procfs.h"
#include "host/statusxml.h"

struct look {
	struct lv_pair *pair;
	char uuid[REPORT_UUID_LEN + 1];
	char name[REPORT_NAME_MAX];
	char *proc, *status_dir;
	enum side side;
	unsigned flags;
	struct context found;
};

static enum operation operation_of(int libvirt_operation)
{
	switch (libvirt_operation) {
	case VIR_DOMAIN_JOB_OPERATION_MIGRATION_IN:
	case VIR_DOMAIN_JOB_OPERATION_MIGRATION_OUT:
		return OP_MIGRATION;
	case VIR_DOMAIN_JOB_OPERATION_SAVE:
		return OP_SAVE;
	case VIR_DOMAIN_JOB_OPERATION_RESTORE:
		return OP_RESTORE;
	case VIR_DOMAIN_JOB_OPERATION_SNAPSHOT:
	case VIR_DOMAIN_JOB_OPERATION_SNAPSHOT_REVERT:
		return OP_SNAPSHOT;
	case VIR_DOMAIN_JOB_OPERATION_DUMP:
		return OP_DUMP;
	}
	return OP_UNKNOWN;
}

static enum job_state job_of(int type)
{
	return type == VIR_DOMAIN_JOB_BOUNDED || type == VIR_DOMAIN_JOB_UNBOUNDED ? JOB_ACTIVE : JOB_NONE;
}

static void ask_job_statistics(virDomainPtr dom, struct context *c)
{
	virTypedParameterPtr params = NULL;
	unsigned long long elapsed, disk;
	int type, n = 0, operation;

	if (virDomainGetJobStats(dom, &type, &params, &n, 0) < 0)
		return;
	c->job = job_of(type);
	if (virTypedParamsGetInt(params, n, VIR_DOMAIN_JOB_OPERATION, &operation) == 1)
		c->operation = operation_of(operation);
	if (c->job == JOB_ACTIVE && virTypedParamsGetULLong(params, n, VIR_DOMAIN_JOB_TIME_ELAPSED, &elapsed) == 1)
		c->job_elapsed = elapsed * NSEC_PER_MSEC;
	if (virTypedParamsGetULLong(params, n, VIR_DOMAIN_JOB_DISK_TOTAL, &disk) == 1 && disk > 0)
		c->storage_copy = true;
	virTypedParamsFree(params, n);
}

static void ask_job_kind(virDomainPtr dom, struct context *c)
{
	virDomainJobInfo info;

	if (virDomainGetJobInfo(dom, &info) == 0)
		c->job = job_of(info.type);
}

/* The file as QEMU's own mount namespace has it, or else as ours has it: a private libvirtd keeps its files to itself. */
static bool read_status(const struct look *l, const struct qemu_process *q, struct status_xml *ret_)
{
	char path[4096];

	if (q->pid) {
		snprintf(path, sizeof(path), "%s/%d/root%s/%s.xml", l->proc, (int) q->pid, l->status_dir, l->name);
		if (status_xml_read(path, ret_) == 0 && ret_->pid == q->pid)
			return true;
	}
	snprintf(path, sizeof(path), "%s/%s.xml", l->status_dir, l->name);
	if (status_xml_read(path, ret_) < 0 || strcmp(ret_->uuid, l->uuid) != 0)
		return false;
	return !q->pid || ret_->pid == q->pid;
}

/* Of two processes of one UUID here the one that waits for memory is the arriving one: a destination is paused all the time, a
 * source for moments. */
static int find_process(const struct look *l, struct qemu_process *ret_)
{
	const struct context *c = &l->found;

	if (l->side == SIDE_UNKNOWN && c->run == RUN_PAUSED && c->paused_by_migration &&
	    procfs_find_qemu(l->proc, l->uuid, SIDE_DESTINATION, ret_) == 0)
		return 0;
	return procfs_find_qemu(l->proc, l->uuid, l->side, ret_);
}

static void look_at_process(struct look *l)
{
	struct qemu_process q = { 0 };
	struct context *c = &l->found;
	struct status_xml s;
	int r = find_process(l, &q);

	/* First of all: a job that ends meanwhile takes its traces along. */
	if (read_status(l, &q, &s)) {
		c->job = s.job;
		c->operation = s.operation;
		c->driver = s.driver;
		c->side = s.side;
	}

	if (r < 0) {
		snprintf(c->backing.reason, sizeof(c->backing.reason), "QEMU process not found: %s", strerror(-r));
	} else {
		c->incoming = q.incoming;
		c->vcpus = q.vcpus;
		c->memory_bytes = q.memory_bytes;
		procfs_backing(l->proc, q.pid, &c->backing);
	}
}

static void look_run(void *data)
{
	struct look *l = data;
	struct context *c = &l->found;
	virDomainPtr dom = virDomainLookupByUUIDString(l->pair->calls, l->uuid);
	int state, reason;
	unsigned long version;

	if (!dom) {
		if (virGetLastErrorCode() == VIR_ERR_NO_DOMAIN)
			c->run = RUN_OFF;
		return;
	}
	if (virDomainGetState(dom, &state, &reason, 0) == 0)
		c->run = lv_run_state(state, reason, &c->paused_by_migration);
	if (l->flags & LV_LOOK_DEEP)
		look_at_process(l);
	if (c->run == RUN_RUNNING)
		ask_job_statistics(dom, c);
	else if (c->run == RUN_PAUSED && c->job == JOB_UNKNOWN && (l->flags & LV_LOOK_OVER))
		ask_job_kind(dom, c);
	/* The hypervisor's version as libvirt knows it; a guest started before an upgrade may run an older one. */
	if (l->flags & LV_LOOK_DEEP && virConnectGetVersion(l->pair->calls, &version) == 0)
		c->qemu_version = (uint32_t) version;
	virDomainFree(dom);
}

static void look_free(void *data)
{
	struct look *l = data;

	lv_pair_unref(l->pair);
	g_free(l->proc);
	g_free(l->status_dir);
	g_free(l);
}

/* What must be said even when the call hangs and its data is the worker's. */
struct reply {
	char uuid[REPORT_UUID_LEN + 1];
	void (*look)(const struct context *, const char *, void *);
	void (*progress)(int, const struct lv_progress *, void *);
	void *userdata;
};

static void look_done(int r, void *data, void *userdata)
{
	struct reply *reply = userdata;
	struct look *l = data;

	reply->look(r < 0 ? NULL : &l->found, reply->uuid, reply->userdata);
	g_free(reply);
}

static int submit(struct lv *lv, const char *uuid, struct pool_call *call)
{
	g_autofree char *key = g_strdup_printf("%p/%s", (void *) lv, uuid);

	call->key = key;
	call->timeout = lv->options.call_timeout;
	return pool_submit(lv->options.calls, call);
}

int lv_look(struct lv *lv, const char *uuid, const char *name, enum side side, unsigned flags,
	    void (*done)(const struct context *, const char *, void *), void *userdata)
{
	struct pool_call call = { .work = look_run, .done = look_done, .data_free = look_free };
	struct reply *reply;
	struct look *l;
	int r;

	if (!lv->pair)
		return -ENOTCONN;
	l = g_new0(struct look, 1);
	l->pair = lv_pair_ref(lv->pair);
	g_strlcpy(l->uuid, uuid, sizeof(l->uuid));
	g_strlcpy(l->name, name, sizeof(l->name));
	l->proc = g_strdup(lv->proc);
	l->status_dir = g_strdup(lv->status_dir);
	l->side = side;
	l->flags = flags;
	context_init(&l->found);
	reply = g_new0(struct reply, 1);
	g_strlcpy(reply->uuid, uuid, sizeof(reply->uuid));
	reply->look = done;
	reply->userdata = userdata;
	call.data = l;
	call.userdata = reply;
	r = submit(lv, uuid, &call);
	if (r < 0) {
		look_free(l);
		g_free(reply);
	}
	return r;
}

struct question {
	struct lv_pair *pair;
	char uuid[REPORT_UUID_LEN + 1];
	struct lv_progress progress;
	int r;
};

static int read_progress(virDomainPtr dom, struct lv_progress *ret_)
{
	virTypedParameterPtr params = NULL;
	unsigned long long processed = 0, remaining = 0, total = 0;
	int type, n = 0;

	if (virDomainGetJobStats(dom, &type, &params, &n, 0) < 0)
		return -EIO;
	virTypedParamsGetULLong(params, n, VIR_DOMAIN_JOB_DATA_PROCESSED, &processed);
	virTypedParamsGetULLong(params, n, VIR_DOMAIN_JOB_DATA_REMAINING, &remaining);
	virTypedParamsGetULLong(params, n, VIR_DOMAIN_JOB_DATA_TOTAL, &total);
	virTypedParamsFree(params, n);
	*ret_ = (struct lv_progress) { .processed = processed, .remaining = remaining, .total = total };
	return 0;
}

static void question_run(void *data)
{
	struct question *q = data;
	virDomainPtr dom = virDomainLookupByUUIDString(q->pair->calls, q->uuid);
	int state;

	q->r = -EIO;
	if (!dom)
		return;
	if (virDomainGetState(dom, &state, NULL, 0) == 0)
		q->r = state == VIR_DOMAIN_RUNNING ? read_progress(dom, &q->progress) : -EAGAIN;
	virDomainFree(dom);
}

static void question_free(void *data)
{
	struct question *q = data;

	lv_pair_unref(q->pair);
	g_free(q);
}

static void question_done(int r, void *data, void *userdata)
{
	struct reply *reply = userdata;
	struct question *q = data;

	reply->progress(r < 0 ? r : q->r, r < 0 ? NULL : &q->progress, reply->userdata);
	g_free(reply);
}

int lv_ask_progress(struct lv *lv, const char *uuid, void (*done)(int r, const struct lv_progress *p, void *userdata), void *userdata)
{
	struct pool_call call = { .work = question_run, .done = question_done, .data_free = question_free };
	struct reply *reply;
	struct question *q;
	int r;

	if (!lv->pair)
		return -ENOTCONN;
	q = g_new0(struct question, 1);
	q->pair = lv_pair_ref(lv->pair);
	g_strlcpy(q->uuid, uuid, sizeof(q->uuid));
	reply = g_new0(struct reply, 1);
	reply->progress = done;
	reply->userdata = userdata;
	call.data = q;
	call.userdata = reply;
	r = submit(lv, uuid, &call);
	if (r < 0) {
		question_free(q);
		g_free(reply);
	}
	return r;
}
