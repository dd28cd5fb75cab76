/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor-print.h"
#include "text.h"

static const struct option_spec options[] = {
	{ "connect", 'c', "URI", "ask this libvirt instead of those of the configuration file; may be repeated", true },
	{ "config", 0, "FILE", "read libvirt URIs from FILE instead of /etc/rollbackd/rollbackd.conf", false },
	{ "proc", 0, "DIR", "look at DIR instead of /proc (a container's view of the host's, a test)", false },
	{ "sys", 0, "DIR", "look at DIR instead of /sys", false },
	{ "dev", 0, "DIR", "look at DIR instead of /dev", false },
	{ 0 },
};

static int find_uris(struct ctl *c, const struct args *a, struct doctor *d)
{
	const char *file = args_value(a, "config"), *uri;
	size_t n = 0;

	if (!args_has(a, "connect")) {
		_cleanup_free_ char *safe = text_safe(file ? file : "the configuration file");

		errno = 0;
		d->uris = doctor_config_uris(file);
		return d->uris ? CTL_OK : ctl_fail(c, file ? CTL_USAGE : CTL_FAILED, "cannot read %s: %s", safe, strerror(errno));
	}
	d->uris = xcalloc(a->n_options + 1, sizeof *d->uris);
	while ((uri = args_nth(a, "connect", n))) {
		if (!*uri)
			return ctl_fail(c, CTL_USAGE, "--connect: expected a libvirt URI such as qemu:///system");
		d->uris[n++] = xstrdup(uri);
	}
	return CTL_OK;
}

static int run(struct ctl *c, const struct args *a)
{
	static const struct {
		const char *name;
		void (*look)(struct doctor *d);
	} groups[] = {
		{ "Watching", doctor_libvirt },
		{ "Telling", doctor_bus },
		{ "Guests", doctor_qemu },
		{ "Memory", doctor_memory },
		{ "Teardown", doctor_kvm },
		{ "Rights", doctor_rights },
		{ "Measuring", doctor_tracing },
		{ "Security", doctor_security },
	};
	struct doctor d = {
		.c = c,
		.proc = args_has(a, "proc") ? args_value(a, "proc") : "/proc",
		.sys = args_has(a, "sys") ? args_value(a, "sys") : "/sys",
		.dev = args_has(a, "dev") ? args_value(a, "dev") : "/dev",
		.page_size = (uint64_t) sysconf(_SC_PAGESIZE),
	};
	struct utsname host = { 0 };
	int r = find_uris(c, a, &d);

	uname(&host);
	d.machine = host.machine;
	for (size_t i = 0; r == CTL_OK && i < sizeof groups / sizeof groups[0]; i++) {
		d.group = groups[i].name;
		groups[i].look(&d);
	}
	if (r == CTL_OK && c->json)
		ctl_print_json(c, doctor_to_json(&d), false);
	else if (r == CTL_OK)
		doctor_print(&d, &c->term);
	if (r == CTL_OK && !doctor_is_well(&d))
		r = CTL_FAILED;
	doctor_done(&d);
	return r;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.words = "",
	.summary = "What this host has and lacks for rollbackd, and how to mend it",
	.help = "Works without rollbackd. One line for each right and capability: ok, missing or unknown, then what is lost\n"
		"without it and the remedy. Only looks: no guest is touched, nothing is changed, mounted or loaded.\n"
		"\n"
		"It tells what the user who runs it may do; the service's sandbox can take rights away that root has. What\n"
		"watching needs is libvirt read-write, QMP events, the bus and rollbackd itself; the rest is for teardown\n"
		"and for finer figures.\n",
	.examples = "  sudo rollbackctl doctor\n"
		    "  rollbackctl doctor --json | jq '.findings[] | select(.state != \"ok\") | {id, found, remedy}'\n",
	.exits = "  0  nothing is missing that matters\n"
		 "  1  something is\n"
		 "  2  the command line is wrong\n",
	.options = options,
	.run = run,
};
