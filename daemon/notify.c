/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <glib.h>
#include <systemd/sd-daemon.h>

#include "notify.h"

static guint watchdog;

void notify_ready(void)
{
	sd_notify(0, "READY=1");
}

void notify_reloading(void)
{
	/* The stamp is what Type=notify-reload asks for; older managers ignore it. */
	sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%" G_GINT64_FORMAT, g_get_monotonic_time());
}

void notify_stopping(void)
{
	sd_notify(0, "STOPPING=1");
}

void notify_status(const char *format, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	/* A newline would begin another assignment. */
	for (char *p = text; *p; p++)
		if (*p == '\n')
			*p = ' ';
	sd_notifyf(0, "STATUS=%s", text);
}

static gboolean on_watchdog(gpointer userdata)
{
	(void) userdata;
	sd_notify(0, "WATCHDOG=1");
	return G_SOURCE_CONTINUE;
}

void notify_watchdog_start(void)
{
	uint64_t usec;

	notify_watchdog_stop();
	if (sd_watchdog_enabled(0, &usec) <= 0)
		return;
	on_watchdog(NULL);
	watchdog = g_timeout_add((guint) (usec / 2000 > 0 ? usec / 2000 : 1), on_watchdog, NULL);
}

void notify_watchdog_stop(void)
{
	if (watchdog)
		g_source_remove(watchdog);
	watchdog = 0;
}
