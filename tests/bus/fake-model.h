/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BUS_FAKE_MODEL_H
#define ROLLBACKD_TESTS_BUS_FAKE_MODEL_H

/* A model that a test or a script fills by hand: live migrations are plain reports. */

#include <glib.h>

#include "bus/bus.h"
#include "bus/model.h"

struct fake_live {
	struct report report;
	struct model_progress progress;
	int progress_result;    /* of the question; 0: progress is given */
};

struct fake_model {
	struct model model;     /* to be given to bus_new() */
	GPtrArray *live;        /* struct fake_live */
	GArray *connections;    /* struct model_connection; texts are interned */
	GArray *counters;       /* struct model_counter; likewise */
};

void fake_model_init(struct fake_model *f, struct store *store);
void fake_model_done(struct fake_model *f);

void fake_model_add_connection(struct fake_model *f, const struct model_connection *c);
void fake_model_set_counter(struct fake_model *f, const char *name, uint64_t value);

/* A source-side migration of qemu:///system that begins now. Tells the bus, which may be NULL. */
struct fake_live *fake_model_begin(struct fake_model *f, struct bus *bus, const char *id, const char *uuid, const char *name);
struct fake_live *fake_model_find(struct fake_model *f, const char *id);

/* Sets a mark to this moment. The bus is not told. */
void fake_live_mark(struct fake_live *l, enum mark_id mark, enum stamp_source source);

/* Ends it: the store takes it, the bus is told, it is live no more. */
void fake_model_finish(struct fake_model *f, struct bus *bus, struct fake_live *l, enum mig_state state, enum outcome outcome);

#endif
