/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/phases.h"
#include "store/report-json.h"
#include "store/summary.h"

void summary_of_report(const struct report *r, struct summary *ret_)
{
	struct report copy = *r;
	struct phases p;
	struct summary s = {
		.name = (char *) r->name, .uri = (char *) r->uri,
		.side = r->side, .operation = r->operation, .driver = r->driver, .outcome = r->outcome, .cause = r->cause,
		.paused = r->paused,
	};
	int64_t began = report_began_usec(r);

	report_make_writable(&copy);
	phases_compute(&copy, &p);
	memcpy(s.id, r->id, sizeof(s.id));
	memcpy(s.uuid, r->uuid, sizeof(s.uuid));
	s.began_usec = began > 0 ? began : 0;
	s.total_known = p.total_known;
	s.total_usec = p.total_known ? p.total_usec : 0;
	s.blackout_known = p.blackout_known;
	s.blackout_usec = p.blackout_known ? p.blackout_usec : 0;
	s.blackout_lower_bound = p.blackout_known && p.blackout_lower_bound;
	*ret_ = s;
}

uint64_t id_from_text(const char *text)
{
	return report_id_is_valid(text) ? strtoull(text, NULL, 16) : 0;
}

void id_to_text(uint64_t id, char to[static REPORT_ID_LEN + 1])
{
	snprintf(to, REPORT_ID_LEN + 1, "%016" PRIx64, id);
}

void uuid_to_bytes(const char *text, uint8_t to[static 16])
{
	memset(to, 0, 16);
	if (!report_uuid_is_valid(text))
		return;
	for (int i = 0; i < 16; text += 2, i++) {
		char pair[3];

		if (*text == '-')
			text++;
		memcpy(pair, text, 2);
		pair[2] = '\0';
		to[i] = (uint8_t) strtoul(pair, NULL, 16);
	}
}

void uuid_from_bytes(const uint8_t from[static 16], char to[static REPORT_UUID_LEN + 1])
{
	for (int i = 0; i < 16; i++) {
		if (i == 4 || i == 6 || i == 8 || i == 10)
			*to++ = '-';
		to += sprintf(to, "%02x", from[i]);
	}
}
