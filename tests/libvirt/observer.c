/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The independent observer: what libvirt tells anybody who listens at one URI, as JSON lines. It shares no code with the
 * daemon, so that the suite can hold one against the other; its files, replayed, are the input of the daemon's unit tests.
 * tests/unit/data/README.md describes the format.
 *
 * The main thread runs libvirt's event loop and only writes down what arrives. What has to be asked (a domain's state, the
 * operation of its job) is asked elsewhere: observer-ask.h.
 */

#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>

#include "observer-ask.h"
#include "observer-json.h"
#include "observer-words.h"

#define RETRY_MS 50
#define MAX_DOMAINS 16

struct domain {
	char uuid[VIR_UUID_STRING_BUFLEN];
	bool paused; /* as QMP told last */
	bool asked;  /* the operation of the job that is going on */
};

static struct {
	const char *uri, *shown_uri, *side, *test, *what;
	virConnectPtr events;
	bool closed;
	volatile sig_atomic_t stop;

	struct domain domains[MAX_DOMAINS];
	size_t n_domains;
} o;

/* The record of a domain; one that was not known is asked for its state. NULL if there are too many. */
static struct domain *domain_of(virDomainPtr domain)
{
	char uuid[VIR_UUID_STRING_BUFLEN];

	if (virDomainGetUUIDString(domain, uuid) < 0)
		return NULL;
	for (size_t i = 0; i < o.n_domains; i++)
		if (strcmp(o.domains[i].uuid, uuid) == 0)
			return &o.domains[i];
	if (o.n_domains == MAX_DOMAINS)
		return NULL;
	strcpy(o.domains[o.n_domains].uuid, uuid);
	ask(ASK_STATE, uuid);
	return &o.domains[o.n_domains++];
}

/* A job's operation is asked once, as it begins, and never while the guest is paused: QEMU may not be answering then. */
static void maybe_ask_job(struct domain *d, const char *event, const char *details)
{
	if (strcmp(event, "STOP") == 0)
		d->paused = true;
	else if (strcmp(event, "RESUME") == 0)
		d->paused = false;
	if (strcmp(event, "MIGRATION") != 0 || !details)
		return;
	if (!strstr(details, "\"setup\"") && !strstr(details, "\"active\"")) {
		d->asked = false;
		return;
	}
	if (d->asked || d->paused)
		return;
	d->asked = true;
	ask(ASK_JOB, d->uuid);
}

static void on_qmp(virConnectPtr conn, virDomainPtr domain, const char *event, long long seconds, unsigned int micros,
		   const char *details, void *opaque)
{
	struct arrival at = arrival_now();
	struct domain *d;

	(void) conn;
	(void) opaque;
	json_begin_event(at, domain, "qmp");
	json_text("event", event);
	json_number("sec", seconds);
	json_number("usec", seconds < 0 ? -1 : (int64_t) micros);
	json_raw("data", details);
	json_end();
	d = domain_of(domain);
	if (d)
		maybe_ask_job(d, event, details);
}

static int on_lifecycle(virConnectPtr conn, virDomainPtr domain, int event, int detail, void *opaque)
{
	struct arrival at = arrival_now();
	char text[64];

	(void) conn;
	(void) opaque;
	lifecycle_words(event, detail, text, sizeof(text));
	json_begin_event(at, domain, "lifecycle");
	json_number("event", event);
	json_number("detail", detail);
	json_text("text", text);
	json_end();
	domain_of(domain);
	return 0;
}

static void on_iteration(virConnectPtr conn, virDomainPtr domain, int iteration, void *opaque)
{
	struct arrival at = arrival_now();

	(void) conn;
	(void) opaque;
	json_begin_event(at, domain, "iteration");
	json_number("iteration", iteration);
	json_end();
}

static void on_job_completed(virConnectPtr conn, virDomainPtr domain, virTypedParameterPtr params, int n, void *opaque)
{
	struct arrival at = arrival_now();

	(void) conn;
	(void) opaque;
	json_begin_event(at, domain, "job-completed");
	json_params("params", params, n);
	json_end();
}

static void on_close(virConnectPtr conn, int reason, void *opaque)
{
	(void) conn;
	(void) reason;
	(void) opaque;
	json_begin_event(arrival_now(), NULL, "connection");
	json_text("state", "lost");
	json_end();
	o.closed = true;
}

