/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CONFIG_H
#define ROLLBACKD_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/time.h"

/* /etc/rollbackd/rollbackd.conf, then rollbackd.conf.d/ *.conf beside it in order of name; a later file's key replaces an
 * earlier one's. docs/rollbackd.conf documents every key with unit, default and reason, and a test holds it to this. */
struct config {
	char **uris;                /* [Libvirt] Uris=, ';' between; NULL-terminated; default qemu:///system */
	char *status_dir;           /* [Libvirt] StatusDirectory=, as QEMU's mount namespace sees it; default /run/libvirt/qemu */
	nsec_t call_timeout;        /* [Libvirt] CallTimeoutSec=, 1..300, default 10 */
	nsec_t reconnect_max;       /* [Libvirt] ReconnectMaxSec=, 1..3600, default 30: the back-off's longest step */
	char *state_dir;            /* [Reports] Directory=, absolute; default /var/lib/rollbackd */
	uint32_t max_reports;       /* [Reports] MaxReports=, 1..1000000, default 10000 */
	uint64_t max_bytes;         /* [Reports] MaxBytes=, K/M/G suffixes, 1M..1T, default 256M */
	nsec_t left_paused_after;   /* [Watch] LeftPausedAfterSec=, 5..3600, default 30: how long a guest may stay paused after a
	                             * failure is known before its job is asked for */
	int log_level;              /* [Log] Level=, error|warning|notice|info|debug, default info; as syslog's LOG_* */
};

/* Reads file (NULL: RBD_CONFIG_FILE; its absence is then no error) and its .d folder. 0, or a negative errno with one line in
 * "error": file, line or key, the value found, what was expected. An unknown key or group is an error: a typing mistake
 * must not pass for a setting. ret_ untouched on failure. */
int config_load(const char *file, struct config *ret_, char *error, size_t error_size);
void config_done(struct config *c);

/* Names of the n-th key there is; false beyond the last. For the test that holds the documentation to them. */
bool config_key_nth(unsigned n, const char **ret_group, const char **ret_key);

#endif
