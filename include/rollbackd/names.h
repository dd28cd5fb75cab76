/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_NAMES_H
#define ROLLBACKD_NAMES_H

/* Every name that somebody outside this source tree can see: bus names, paths, interfaces, errors, journal fields,
 * message IDs, files. Daemon, client and tests take them from here; nobody spells one out again. */

#define RBD_BUS_NAME            "org.rollbackd1"
#define RBD_PATH_MANAGER        "/org/rollbackd1"
#define RBD_PATH_MIGRATIONS     "/org/rollbackd1/migration" /* + '/' + report id */
#define RBD_PATH_DOMAINS        "/org/rollbackd1/domain"    /* + '/' + UUID, '-' as '_' */

#define RBD_IFACE_MANAGER       "org.rollbackd1.Manager"
#define RBD_IFACE_MIGRATION     "org.rollbackd1.Migration"
#define RBD_IFACE_DOMAIN        "org.rollbackd1.Domain"

#define RBD_ERROR_NO_SUCH_REPORT   "org.rollbackd1.Error.NoSuchReport"
#define RBD_ERROR_NO_SUCH_DOMAIN   "org.rollbackd1.Error.NoSuchDomain"
#define RBD_ERROR_AMBIGUOUS        "org.rollbackd1.Error.Ambiguous"
#define RBD_ERROR_INVALID_ARGUMENT "org.rollbackd1.Error.InvalidArgument"
#define RBD_ERROR_LIMIT_EXCEEDED   "org.rollbackd1.Error.LimitExceeded"
#define RBD_ERROR_BUSY             "org.rollbackd1.Error.Busy"

/* Journal fields, beside the standard MESSAGE, PRIORITY and MESSAGE_ID. */
#define RBD_FIELD_DOMAIN_UUID   "ROLLBACKD_DOMAIN_UUID"
#define RBD_FIELD_DOMAIN_NAME   "ROLLBACKD_DOMAIN_NAME"
#define RBD_FIELD_REPORT_ID     "ROLLBACKD_REPORT_ID"
#define RBD_FIELD_SIDE          "ROLLBACKD_SIDE"
#define RBD_FIELD_OUTCOME       "ROLLBACKD_OUTCOME"
#define RBD_FIELD_STATE         "ROLLBACKD_STATE"
#define RBD_FIELD_BLACKOUT_USEC "ROLLBACKD_BLACKOUT_USEC"
#define RBD_FIELD_URI           "ROLLBACKD_LIBVIRT_URI"

#define RBD_MSG_STARTED          "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b01"
#define RBD_MSG_STOPPING         "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b02"
#define RBD_MSG_CONNECTION_UP    "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b03"
#define RBD_MSG_CONNECTION_LOST  "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b04"
#define RBD_MSG_MIGRATION_BEGAN  "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b05"
#define RBD_MSG_MIGRATION_ENDED  "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b06"
#define RBD_MSG_STORE_TROUBLE    "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b07"
#define RBD_MSG_REPORT_SET_ASIDE "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b08"
#define RBD_MSG_DEGRADED         "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b09"
#define RBD_MSG_CALL_STUCK       "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b0a"
#define RBD_MSG_BUS              "5c1e1f0c7c3b4f0d9a3b0a4d6e2f1b0b"

#define RBD_CONFIG_FILE         "/etc/rollbackd/rollbackd.conf" /* and rollbackd.conf.d/ beside it, files *.conf in order of name */
#define RBD_STATE_DIR           "/var/lib/rollbackd"
#define RBD_REPORTS_DIR         "reports"   /* below the state directory: finished reports */
#define RBD_INFLIGHT_DIR        "inflight"  /* migrations that have not ended: taken over after a restart */
#define RBD_ASIDE_DIR           "aside"     /* files that could not be read, kept for a person */

/* Version of the report's JSON: major changes when a reader of the old one would misread the new one. */
#define RBD_SCHEMA_MAJOR 1
#define RBD_SCHEMA_MINOR 0

#endif
