/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "host/procfs.h"
#include "host/statusxml.h"

/* Status files hold the whole domain definition: tens of KiB. */
#define STATUS_MAX (4u << 20)

/* VIR_MIGRATE_PEER2PEER of libvirt's ABI, in the flags that libvirt notes down. */
#define FLAG_PEER2PEER 2u

struct walk {
	struct status_xml *out;
	unsigned depth;
	bool root, in_uuid;
};

static const char *attribute(const char **names, const char **values, const char *name)
{
	for (int i = 0; names[i]; i++)
		if (strcmp(names[i], name) == 0)
			return values[i];
	return NULL;
}

static enum operation job_operation(const char *async)
{
	static const struct { const char *word; enum operation op; } table[] = {
		{ "migration out", OP_MIGRATION }, { "migration in", OP_MIGRATION }, { "save", OP_SAVE },
		{ "dump", OP_DUMP }, { "snapshot", OP_SNAPSHOT },
	};

	for (size_t i = 0; i < G_N_ELEMENTS(table); i++)
		if (strcmp(table[i].word, async) == 0)
			return table[i].op;
	return OP_UNKNOWN;
}

static void on_job(struct status_xml *s, const char *async, const char *flags)
{
	if (!async || strcmp(async, "none") == 0)
		return;
	s->job = JOB_ACTIVE;
	s->operation = job_operation(async);
	if (strcmp(async, "migration in") == 0)
		s->side = SIDE_DESTINATION;
	if (strcmp(async, "migration out") == 0)
		s->side = SIDE_SOURCE;
	if (strcmp(async, "migration out") == 0)
		s->driver = flags && strtoul(flags, NULL, 0) & FLAG_PEER2PEER ? DRIVER_P2P : DRIVER_DIRECT;
}

static void on_start(GMarkupParseContext *ctx, const char *element, const char **names, const char **values, void *data, GError **error)
{
	struct walk *w = data;
	const char *pid;

	(void) ctx;
	(void) error;
	if (w->depth == 0 && strcmp(element, "domstatus") == 0) {
		w->root = true;
		pid = attribute(names, values, "pid");
		w->out->pid = pid ? atoi(pid) : 0;
		w->out->job = JOB_NONE; /* no <job> element: none */
	}
	if (w->depth == 1 && strcmp(element, "job") == 0)
		on_job(w->out, attribute(names, values, "async"), attribute(names, values, "flags"));
	w->in_uuid = w->depth == 2 && strcmp(element, "uuid") == 0;
	w->depth++;
}

static void on_end(GMarkupParseContext *ctx, const char *element, void *data, GError **error)
{
	struct walk *w = data;

	(void) ctx;
	(void) element;
	(void) error;
	w->depth--;
	w->in_uuid = false;
}

static void on_text(GMarkupParseContext *ctx, const char *text, size_t n, void *data, GError **error)
{
	struct walk *w = data;

	(void) ctx;
	(void) error;
	if (w->in_uuid && n == REPORT_UUID_LEN)
		memcpy(w->out->uuid, text, n);
}

int status_xml_parse(const char *text, size_t n, struct status_xml *ret_)
{
	static const GMarkupParser parser = { .start_element = on_start, .end_element = on_end, .text = on_text };
	struct status_xml s = { .side = SIDE_UNKNOWN };
	struct walk w = { .out = &s };
	GMarkupParseContext *ctx = g_markup_parse_context_new(&parser, 0, &w, NULL);
	bool ok = g_markup_parse_context_parse(ctx, text, (gssize) n, NULL) && g_markup_parse_context_end_parse(ctx, NULL);

	g_markup_parse_context_free(ctx);
	if (!ok || !w.root)
		return -EBADMSG;
	*ret_ = s;
	return 0;
}

int status_xml_read(const char *path, struct status_xml *ret_)
{
	g_autofree char *text = g_malloc(STATUS_MAX);
	ssize_t n = procfs_read(path, text, STATUS_MAX);

	return n < 0 ? (int) n : status_xml_parse(text, (size_t) n, ret_);
}
