/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKCTL_WORDS_H
#define ROLLBACKCTL_WORDS_H

/* The report's enumerations in words. A word that this version does not know is passed through: a newer daemon may have more. */

#include <stdbool.h>
#include <stddef.h>

#include "term.h"

const char *words_operation(const char *operation);        /* "live migration" */
const char *words_outcome(const char *outcome, const char *side); /* "rolled back: it was cancelled" */
const char *words_cause(const char *cause);                /* NULL: nothing to add */
const char *words_state(const char *state);                /* of a live migration */
const char *words_state_in_phase(const char *state, const char *phase); /* the same where the phase tells more */
const char *words_missing(const char *reason);             /* why there is no figure */
const char *words_mark(const char *mark);                  /* what moment it is */
const char *words_phase(const char *phase);                /* what runs then */
const char *words_source(const char *source);              /* where a time came from */

enum style words_outcome_style(const char *outcome);

/* What --outcome and --side take; NULL-terminated. */
extern const char *const words_outcomes[];
extern const char *const words_sides[];
bool words_contain(const char *const *words, const char *word);

#endif
