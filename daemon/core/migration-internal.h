/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_MIGRATION_INTERNAL_H
#define ROLLBACKD_CORE_MIGRATION_INTERNAL_H

/* Between migration.c and its two sides. All of them return effects. */

#include "core/migration.h"

unsigned migration_set_state(struct migration *m, enum mig_state state);
/* First word counts: a mark that is set stays. */
unsigned migration_mark(struct migration *m, enum mark_id id, const struct event *ev);
unsigned migration_mark_at(struct migration *m, enum mark_id id, nsec_t at, enum stamp_source source, nsec_t resolution);
unsigned migration_mark_same(struct migration *m, enum mark_id id, enum mark_id as); /* one event tells both */
/* Nothing told it: it lies between two others, and is set to the later one, with the distance as its resolution. */
unsigned migration_infer(struct migration *m, enum mark_id id, enum mark_id before, enum mark_id after);
void migration_unmark(struct migration *m, enum mark_id id);
void migration_wait(struct migration *m, const struct event *ev, nsec_t patience);
void migration_wait_for_word(struct migration *m, const struct event *ev);
unsigned migration_end(struct migration *m, enum mig_state state, enum outcome outcome, enum cause cause);
unsigned migration_out_of_order(struct migration *m);
unsigned migration_unknown(struct migration *m);
/* Lifecycle events that mean the same on both sides: the definition changes, or nothing does. */
unsigned migration_lifecycle_rest(struct migration *m, const struct event *ev);

unsigned migration_feed_source(struct migration *m, const struct track *t, const struct event *ev);
unsigned migration_feed_destination(struct migration *m, const struct track *t, const struct event *ev);

#endif
