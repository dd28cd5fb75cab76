/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_HELP_H
#define ROLLBACKCTL_HELP_H

#include "ctl.h"

void help_all(const struct term *t, const struct verb *const *verbs, size_t n, const struct option_spec *globals);
void help_verb(const struct term *t, const struct verb *v, const struct option_spec *globals);

#endif
