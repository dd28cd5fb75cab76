/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "alloc.h"
#include "bus.h"
#include "rollbackd/names.h"
#include "text.h"

static int open_address(const char *address, sd_bus **ret_)
{
	sd_bus *bus = NULL;
	int r = sd_bus_new(&bus);

	if (r >= 0)
		r = sd_bus_set_address(bus, address);
	if (r >= 0)
		r = sd_bus_set_bus_client(bus, 1);
	if (r >= 0)
		r = sd_bus_start(bus);
	if (r >= 0)
		r = sd_bus_get_unique_name(bus, &(const char *) { NULL }); /* waits for Hello: a dead bus shows here */
	if (r < 0)
		bus = sd_bus_close_unref(bus);
	else
		*ret_ = bus;
	return r < 0 ? r : 0;
}

int bus_open_quietly(const struct ctl *c, sd_bus **ret_)
{
	sd_bus *bus = NULL;
	int r;

	if (c->address)
		return open_address(c->address, ret_);
	r = c->user ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);
	if (r >= 0)
		r = sd_bus_get_unique_name(bus, &(const char *) { NULL });
	if (r < 0)
		sd_bus_close_unref(bus);
	else
		*ret_ = bus;
	return r < 0 ? r : 0;
}

const char *bus_name(const struct ctl *c)
{
	return c->address ? c->address : c->user ? "the user bus" : "the system bus";
}

int bus_open(struct ctl *c, sd_bus **ret_)
{
	_cleanup_free_ char *name = text_safe(bus_name(c));
	int r = c->address && !strchr(c->address, ':') ? -EINVAL : bus_open_quietly(c, ret_);

	switch (-r) {
	case 0:
		return CTL_OK;
	case EACCES:
	case EPERM:
		return ctl_fail(c, CTL_DENIED, "no right to connect to %s", name);
	case EINVAL:
		return ctl_fail(c, CTL_USAGE, "\"%s\" is not a bus address: expected something like unix:path=/run/dbus/system_bus_socket", name);
	case ENOENT:
	case ECONNREFUSED:
	case ENOMEDIUM:
		return ctl_fail(c, CTL_UNREACHABLE, "nobody listens at %s: is %s running?", name,
				c->address ? "a D-Bus daemon" : c->user ? "a user session" : "dbus.service");
	default:
		return ctl_fail(c, CTL_UNREACHABLE, "cannot connect to %s: %s", name, strerror(-r));
	}
}

bool bus_error_is_absence(const sd_bus_error *e)
{
	return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) || sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
	       (e->name && strncmp(e->name, "org.freedesktop.DBus.Error.Spawn.", 33) == 0);
}

int bus_explain(struct ctl *c, const sd_bus_error *e, int r)
{
	_cleanup_free_ char *text = text_safe(e && e->message ? e->message : strerror(-r));

	if (!e || !e->name)
		return ctl_fail(c, r == -ENOMEM ? CTL_FAILED : CTL_UNREACHABLE, "lost %s: %s", c->address ? "the bus" : bus_name(c), text);
	if (bus_error_is_absence(e))
		return ctl_fail(c, CTL_UNREACHABLE, "rollbackd is not on the bus: is rollbackd.service running?");
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_ACCESS_DENIED) || sd_bus_error_has_name(e, SD_BUS_ERROR_AUTH_FAILED) ||
	    sd_bus_error_has_name(e, SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED))
		return ctl_fail(c, CTL_DENIED, "access denied: %s", text);
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) || sd_bus_error_has_name(e, SD_BUS_ERROR_TIMEOUT))
		return ctl_fail(c, CTL_UNREACHABLE, "rollbackd is on the bus but does not answer: %s", text);
	if (sd_bus_error_has_name(e, RBD_ERROR_NO_SUCH_REPORT) || sd_bus_error_has_name(e, RBD_ERROR_NO_SUCH_DOMAIN))
		return ctl_fail(c, CTL_NO_SUCH, "%s", text);
	if (sd_bus_error_has_name(e, RBD_ERROR_AMBIGUOUS) || sd_bus_error_has_name(e, RBD_ERROR_INVALID_ARGUMENT))
		return ctl_fail(c, CTL_USAGE, "%s", text);
	if (sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_METHOD) || sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_INTERFACE) ||
	    sd_bus_error_has_name(e, SD_BUS_ERROR_UNKNOWN_PROPERTY))
		return ctl_fail(c, CTL_FAILED, "this rollbackd does not know the question (another version?): %s", text);
	return ctl_fail(c, CTL_FAILED, "rollbackd: %s", text);
}

int bus_bad_answer(struct ctl *c, int r)
{
	return ctl_fail(c, CTL_FAILED, "rollbackd's answer is not what its interface says (another version?): %s", strerror(-r));
}

int bus_send(struct ctl *c, sd_bus *bus, sd_bus_message *call, sd_bus_message **ret_)
{
	_cleanup_bus_error_ sd_bus_error e = SD_BUS_ERROR_NULL;
	int r = sd_bus_call(bus, call, BUS_TIMEOUT_USEC, &e, ret_);

	return r < 0 ? bus_explain(c, &e, r) : CTL_OK;
}

int bus_call(struct ctl *c, sd_bus *bus, const char *path, const char *interface, const char *method, sd_bus_message **ret_,
	     const char *types, ...)
{
	_cleanup_message_ sd_bus_message *m = NULL;
	va_list ap;
	int r = sd_bus_message_new_method_call(bus, &m, RBD_BUS_NAME, path, interface, method);

	if (r >= 0 && types) {
		va_start(ap, types);
		r = sd_bus_message_appendv(m, types, ap);
		va_end(ap);
	}
	return r < 0 ? bus_explain(c, NULL, r) : bus_send(c, bus, m, ret_);
}
