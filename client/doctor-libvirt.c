/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* libvirt is asked in a child with a deadline: a call to it can hang as long as a guest's monitor does. */

#include <errno.h>
#include <inttypes.h>
#include <libvirt/libvirt-qemu.h>
#include <libvirt/libvirt.h>
#include <libvirt/virterror.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "alloc.h"
#include "doctor-libvirt.h"
#include "json.h"

static void be_silent(void *userdata, virErrorPtr error)
{
	(void) userdata, (void) error;
}

static void ignore_event(virConnectPtr conn, virDomainPtr dom, const char *event, long long seconds, unsigned int micros, const char *details,
			 void *opaque)
{
	(void) conn, (void) dom, (void) event, (void) seconds, (void) micros, (void) details, (void) opaque;
}

/* No questions: whoever would have to type a password has not the right that the daemon needs. */
static int no_credentials(virConnectCredentialPtr credentials, unsigned int n, void *userdata)
{
	(void) credentials, (void) n, (void) userdata;
	return -1;
}

static void add_domains(virConnectPtr conn, struct json_object *o)
{
	struct json_object *list = json_object_new_array();
	char uuid[VIR_UUID_STRING_BUFLEN];
	virDomainPtr *domains = NULL;
	int n = virConnectListAllDomains(conn, &domains, VIR_CONNECT_LIST_DOMAINS_ACTIVE);

	for (int i = 0; i < n; i++) {
		if (virDomainGetUUIDString(domains[i], uuid) == 0)
			json_object_array_add(list, json_object_new_string(uuid));
		virDomainFree(domains[i]);
	}
	free(domains);
	json_object_object_add(o, "domains", list);
}

static void add_qmp(virConnectPtr conn, struct json_object *o)
{
	int id = virConnectDomainQemuMonitorEventRegister(conn, NULL, "STOP", ignore_event, NULL, NULL, 0);

	json_add_bool(o, "qmp", id >= 0);
	if (id >= 0)
		virConnectDomainQemuMonitorEventDeregister(conn, id);
	else
		json_add_text(o, "qmp_error", virGetLastErrorMessage());
}

static void ask(int fd, void *userdata)
{
	int types[] = { VIR_CRED_AUTHNAME, VIR_CRED_PASSPHRASE };
	virConnectAuth auth = { types, 2, no_credentials, NULL };
	struct json_object *o = json_object_new_object();
	unsigned long version = 0;
	const char *text;
	virConnectPtr conn;

	virSetErrorFunc(NULL, be_silent);
	virEventRegisterDefaultImpl();
	conn = virConnectOpenAuth(userdata, &auth, 0);
	if (!conn) {
		json_add_text(o, "error", virGetLastErrorMessage());
		conn = virConnectOpenReadOnly(userdata);
		json_add_bool(o, "read_only", conn != NULL);
	} else {
		add_qmp(conn, o);
	}
	if (conn) {
		virConnectGetLibVersion(conn, &version);
		json_add_count(o, "version", version);
		add_domains(conn, o);
		virConnectClose(conn);
	}
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	for (size_t n = strlen(text); n > 0;) {
		ssize_t w = write(fd, text, n);

		if (w < 0)
			break;
		text += w;
		n -= (size_t) w;
	}
}

struct json_object *doctor_ask_libvirt(const char *uri)
{
	_cleanup_free_ char *text = doctor_in_child(ask, (void *) (uintptr_t) uri, 10000);

	if (!text)
		return NULL;
	errno = EPROTO;
	return json_tokener_parse(text);
}
