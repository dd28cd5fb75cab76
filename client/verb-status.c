/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "alloc.h"
#include "format.h"
#include "json.h"
#include "properties.h"
#include "reports.h"
#include "rollbackd/names.h"
#include "show.h"
#include "table.h"
#include "text.h"

/* "EventsUnknown" as "events unknown", to be freed. */
static char *counter_words(const char *name)
{
	char *words = xcalloc(strlen(name) + 1, 2), *p = words;

	for (const char *s = name; *s; s++) {
		bool begins = isupper((unsigned char) *s) && s != name && !isupper((unsigned char) s[-1]);

		if (begins)
			*p++ = ' ';
		*p++ = (char) (isupper((unsigned char) *s) && !isupper((unsigned char) s[1]) ? tolower((unsigned char) *s) : *s);
	}
	*p = 0;
	return words;
}

static void print_connections(const struct term *t, struct json_object *list)
{
	static const struct column columns[] = {
		{ .head = "LIBVIRT", .flex = true, .wrap = true }, /* URIs differ in their middles */
		{ .head = "STATE" },
		{ .head = "QMP EVENTS" },
		{ .head = "VERSION", .drop = 1 },
		{ .head = "DOMAINS", .right = true },
	};
	struct table *table;

	if (json_length(list) == 0) {
		show_fact(t, "Libvirt", STYLE_BAD, "no connection is configured");
		return;
	}
	table = table_new(columns, 5);
	for (size_t i = 0; i < json_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		const char *state = json_text_or(o, "State", "?");
		bool up = strcmp(state, "up") == 0, qmp = json_true(o, "QmpEvents");
		char domains[24];
		uint64_t n = 0;

		json_count(o, "Domains", &n);
		snprintf(domains, sizeof domains, "%" PRIu64, n);
		table_add(table, STYLE_PLAIN, json_text_or(o, "Uri", "?"));
		table_add(table, up ? STYLE_GOOD : strcmp(state, "down") == 0 ? STYLE_BAD : STYLE_WARN, state);
		table_add(table, up && !qmp ? STYLE_WARN : STYLE_PLAIN, !up ? "-" : qmp ? "yes" : "no");
		table_add(table, STYLE_PLAIN, json_text_or(o, "LibvirtVersion", "-"));
		table_add(table, STYLE_PLAIN, up ? domains : "-");
	}
	fputc('\n', t->out);
	table_print(table, t, 2);
	table_free(table);
	for (size_t i = 0; i < json_length(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);
		const char *detail = json_text_or(o, "Detail", NULL);
		_cleanup_free_ char *line = detail ? xprintf("%s: %s", json_text_or(o, "Uri", "?"), detail) : NULL;

		if (line)
			show_fact(t, "Trouble", STYLE_WARN, line);
	}
}

/* What the counters count, those of this moment apart from those that only grow. */
static const struct counter {
	const char *name, *words;
	bool now;
} known_counters[] = {
	{ "MigrationsLive", "migrations under way", true },
	{ "Reports", "finished reports on record", true },
	{ "ReportBytes", "bytes of finished reports", true },
	{ "ReportsPending", "report files yet to be written", true },
	{ "CallsStuck", "calls to libvirt that hang", true },
	{ "Events", "events from libvirt", false },
	{ "Migrations", "migrations seen to begin or joined", false },
	{ "LateJoins", "of these joined under way", false },
	{ "Rollbacks", "rollbacks", false },
	{ "CallsFinished", "calls to libvirt answered", false },
	{ "CallsTimedOut", "calls to libvirt given up", false },
	{ "ReportsWritten", "report files written, those of migrations under way too", false },
	{ "ReportsDropped", "report files dropped", false },
	{ "ReportsPruned", "reports pruned", false },
	{ "ReportsSetAside", "report files set aside, unreadable", false },
	{ "ReportWriteFailures", "failed writes of report files", false },
};

static const struct counter *find_counter(const char *name)
{
	for (size_t i = 0; i < sizeof known_counters / sizeof known_counters[0]; i++)
		if (strcmp(known_counters[i].name, name) == 0)
			return &known_counters[i];
	return NULL;
}