static int subscribe(virConnectPtr conn)
{
	static const struct {
		int id;
		virConnectDomainEventGenericCallback callback;
	} wanted[] = {
		{ VIR_DOMAIN_EVENT_ID_LIFECYCLE, VIR_DOMAIN_EVENT_CALLBACK(on_lifecycle) },
		{ VIR_DOMAIN_EVENT_ID_MIGRATION_ITERATION, VIR_DOMAIN_EVENT_CALLBACK(on_iteration) },
		{ VIR_DOMAIN_EVENT_ID_JOB_COMPLETED, VIR_DOMAIN_EVENT_CALLBACK(on_job_completed) },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (virConnectDomainEventRegisterAny(conn, NULL, wanted[i].id, wanted[i].callback, NULL, NULL) < 0)
			return -1;
	if (virConnectDomainQemuMonitorEventRegister(conn, NULL, NULL, on_qmp, NULL, NULL, 0) < 0)
		return -1;
	return virConnectRegisterCloseCallback(conn, on_close, NULL, NULL);
}

static void list_domains(virConnectPtr conn)
{
	virDomainPtr *domains = NULL;
	int n = virConnectListAllDomains(conn, &domains, 0);

	for (int i = 0; i < n; i++) {
		int state = VIR_DOMAIN_NOSTATE, reason;
		struct domain *d = domain_of(domains[i]);

		virDomainGetState(domains[i], &state, &reason, 0);
		if (d)
			d->paused = state == VIR_DOMAIN_PAUSED;
		virDomainFree(domains[i]);
	}
	free(domains);
}

/* Connect, subscribe, then list: in that order nothing falls between. */
static bool connect_once(void)
{
	virConnectPtr conn = virConnectOpen(o.uri);

	if (!conn)
		return false;
	if (subscribe(conn) < 0) {
		virConnectClose(conn);
		return false;
	}
	o.events = conn;
	o.closed = false;
	json_begin_event(arrival_now(), NULL, "connection");
	json_text("state", "up");
	json_end();
	o.n_domains = 0;
	list_domains(conn);
	return true;
}

static void disconnect(void)
{
	if (!o.events)
		return;
	virConnectUnregisterCloseCallback(o.events, on_close);
	virConnectClose(o.events);
	o.events = NULL;
}

static void write_header(virConnectPtr conn)
{
	unsigned long qemu = 0, libvirt = 0;
	char text[32];

	virConnectGetVersion(conn, &qemu);
	virConnectGetLibVersion(conn, &libvirt);
	json_begin("header");
	json_number("format", 1);
	json_text("uri", o.shown_uri);
	json_text("side", o.side);
	json_text("qemu", version_words(qemu, text, sizeof(text)));
	json_text("libvirt", version_words(libvirt, text, sizeof(text)));
	json_text("case", o.test);
	json_text("what", o.what);
	json_end();
}

static void on_tick(int timer, void *opaque)
{
	/* Exists so that the loop turns and looks at o.stop; the reconnection waits for it too. */
	(void) timer;
	(void) opaque;
}

static void on_signal(int number)
{
	(void) number;
	o.stop = 1;
}

static void on_error(void *opaque, virErrorPtr error)
{
	(void) opaque;
	(void) error;
}

static int usage(FILE *to)
{
	fputs("usage: observer --uri URI --side src|dst [--case NAME] [--what SENTENCE] [--show-uri URI] FILE\n"
	      "Writes what libvirt at URI tells, one JSON line an event, until SIGTERM. --show-uri is what the header says.\n", to);
	return to == stdout ? EXIT_SUCCESS : 2;
}

static int parse(int argc, char **argv, const char **ret_file)
{
	static const struct option options[] = {
		{ "uri", required_argument, NULL, 'u' },  { "side", required_argument, NULL, 's' },
		{ "case", required_argument, NULL, 'c' }, { "what", required_argument, NULL, 'w' },
		{ "show-uri", required_argument, NULL, 'U' }, { "help", no_argument, NULL, 'h' }, { 0 },
	};
	int c;

	o.test = o.what = "";
	while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
		switch (c) {
		case 'u':
			o.uri = optarg;
			break;
		case 's':
			o.side = optarg;
			break;
		case 'c':
			o.test = optarg;
			break;
		case 'w':
			o.what = optarg;
			break;
		case 'U':
			o.shown_uri = optarg;
			break;
		case 'h':
			exit(usage(stdout));
		default:
			return -1;
		}
	if (!o.uri || !o.side || optind != argc - 1)
		return -1;
	if (!o.shown_uri)
		o.shown_uri = o.uri;
	*ret_file = argv[optind];
	return 0;
}

static int run(void)
{
	if (virEventAddTimeout(50, on_tick, NULL, NULL) < 0 || ask_start(o.uri) < 0)
		return EXIT_FAILURE;
	for (bool first = true; !o.stop;) {
		if (!o.events) {
			if (first) {
				/* The header comes first of all, so the versions are asked before anything is subscribed to. */
				virConnectPtr conn = virConnectOpen(o.uri);

				if (!conn) {
					fprintf(stderr, "observer: %s: %s\n", o.uri, virGetLastErrorMessage());
					return EXIT_FAILURE;
				}
				write_header(conn);
				virConnectClose(conn);
				first = false;
			}
			if (!connect_once())
				usleep(RETRY_MS * 1000);
			continue;
		}
		virEventRunDefaultImpl();
		if (o.closed)
			disconnect();
	}
	disconnect();
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = on_signal };
	const char *path;
	FILE *file;

	if (parse(argc, argv, &path) < 0)
		return usage(stderr);
	file = fopen(path, "we");
	if (!file) {
		fprintf(stderr, "observer: %s: %s\n", path, strerror(errno));
		return EXIT_FAILURE;
	}
	json_open(file);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	virSetErrorFunc(NULL, on_error);
	if (virInitialize() < 0 || virEventRegisterDefaultImpl() < 0)
		return EXIT_FAILURE;
	return run();
}
