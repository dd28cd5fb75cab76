/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_NOTIFY_H
#define ROLLBACKD_NOTIFY_H

/* What systemd is told. All of it does nothing when nobody asked ($NOTIFY_SOCKET, $WATCHDOG_USEC unset). */

void notify_ready(void);     /* started, or reloaded */
void notify_reloading(void); /* to be followed by notify_ready() */
void notify_stopping(void);
void notify_status(const char *format, ...) __attribute__((format(printf, 1, 2))); /* one line */

/* From now on the default main context feeds the watchdog at half of its time: no other thread does, so a main loop that
 * hangs is found out. No timer and no wake-up while the watchdog is off. */
void notify_watchdog_start(void);
void notify_watchdog_stop(void);

#endif
