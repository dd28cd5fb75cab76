/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_SUMMARY_H
#define ROLLBACKD_STORE_SUMMARY_H

#include "store/store.h"

/* What the index keeps of a report. name and uri point into the report. Any thread. */
void summary_of_report(const struct report *r, struct summary *ret_);

/* 16 hex digits; 0 for what is no id (no report has it: store_put refuses it). */
uint64_t id_from_text(const char *text);
void id_to_text(uint64_t id, char to[static REPORT_ID_LEN + 1]);

void uuid_to_bytes(const char *text, uint8_t to[static 16]); /* all zero for what is no UUID */
void uuid_from_bytes(const uint8_t from[static 16], char to[static REPORT_UUID_LEN + 1]);

#endif
