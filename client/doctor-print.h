/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_DOCTOR_PRINT_H
#define ROLLBACKCTL_DOCTOR_PRINT_H

#include "doctor.h"

void doctor_print(const struct doctor *d, const struct term *t);
struct json_object *doctor_to_json(const struct doctor *d);

/* Is nothing missing that matters? */
bool doctor_is_well(const struct doctor *d);

#endif
