/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <string.h>

#include "bus/fair.h"

static unsigned find(const struct fair *f, const char *name)
{
	unsigned quietest = 0;

	for (unsigned i = 0; i < FAIR_SENDERS; i++) {
		if (strcmp(f->senders[i].name, name) == 0)
			return i;
		if (f->senders[i].paid_until < f->senders[quietest].paid_until)
			quietest = i;
	}
	return quietest;
}

bool fair_admit(struct fair *f, const char *sender, int64_t now_usec)
{
	char name[sizeof(f->senders[0].name)];
	int64_t from = now_usec;
	unsigned i;

	snprintf(name, sizeof(name), "%s", sender);
	i = find(f, name);
	if (strcmp(f->senders[i].name, name) == 0 && f->senders[i].paid_until > now_usec)
		from = f->senders[i].paid_until;
	if (from - now_usec > (FAIR_BURST - 1) * FAIR_INTERVAL_USEC)
		return false;
	memcpy(f->senders[i].name, name, sizeof(name));
	f->senders[i].paid_until = from + FAIR_INTERVAL_USEC;
	return true;
}
