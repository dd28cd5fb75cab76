/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "drive.h"

/* The guest's XML with its disk's "-other" twin in place of the disk; NULL (said). Free with free(). */
char *xml_with_other_disk(struct drive *d, const char *guest);
