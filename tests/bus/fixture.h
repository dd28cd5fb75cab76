/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BUS_FIXTURE_H
#define ROLLBACKD_TESTS_BUS_FIXTURE_H

/* A private bus, the service under test on it with a fake model, and a client: all on the default main context, which runs
 * while a call is waited for. Failures end the test. */

#include <glib.h>
#include <systemd/sd-bus.h>

#include "fake-model.h"
#include "fake-store.h"
#include "private-bus.h"
#include "rollbackd/names.h"

#define UUID_A "5f7c8b52-6f2e-4a53-9d0e-3d4a5d0f9a11"
#define UUID_B "0a1b2c3d-0000-4000-8000-00000000000b"
#define PATH_A RBD_PATH_DOMAINS "/5f7c8b52_6f2e_4a53_9d0e_3d4a5d0f9a11"
#define PATH_B RBD_PATH_DOMAINS "/0a1b2c3d_0000_4000_8000_00000000000b"
#define ID_1   "00112233aabbccdd"
#define ID_2   "0011999900000002"
#define MIGRATION_1 RBD_PATH_MIGRATIONS "/" ID_1

struct fixture {
	struct private_bus daemon;
	struct store *store;
	struct fake_model model;
	struct bus *bus;
	unsigned states;        /* calls of bus_events.state */
	char *trouble;          /* the last of them; NULL: all is well */

	sd_bus *client;
	GSource *client_source;
	GPtrArray *signals;     /* sd_bus_message, in order of arrival, of the paths below /org/rollbackd1 */
};

/* With a bus daemon, a served name and a client. */
void fixture_up(struct fixture *f);
/* The same in steps. */
void fixture_prepare(struct fixture *f);
void fixture_serve(struct fixture *f);          /* bus_new(); does not wait */
void fixture_connect(struct fixture *f);        /* the client */
void fixture_disconnect(struct fixture *f);
void fixture_down(struct fixture *f);

sd_bus *client_new(const struct fixture *f, GSource **ret_source);
void client_free(sd_bus *client, GSource *source);

/* Runs the main loop until the condition holds; the test fails after 60 s. */
#define WAIT_FOR(condition)                                                                       \
	do {                                                                                      \
		gint64 end_ = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;                       \
		while (!(condition)) {                                                            \
			if (g_get_monotonic_time() > end_)                                        \
				g_error("%s:%d: waited 60 s for: %s", __FILE__, __LINE__, #condition); \
			fixture_turn();                                                           \
		}                                                                                 \
	} while (0)
void fixture_turn(void);             /* one turn of the loop, 50 ms at most */
void fixture_run(unsigned msec);

/* The answer, which may be an error; to be let go by the caller. types and values as in sd_bus_message_append(). */
sd_bus_message *call_as(sd_bus *client, const char *path, const char *iface, const char *member, const char *types, ...);
sd_bus_message *call_message(sd_bus *client, sd_bus_message *m); /* takes m over */
#define call_manager(f, member, ...) call_as((f)->client, RBD_PATH_MANAGER, RBD_IFACE_MANAGER, member, __VA_ARGS__)
/* A GetReport that is not waited for. reply is NULL until it is answered. */
struct question {
	sd_bus_slot *slot;
	sd_bus_message *reply;
};
void question_ask(struct question *q, sd_bus *client, const char *id);
void question_done(struct question *q);

/* A property as text, in a form made for comparing; to be freed with g_free(). */
char *get_property(struct fixture *f, const char *path, const char *iface, const char *property, const char *type);

/* What is left of a message as text: 's "x" u 3' and so on; to be freed with g_free(). */
char *message_text(sd_bus_message *m);

void assert_error(sd_bus_message *reply, const char *name);

/* The first recorded signal of that member on that path from index *at on, which moves past it; NULL none. */
sd_bus_message *find_signal(struct fixture *f, guint *at, const char *path, const char *member);
unsigned count_signals(struct fixture *f, const char *path, const char *member);
void forget_signals(struct fixture *f);

/* Puts a finished report of began us since the epoch (0: now) into the store. */
void put_report(struct fixture *f, const char *id, const char *uuid, const char *name, enum side side, enum outcome outcome,
	uint64_t began_usec);

#endif
