/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "bus.h"
#include "doctor.h"
#include "rollbackd/names.h"
#include "text.h"

static const char daemon_lost[] = "migrations pass unseen: no report is kept";
static const char daemon_remedy[] = "systemctl enable --now rollbackd.service, then `journalctl -u rollbackd` if it does not stay up";

/* Asks without starting it: doctor only looks. */
static int read_version(sd_bus *bus, sd_bus_error *e, char **ret_)
{
	_cleanup_message_ sd_bus_message *m = NULL, *reply = NULL;
	const char *version;
	int r = sd_bus_message_new_method_call(bus, &m, RBD_BUS_NAME, RBD_PATH_MANAGER, "org.freedesktop.DBus.Properties", "Get");

	if (r >= 0)
		r = sd_bus_message_append(m, "ss", RBD_IFACE_MANAGER, "Version");
	if (r >= 0)
		r = sd_bus_message_set_auto_start(m, 0);
	if (r >= 0)
		r = sd_bus_call(bus, m, BUS_TIMEOUT_USEC, e, &reply);
	if (r >= 0)
		r = sd_bus_message_read(reply, "v", "s", &version);
	if (r >= 0)
		*ret_ = text_safe(version);
	return r;
}

static void look_at_daemon(struct doctor *d, sd_bus *bus)
{
	_cleanup_bus_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	_cleanup_free_ char *version = NULL, *why = NULL;
	int r = read_version(bus, &e, &version);

	if (r >= 0) {
		doctor_add(d, "daemon", DOCTOR_OK, DOCTOR_MATTERS, "rollbackd", daemon_lost, daemon_remedy, "version %s answers", version);
	} else if (bus_error_is_absence(&e)) {
		doctor_add(d, "daemon", DOCTOR_MISSING, DOCTOR_MATTERS, "rollbackd", daemon_lost, daemon_remedy, "not on the bus");
	} else {
		why = text_safe(e.message ? e.message : strerror(-r));
		doctor_add(d, "daemon", DOCTOR_MISSING, DOCTOR_MATTERS, "rollbackd", daemon_lost, daemon_remedy, "on the bus, but: %s", why);
	}
}

void doctor_bus(struct doctor *d)
{
	static const char lost[] = "rollbackctl, and whoever listens to rollbackd's signals, reach nothing";
	static const char remedy[] = "start the system's D-Bus daemon (dbus.service), or name another bus with --address or --user";
	_cleanup_free_ char *name = text_safe(bus_name(d->c));
	_cleanup_bus_ sd_bus *bus = NULL;
	int r = bus_open_quietly(d->c, &bus);

	if (r < 0) {
		doctor_add(d, "bus", DOCTOR_MISSING, DOCTOR_MATTERS, "bus", lost, remedy, "%s: %s", name, strerror(-r));
		doctor_add(d, "daemon", DOCTOR_UNKNOWN, DOCTOR_MATTERS, "rollbackd", daemon_lost, daemon_remedy, "cannot be asked without the bus");
		return;
	}
	doctor_add(d, "bus", DOCTOR_OK, DOCTOR_MATTERS, "bus", lost, remedy, "%s", name);
	look_at_daemon(d, bus);
}
