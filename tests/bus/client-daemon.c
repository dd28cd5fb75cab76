/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* What rollbackctl's tests talk to: org.rollbackd1 written from docs/org.rollbackd1.xml alone, with nothing of the daemon in
 * it, and able to misbehave. Serves the reports of a folder (live ones are those whose outcome is "none") and obeys lines
 * on its standard input, answering each with "ok":
 *
 *   load FILE          take in a report: a new live one, news about one, or its end; the signals go out
 *   progress P R T     GetProgress answers processed, remaining and total bytes
 *   busy               GetProgress answers Busy
 *   fail ERROR TEXT    every method answers with this D-Bus error
 *   garbage            ListReports and GetReport answer with something else than agreed
 *   well               no more of the three above
 *   connection STATE   the first libvirt connection is in this state, as it is from the start with a third argument
 */

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>
#include <time.h>

#include "rollbackd/names.h"

#define REPORTS_MAX 4096

static struct {
	sd_bus *bus;
	struct json_object *reports[REPORTS_MAX];
	unsigned n;
	char error[128], error_text[256];
	char connection[32];
	bool garbage, busy;
	uint64_t processed, remaining, total;
} S = { .connection = "up", .processed = 25 << 20, .remaining = 75 << 20, .total = 100 << 20 };

static struct json_object *at(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	json_object_object_get_ex(o, key, &v);
	return v;
}

static const char *text(struct json_object *o, const char *key)
{
	const char *s = json_object_get_string(at(o, key));

	return s ? s : "";
}

static bool is_live(struct json_object *report)
{
	return strcmp(text(report, "outcome"), "none") == 0;
}

static uint64_t date_usec(const char *date)
{
	struct tm tm = { 0 };
	const char *rest = strptime(date, "%Y-%m-%dT%H:%M:%S", &tm);
	double fraction = rest ? strtod(rest, NULL) : 0;

	return rest ? (uint64_t) timegm(&tm) * 1000000 + (uint64_t) (fraction * 1e6 + 0.5) : 0;
}

static struct json_object *by_id(const char *id, unsigned *ret_matches)
{
	struct json_object *found = NULL;

	*ret_matches = 0;
	for (unsigned i = 0; i < S.n; i++)
		if (strncmp(text(S.reports[i], "id"), id, strlen(id)) == 0) {
			found = S.reports[i];
			++*ret_matches;
		}
	return found;
}

static int newest_first(const void *a, const void *b)
{
	struct json_object *const *x = a, *const *y = b;
	int order = strcmp(text(*y, "began"), text(*x, "began"));

	return order ? order : strcmp(text(*x, "id"), text(*y, "id"));
}

static bool misbehaves(sd_bus_message *m, int *ret_)
{
	if (*S.error) {
		sd_bus_error e = SD_BUS_ERROR_MAKE_CONST(S.error, S.error_text);

		*ret_ = sd_bus_reply_method_error(m, &e);
		return true;
	}
	return false;
}

/* A filter, since sd-bus would not let a method of the vtable answer with another type than it declares. */
static int on_any_message(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	(void) userdata, (void) error;
	if (!S.garbage || !(sd_bus_message_is_method_call(m, RBD_IFACE_MANAGER, "ListReports") ||
			    sd_bus_message_is_method_call(m, RBD_IFACE_MANAGER, "GetReport")))
		return 0;
	return sd_bus_reply_method_return(m, "u", 42) < 0 ? 0 : 1;
}

struct filter {
	char *domain;
	uint64_t since, until;
	char **outcomes, **sides;
};

