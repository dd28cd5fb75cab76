/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "alloc.h"
#include "doctor-libvirt.h"
#include "json.h"
#include "text.h"

static const char rw_lost[] = "rollbackd sees no migration of this libvirt's guests";
static const char rw_remedy[] = "start it (systemctl start libvirtd.service, or virtqemud.socket), run rollbackd as root or as a member of the group "
				"libvirt, and check Uris= in rollbackd.conf";
static const char qmp_lost[] = "times are those of arrival instead of QEMU's own, and a cancel in pre-copy is seen late";
static const char qmp_remedy[] = "QEMU's events need a read-write connection to libvirt's QEMU driver";

static void remember_domains(struct doctor *d, struct json_object *list)
{
	for (size_t i = 0; i < json_length(list); i++) {
		d->known_uuids = xrealloc(d->known_uuids, d->n_known + 1, sizeof *d->known_uuids);
		d->known_uuids[d->n_known++] = xstrdup(json_object_get_string(json_object_array_get_idx(list, i)));
	}
}

static void add_qmp(struct doctor *d, const char *uri, struct json_object *answer)
{
	_cleanup_free_ char *why = text_safe(json_text_or(answer, "qmp_error", "no reason given"));
	struct finding *f;

	if (!json_at(answer, "qmp"))
		f = doctor_add(d, "qmp-events", DOCTOR_UNKNOWN, DOCTOR_MATTERS, "QMP events", qmp_lost, qmp_remedy, "not asked for: no %sconnection",
			       json_true(answer, "read_only") ? "read-write " : "");
	else if (json_true(answer, "qmp"))
		f = doctor_add(d, "qmp-events", DOCTOR_OK, DOCTOR_MATTERS, "QMP events", qmp_lost, qmp_remedy, "given");
	else
		f = doctor_add(d, "qmp-events", DOCTOR_MISSING, DOCTOR_MATTERS, "QMP events", qmp_lost, qmp_remedy, "refused: %s", why);
	f->subject = xstrdup(uri);
}

static void add_answer(struct doctor *d, const char *uri, const char *title, struct json_object *answer)
{
	_cleanup_free_ char *error = text_safe(json_text_or(answer, "error", ""));
	struct json_object *domains = json_at(answer, "domains");
	size_t n = json_length(domains);
	uint64_t version = 0;
	struct finding *f;

	json_count(answer, "version", &version);
	remember_domains(d, domains);
	if (domains)
		d->libvirt_answered = true;
	else
		d->libvirt_failed = true;
	if (!*error)
		f = doctor_add(d, "libvirt", DOCTOR_OK, DOCTOR_MATTERS, title, rw_lost, rw_remedy,
			       "read-write, libvirt %" PRIu64 ".%" PRIu64 ".%" PRIu64 ", %zu running guest%s", version / 1000000, version / 1000 % 1000,
			       version % 1000, n, n == 1 ? "" : "s");
	else
		f = doctor_add(d, "libvirt", DOCTOR_MISSING, DOCTOR_MATTERS, title, rw_lost, rw_remedy, "%s%s",
			       json_true(answer, "read_only") ? "read-only connections only: " : "", error);
	f->subject = xstrdup(uri);
}

static void look_at_uri(struct doctor *d, const char *uri)
{
	_cleanup_free_ char *safe = text_safe(uri), *title = xprintf("libvirt at %s", safe);
	_cleanup_json_ struct json_object *answer = NULL;
	struct finding *f;

	errno = 0;
	answer = doctor_ask_libvirt(uri);
	if (answer) {
		add_answer(d, uri, title, answer);
		add_qmp(d, uri, answer);
		return;
	}
	d->libvirt_failed = true;
	if (errno == ETIMEDOUT)
		f = doctor_add(d, "libvirt", DOCTOR_MISSING, DOCTOR_MATTERS, title, rw_lost,
			       "see what holds it up: a guest's monitor that does not answer, a full client limit (max_client_requests)",
			       "does not answer within 10 s");
	else if (errno == EOPNOTSUPP)
		f = doctor_add(d, "libvirt", DOCTOR_UNKNOWN, DOCTOR_MATTERS, title, rw_lost,
			       "rollbackctl was built without libvirt: `rollbackctl status` says how rollbackd's own connections are",
			       "this build cannot ask libvirt");
	else
		f = doctor_add(d, "libvirt", DOCTOR_UNKNOWN, DOCTOR_MATTERS, title, rw_lost, rw_remedy, "could not be asked: %s",
			       errno ? strerror(errno) : "the client library broke off");
	f->subject = xstrdup(uri);
	f = doctor_add(d, "qmp-events", DOCTOR_UNKNOWN, DOCTOR_MATTERS, "QMP events", qmp_lost, qmp_remedy, "could not be asked for");
	f->subject = xstrdup(uri);
}

void doctor_libvirt(struct doctor *d)
{
	for (char **uri = d->uris; *uri; uri++)
		look_at_uri(d, *uri);
}
