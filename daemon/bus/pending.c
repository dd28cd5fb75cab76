/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bus/pending.h"
#include "rollbackd/names.h"

/* While it is in the list it has a message; once out of it, it only waits for its holder to drop it. */
struct pending_call {
	struct pending *list; /* NULL: disconnected */
	struct pending_call *next;
	sd_bus_message *message;
};

static unsigned count_of_sender(const struct pending *p, sd_bus_message *m)
{
	const char *sender = sd_bus_message_get_sender(m), *other;
	unsigned n = 0;

	for (const struct pending_call *c = p->first; c; c = c->next) {
		other = sd_bus_message_get_sender(c->message);
		if (strcmp(other ? other : "", sender ? sender : "") == 0)
			n++;
	}
	return n;
}

int pending_add(struct pending *p, sd_bus_message *m, struct pending_call **ret_, sd_bus_error *error)
{
	struct pending_call *c;

	if (count_of_sender(p, m) >= PENDING_PER_SENDER_MAX) {
		sd_bus_error_setf(error, RBD_ERROR_LIMIT_EXCEEDED,
			"%u questions of yours wait for their answers; ask again when one has come", PENDING_PER_SENDER_MAX);
		return -EDQUOT;
	}
	if (p->n >= PENDING_MAX) {
		sd_bus_error_setf(error, RBD_ERROR_LIMIT_EXCEEDED, "%u questions wait for their answers; ask again later", PENDING_MAX);
		return -EMFILE;
	}
	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	*c = (struct pending_call) { .list = p, .next = p->first, .message = sd_bus_message_ref(m) };
	p->first = c;
	p->n++;
	*ret_ = c;
	return 0;
}

sd_bus_message *pending_message(struct pending_call *c)
{
	return c->message;
}

void pending_drop(struct pending_call *c)
{
	if (c->list) {
		struct pending_call **at = &c->list->first;

		while (*at != c)
			at = &(*at)->next;
		*at = c->next;
		c->list->n--;
	}
	sd_bus_message_unref(c->message);
	free(c);
}

void pending_disconnect(struct pending *p)
{
	struct pending_call *c = p->first, *next;

	for (; c; c = next) {
		next = c->next;
		c->list = NULL;
		c->next = NULL;
		c->message = sd_bus_message_unref(c->message);
	}
	*p = (struct pending) { 0 };
}