static int read_filter(sd_bus_message *m, struct filter *f)
{
	const char *key;
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	while (r >= 0 && (r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = sd_bus_message_read(m, "s", &key);
		if (r >= 0 && strcmp(key, "Domain") == 0) {
			r = sd_bus_message_read(m, "v", "s", &f->domain);
		} else if (r >= 0 && (strcmp(key, "SinceUSec") == 0 || strcmp(key, "UntilUSec") == 0)) {
			r = sd_bus_message_read(m, "v", "t", *key == 'S' ? &f->since : &f->until);
		} else if (r >= 0) {
			r = sd_bus_message_enter_container(m, 'v', "as");
			if (r >= 0)
				r = sd_bus_message_read_strv(m, *key == 'O' ? &f->outcomes : &f->sides);
			if (r >= 0)
				r = sd_bus_message_exit_container(m);
		}
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
	}
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static bool among(char **words, const char *word)
{
	if (!words)
		return true;
	for (; *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

static bool matches(const struct filter *f, struct json_object *r)
{
	uint64_t began = date_usec(text(r, "began"));

	if (f->domain && strcmp(f->domain, text(at(r, "domain"), "name")) && strcmp(f->domain, text(at(r, "domain"), "uuid")))
		return false;
	if (is_live(r) || (f->since && began < f->since) || (f->until && began > f->until))
		return false;
	return among(f->outcomes, text(r, "outcome")) && among(f->sides, text(r, "side"));
}

static void free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

static int append_summary(sd_bus_message *m, struct json_object *r)
{
	struct json_object *blackout = at(r, "blackout");
	int e = sd_bus_message_open_container(m, 'a', "{sv}");

	if (e >= 0)
		e = sd_bus_message_append(m, "{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}{sv}",
					  "Id", "s", text(r, "id"), "Uuid", "s", text(at(r, "domain"), "uuid"),
					  "Name", "s", text(at(r, "domain"), "name"), "Uri", "s", text(r, "uri"),
					  "Side", "s", text(r, "side"), "Operation", "s", text(r, "operation"),
					  "Driver", "s", text(r, "driver"), "Outcome", "s", text(r, "outcome"),
					  "Cause", "s", text(r, "cause"), "Paused", "b", json_object_get_boolean(at(r, "paused")),
					  "BeganUSec", "t", date_usec(text(r, "began")));
	if (e >= 0 && at(r, "total_us"))
		e = sd_bus_message_append(m, "{sv}", "TotalUSec", "t", json_object_get_uint64(at(r, "total_us")));
	if (e >= 0 && at(blackout, "us"))
		e = sd_bus_message_append(m, "{sv}{sv}", "BlackoutUSec", "t", json_object_get_uint64(at(blackout, "us")),
					  "BlackoutLowerBound", "b", json_object_get_boolean(at(blackout, "lower_bound")));
	/* A key that no reader knows yet, as a newer daemon might send. */
	if (e >= 0)
		e = sd_bus_message_append(m, "{sv}", "FutureKey", "(su)", "x", 1);
	return e < 0 ? e : sd_bus_message_close_container(m);
}

static int list_reports(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct filter f = { 0 };
	sd_bus_message *reply = NULL;
	uint32_t offset = 0, limit = 0, total = 0;
	int r;

	(void) userdata, (void) error;
	if (misbehaves(m, &r))
		return r;
	r = read_filter(m, &f);
	if (r >= 0)
		r = sd_bus_message_read(m, "uu", &offset, &limit);
	if (r >= 0)
		r = sd_bus_message_new_method_return(m, &reply);
	if (r >= 0)
		r = sd_bus_message_open_container(reply, 'a', "a{sv}");
	limit = limit ? limit : 100;
	for (unsigned i = 0; r >= 0 && i < S.n; i++) {
		if (!matches(&f, S.reports[i]))
			continue;
		if (total >= offset && total - offset < limit)
			r = append_summary(reply, S.reports[i]);
		total++;
	}
	if (r >= 0)
		r = sd_bus_message_close_container(reply);
	if (r >= 0)
		r = sd_bus_message_append(reply, "u", total);
	if (r >= 0)
		r = sd_bus_send(NULL, reply, NULL);
	free_words(f.outcomes);
	free_words(f.sides);
	sd_bus_message_unref(reply);
	return r < 0 ? r : 1;
}

static int get_report(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	struct json_object *o;
	unsigned found;
	const char *id;
	int r;

	(void) userdata;
	if (misbehaves(m, &r))
		return r;
	r = sd_bus_message_read(m, "s", &id);
	if (r < 0)
		return r;
	o = by_id(id, &found);
	if (found == 0)
		return sd_bus_error_setf(error, RBD_ERROR_NO_SUCH_REPORT, "no report with id %s", id);
	if (found > 1)
		return sd_bus_error_setf(error, RBD_ERROR_AMBIGUOUS, "%u reports begin with %s", found, id);
	return sd_bus_reply_method_return(m, "s", json_object_to_json_string(o));
}

static int get_progress(sd_bus_message *m, void *userdata, sd_bus_error *error)
{
	int r;

	(void) userdata;
	if (misbehaves(m, &r))
		return r;
	if (S.busy)
		return sd_bus_error_set(error, RBD_ERROR_BUSY, "a question is under way");
	return sd_bus_reply_method_return(m, "tttt", S.processed, S.remaining, S.total, UINT64_C(1000));
}

static int manager_text(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *u,
			sd_bus_error *error)
{
	static const char *const values[][2] = {
		{ "Version", "0.1.0" }, { "SchemaVersion", "1.0" }, { "Backend", "none" }, { "BackendReason", "this version observes only" },
		{ "Act", "auto" }, { "StoreTrouble", "" },
	};

	(void) bus, (void) path, (void) interface, (void) u;
	if (*S.error)
		return sd_bus_error_set(error, S.error, S.error_text);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (strcmp(values[i][0], property) == 0)
			return sd_bus_message_append(reply, "s", values[i][1]);
	return -ENOENT;
}

static int manager_connections(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *u,
			       sd_bus_error *error)
{
	(void) bus, (void) path, (void) interface, (void) property, (void) u, (void) error;
	return sd_bus_message_append(reply, "aa{sv}", 4,
				     6, "Uri", "s", "qemu:///system", "State", "s", S.connection, "Detail", "s", "", "QmpEvents", "b", 1,
				     "LibvirtVersion", "s", "9.0.0", "Domains", "u", 12,
				     6, "Uri", "s", "qemu+unix:///system?socket=/var/lib/host-a/run/libvirt/libvirt-sock", "State", "s", "up", "Detail",
				     "s", "", "QmpEvents", "b", 0, "LibvirtVersion", "s", "9.0.0", "Domains", "u", 1,
				     6, "Uri", "s", "qemu+unix:///system?socket=/var/lib/host-b/run/libvirt/libvirt-sock", "State", "s", "up", "Detail",
				     "s", "", "QmpEvents", "b", 1, "LibvirtVersion", "s", "9.0.0", "Domains", "u", 2,
				     6, "Uri", "s", "qemu+unix:///system?socket=/run/b\033[2Jad/sock", "State", "s", "down", "Detail", "s",
				     "Failed to connect socket: No such file or directory", "QmpEvents", "b", 0, "LibvirtVersion", "s", "", "Domains", "u", 0);
}

static int manager_counters(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *u,
			    sd_bus_error *error)
{
	(void) bus, (void) path, (void) interface, (void) property, (void) u, (void) error;
	return sd_bus_message_append(reply, "a{st}", 5, "Events", UINT64_C(1234), "EventsOfTheFuture", UINT64_C(0), "Reports",
				     (uint64_t) S.n, "ReportsWritten", UINT64_C(17), "CallsStuck", UINT64_C(0));
}

static int migration_value(sd_bus *bus, const char *path, const char *interface, const char *property, sd_bus_message *reply, void *u,
			   sd_bus_error *error)
{
	struct json_object *o = u, *marks = at(o, "marks");
	int r;

	(void) bus, (void) path, (void) interface, (void) error;
	if (strcmp(property, "Iterations") == 0)
		return sd_bus_message_append(reply, "u", (uint32_t) json_object_get_int(at(at(o, "counts"), "iterations")));
	if (strcmp(property, "BeganUSec") == 0)
		return sd_bus_message_append(reply, "t", date_usec(text(o, "began")));
	if (strcmp(property, "Notes") == 0)
		return sd_bus_message_append(reply, "as", 0);
	if (strcmp(property, "Marks") == 0) {
		r = sd_bus_message_open_container(reply, 'a', "{s(ts)}");
		json_object_object_foreach(marks, name, mark)
			if (r >= 0 && at(mark, "monotonic_us"))
				r = sd_bus_message_append(reply, "{s(ts)}", name, date_usec(text(mark, "time")), text(mark, "source"));
		return r < 0 ? r : sd_bus_message_close_container(reply);
	}
	if (strcmp(property, "Uuid") == 0 || strcmp(property, "Name") == 0)
		return sd_bus_message_append(reply, "s", text(at(o, "domain"), *property == 'U' ? "uuid" : "name"));
	if (strcmp(property, "Phase") == 0 && at(o, "test_phase")) /* a step's own, which no report has */
		return sd_bus_message_append(reply, "s", text(o, "test_phase"));
	if (strcmp(property, "Phase") == 0)
		return sd_bus_message_append(reply, "s", strcmp(text(o, "state"), "setup") ? text(o, "state") : "");
	char key[32];
	snprintf(key, sizeof(key), "%s", property);
	key[0] |= 0x20;
	return sd_bus_message_append(reply, "s", text(o, key));
}

static const sd_bus_vtable manager_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Version", "s", manager_text, 0, 0),
	SD_BUS_PROPERTY("SchemaVersion", "s", manager_text, 0, 0),
	SD_BUS_PROPERTY("Backend", "s", manager_text, 0, 0),
	SD_BUS_PROPERTY("BackendReason", "s", manager_text, 0, 0),
	SD_BUS_PROPERTY("Act", "s", manager_text, 0, 0),
	SD_BUS_PROPERTY("StoreTrouble", "s", manager_text, 0, 0),
	SD_BUS_PROPERTY("Connections", "aa{sv}", manager_connections, 0, 0),
	SD_BUS_PROPERTY("Counters", "a{st}", manager_counters, 0, 0),
	SD_BUS_METHOD("ListReports", "a{sv}uu", "aa{sv}u", list_reports, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_METHOD("GetReport", "s", "s", get_report, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL("MigrationStarted", "oss", 0),
	SD_BUS_SIGNAL("MigrationFinished", "ssss", 0),
	SD_BUS_VTABLE_END,
};

static const sd_bus_vtable migration_vtable[] = {
	SD_BUS_VTABLE_START(0),
	SD_BUS_PROPERTY("Id", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Uuid", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Name", "s", migration_value, 0, 0),
	SD_BUS_PROPERTY("Uri", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_CONST),
	SD_BUS_PROPERTY("Side", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Operation", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Driver", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("State", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Outcome", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Phase", "s", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Iterations", "u", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("BeganUSec", "t", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Marks", "a{s(ts)}", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_PROPERTY("Notes", "as", migration_value, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
	SD_BUS_METHOD("GetProgress", NULL, "tttt", get_progress, SD_BUS_VTABLE_UNPRIVILEGED),
	SD_BUS_SIGNAL("PhaseChanged", "ss", 0),
	SD_BUS_SIGNAL("Finished", "s", 0),
	SD_BUS_VTABLE_END,
};

static int find_migration(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found, sd_bus_error *error)
{
	struct json_object *o;
	unsigned found;

	(void) bus, (void) interface, (void) userdata, (void) error;
	if (strncmp(path, RBD_PATH_MIGRATIONS "/", sizeof(RBD_PATH_MIGRATIONS)) != 0)
		return 0;
	o = by_id(path + sizeof(RBD_PATH_MIGRATIONS), &found);
	if (found != 1 || !is_live(o))
		return 0;
	*ret_found = o;
	return 1;
}

static int enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *error)
{
	char **nodes = calloc(S.n + 1, sizeof(*nodes));
	unsigned n = 0;

	(void) bus, (void) prefix, (void) userdata, (void) error;
	for (unsigned i = 0; nodes && i < S.n; i++)
		if (is_live(S.reports[i]) && asprintf(&nodes[n], RBD_PATH_MIGRATIONS "/%s", text(S.reports[i], "id")) > 0)
			n++;
	*ret_nodes = nodes;
	return nodes ? 0 : -ENOMEM;
}

static void announce(const char *path, struct json_object *before, struct json_object *now)
{
	const char *id = text(now, "id"), *uuid = text(at(now, "domain"), "uuid");

	if (is_live(now) && (!before || !is_live(before))) {
		sd_bus_emit_object_added(S.bus, path);
		sd_bus_emit_signal(S.bus, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "MigrationStarted", "oss", path, id, uuid);
	} else if (is_live(now)) {
		sd_bus_emit_properties_changed(S.bus, path, RBD_IFACE_MIGRATION, "State", "Phase", "Operation", "Marks", "Driver", "Side", NULL);
		sd_bus_emit_signal(S.bus, path, RBD_IFACE_MIGRATION, "PhaseChanged", "ss", text(now, "state"), text(now, "state"));
	} else if (before && is_live(before)) {
		sd_bus_emit_signal(S.bus, path, RBD_IFACE_MIGRATION, "Finished", "s", text(now, "outcome"));
		sd_bus_emit_signal(S.bus, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, "MigrationFinished", "ssss", id, uuid, text(now, "side"),
				   text(now, "outcome"));
		sd_bus_emit_interfaces_removed(S.bus, path, RBD_IFACE_MIGRATION, NULL);
	}
}

static int load(const char *file, bool quiet)
{
	struct json_object *o = json_object_from_file(file), *before = NULL;
	unsigned i = 0;
	char *path;

	if (!o || S.n == REPORTS_MAX) {
		fprintf(stderr, "cannot read %s\n", file);
		return -1;
	}
	while (i < S.n && strcmp(text(S.reports[i], "id"), text(o, "id")) != 0)
		i++;
	if (i < S.n)
		before = S.reports[i];
	S.reports[i] = o;
	S.n += i == S.n;
	if (!quiet && asprintf(&path, RBD_PATH_MIGRATIONS "/%s", text(o, "id")) > 0) {
		announce(path, before, o);
		free(path);
	}
	json_object_put(before);
	qsort(S.reports, S.n, sizeof(S.reports[0]), newest_first);
	return 0;
}

static void load_folder(const char *name)
{
	struct dirent *e;
	DIR *d = opendir(name);
	char *path;

	while (d && (e = readdir(d)))
		if (strstr(e->d_name, ".json") && asprintf(&path, "%s/%s", name, e->d_name) > 0) {
			load(path, true);
			free(path);
		}
	if (d)
		closedir(d);
}

static void be_well(void)
{
	S.garbage = false;
	S.busy = false;
	*S.error = 0;
}

static int on_line(sd_event_source *s, int fd, uint32_t events, void *userdata)
{
	static char line[4096];

	(void) fd, (void) events, (void) userdata;
	if (!fgets(line, sizeof(line), stdin))
		return sd_event_exit(sd_event_source_get_event(s), 0);
	line[strcspn(line, "\n")] = 0;
	if (strncmp(line, "load ", 5) == 0)
		load(line + 5, false);
	else if (sscanf(line, "progress %" SCNu64 " %" SCNu64 " %" SCNu64, &S.processed, &S.remaining, &S.total) == 3)
		S.busy = false;
	else if (strcmp(line, "busy") == 0)
		S.busy = true;
	else if (strcmp(line, "garbage") == 0)
		S.garbage = true;
	else if (strncmp(line, "fail ", 5) == 0)
		sscanf(line + 5, "%127s %255[^\n]", S.error, S.error_text);
	else if (strncmp(line, "connection ", 11) == 0)
		snprintf(S.connection, sizeof(S.connection), "%.31s", line + 11);
	else if (strcmp(line, "well") == 0)
		be_well();
	puts("ok");
	fflush(stdout);
	return 0;
}

int main(int argc, char **argv)
{
	sd_event *event = NULL;
	int r;

	if (argc != 3 && argc != 4)
		return fprintf(stderr, "usage: %s ADDRESS FOLDER [CONNECTION-STATE]\n", argv[0]), 2;
	if (argc == 4)
		snprintf(S.connection, sizeof(S.connection), "%s", argv[3]);
	setvbuf(stdin, NULL, _IONBF, 0); /* so that no line waits in a buffer that poll does not see */
	load_folder(argv[2]);
	r = sd_event_new(&event);
	if (r >= 0)
		r = sd_bus_new(&S.bus);
	if (r >= 0)
		r = sd_bus_set_address(S.bus, argv[1]);
	if (r >= 0)
		r = sd_bus_set_bus_client(S.bus, 1);
	if (r >= 0)
		r = sd_bus_start(S.bus);
	if (r >= 0)
		r = sd_bus_add_filter(S.bus, NULL, on_any_message, NULL);
	if (r >= 0)
		r = sd_bus_add_object_manager(S.bus, NULL, RBD_PATH_MANAGER);
	if (r >= 0)
		r = sd_bus_add_object_vtable(S.bus, NULL, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, manager_vtable, NULL);
	if (r >= 0)
		r = sd_bus_add_fallback_vtable(S.bus, NULL, RBD_PATH_MIGRATIONS, RBD_IFACE_MIGRATION, migration_vtable, find_migration, NULL);
	if (r >= 0)
		r = sd_bus_add_node_enumerator(S.bus, NULL, RBD_PATH_MIGRATIONS, enumerate, NULL);
	if (r >= 0)
		r = sd_bus_request_name(S.bus, RBD_BUS_NAME, 0);
	if (r >= 0)
		r = sd_bus_attach_event(S.bus, event, 0);
	if (r >= 0)
		r = sd_event_add_io(event, NULL, fileno(stdin), EPOLLIN, on_line, NULL);
	if (r < 0)
		return fprintf(stderr, "client-daemon: %s\n", strerror(-r)), 1;
	puts("ready");
	fflush(stdout);
	r = sd_event_loop(event);
	for (unsigned i = 0; i < S.n; i++)
		json_object_put(S.reports[i]);
	sd_bus_flush_close_unref(S.bus);
	sd_event_unref(event);
	return r < 0;
}
