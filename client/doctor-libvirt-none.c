/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The build without libvirt (-Ddoctor_libvirt=disabled). */

#include <errno.h>

#include "doctor-libvirt.h"

struct json_object *doctor_ask_libvirt(const char *uri)
{
	(void) uri;
	errno = EOPNOTSUPP;
	return NULL;
}
