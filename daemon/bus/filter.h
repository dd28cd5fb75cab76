/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_BUS_FILTER_H
#define ROLLBACKD_BUS_FILTER_H

#include <systemd/sd-bus.h>

#include "store/store.h"

#define FILTER_DOMAIN_MAX 256 /* bytes: twice what a report keeps of a name */
#define FILTER_WORDS_MAX  32  /* words in one list: more than there are outcomes */

/* Reads the a{sv} of ListReports (docs/org.rollbackd1.xml) from m. Texts in ret_ belong to m. Negative with InvalidArgument
 * in error: what was given, what was expected. */
int filter_read(sd_bus_message *m, struct store_filter *ret_, sd_bus_error *error);

#endif