/* Those of this moment, or those that grow; one that this version does not know is taken to grow. */
static void print_counters(const struct term *t, struct json_object *counters, bool now)
{
	const struct column columns[] = { { .head = now ? "COUNTED NOW" : "COUNTED SINCE THE START" }, { .head = "", .right = true } };
	struct table *table;
	bool any = false;

	if (!json_object_is_type(counters, json_type_object))
		return;
	table = table_new(columns, 2);
	json_object_object_foreach(counters, name, value) {
		const struct counter *known = find_counter(name);
		_cleanup_free_ char *words = known ? xstrdup(known->words) : counter_words(name);
		char figure[24];

		if ((known && known->now) != now)
			continue;
		snprintf(figure, sizeof figure, "%" PRIu64, json_object_get_uint64(value));
		table_add(table, STYLE_PLAIN, words);
		table_add(table, STYLE_PLAIN, figure);
		any = true;
	}
	if (any) {
		fputc('\n', t->out);
		table_print(table, t, 2);
	}
	table_free(table);
}

static void print_status(const struct term *t, struct json_object *p, size_t live)
{
	const char *trouble = json_text_or(p, "StoreTrouble", NULL);
	_cleanup_free_ char *version = xprintf("%s (report schema %s)", json_text_or(p, "Version", "?"), json_text_or(p, "SchemaVersion", "?"));
	_cleanup_free_ char *backend = xprintf("%s: %s", json_text_or(p, "Backend", "?"), json_text_or(p, "BackendReason", "no reason given"));
	_cleanup_free_ char *count = xprintf("%zu migration%s under way", live, live == 1 ? "" : "s");

	show_fact(t, "rollbackd", STYLE_BOLD, version);
	show_fact(t, "Now", live ? STYLE_LIVE : STYLE_PLAIN, count);
	show_fact(t, "Teardown", STYLE_PLAIN, backend);
	show_fact(t, "Acts", STYLE_PLAIN, json_text_or(p, "Act", "?"));
	show_fact(t, "Store", trouble ? STYLE_BAD : STYLE_GOOD, trouble ? trouble : "reports reach the disk");
	print_connections(t, json_at(p, "Connections"));
	print_counters(t, json_at(p, "Counters"), true);
	print_counters(t, json_at(p, "Counters"), false);
}

static struct json_object *to_json(struct json_object *p, size_t live)
{
	static const char *const texts[][2] = {
		{ "version", "Version" }, { "schema", "SchemaVersion" }, { "backend", "Backend" }, { "backend_reason", "BackendReason" },
		{ "act", "Act" }, { "store_trouble", "StoreTrouble" },
	};
	static const char *const fields[][2] = {
		{ "uri", "Uri" }, { "state", "State" }, { "detail", "Detail" }, { "qmp_events", "QmpEvents" },
		{ "libvirt_version", "LibvirtVersion" }, { "domains", "Domains" },
	};
	struct json_object *o = ctl_document("status"), *list = json_object_new_array(), *connections = json_at(p, "Connections");

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		json_add_text(o, texts[i][0], json_text_or(p, texts[i][1], NULL));
	json_add_count(o, "live", live);
	for (size_t i = 0; i < json_length(connections); i++) {
		struct json_object *from = json_object_array_get_idx(connections, i), *to = json_object_new_object();

		for (size_t k = 0; k < sizeof fields / sizeof fields[0]; k++) {
			struct json_object *v = json_at(from, fields[k][1]);
			bool empty = json_object_is_type(v, json_type_string) && !*json_object_get_string(v);

			json_object_object_add(to, fields[k][0], empty ? NULL : json_object_get(v));
		}
		json_object_array_add(list, to);
	}
	json_object_object_add(o, "connections", list);
	json_object_object_add(o, "counters", json_object_get(json_at(p, "Counters")));
	return o;
}

static int run(struct ctl *c, const struct args *a)
{
	_cleanup_json_ struct json_object *properties = NULL;
	_cleanup_summaries_ struct summaries live = { 0 };
	struct report_filter all = { 0 };
	_cleanup_bus_ sd_bus *bus = NULL;
	int r = bus_open(c, &bus);

	(void) a;
	if (r == CTL_OK)
		r = properties_get_all(c, bus, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, &properties);
	if (r == CTL_OK)
		r = reports_live(c, bus, &all, &live);
	if (r != CTL_OK)
		return r;
	if (c->json)
		ctl_print_json(c, to_json(properties, live.n), false);
	else
		print_status(&c->term, properties, live.n);
	return CTL_OK;
}

const struct verb verb_status = {
	.name = "status",
	.words = "",
	.summary = "How rollbackd is: its connections to libvirt, its store, its counters",
	.help = "Says which libvirt connections are up and whether they give QEMU's own events (without them times are\n"
		"those of arrival), how split tables are torn down and why so, and whether reports reach the disk.\n"
		"`rollbackctl doctor` says what the host lacks and how to mend it.\n",
	.examples = "  rollbackctl status\n"
		    "  rollbackctl status --json | jq '.connections[] | select(.state != \"up\")'\n",
	.run = run,
};
