/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_DOCTOR_LIBVIRT_H
#define ROLLBACKCTL_DOCTOR_LIBVIRT_H

#include <json-c/json.h>

#include "doctor.h"

/* What a libvirt at this URI grants: { "error": why no read-write connection, "read_only", "version", "qmp", "qmp_error",
 * "domains": [UUID of each active one] }. NULL with errno: ETIMEDOUT, or EOPNOTSUPP in a build without libvirt. */
struct json_object *doctor_ask_libvirt(const char *uri);

#endif
