/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* Objects of live migrations and of domains: what they show, and which signals come in which order. */

#include <errno.h>
#include <string.h>

#include "fixture.h"

static char *managed_objects(struct fixture *f)
{
	sd_bus_message *reply = call_as(f->client, RBD_PATH_MANAGER, "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", NULL);
	char *text;

	g_assert_false(sd_bus_message_is_method_error(reply, NULL));
	text = message_text(reply);
	sd_bus_message_unref(reply);
	return text;
}

static void assert_property(struct fixture *f, const char *path, const char *iface, const char *property, const char *type,
	const char *value)
{
	char *text = get_property(f, path, iface, property, type);

	g_assert_cmpstr(text, ==, value);
	g_free(text);
}

static void test_object_manager_shows_migrations_and_domains(void)
{
	struct fixture f;
	char *text;

	fixture_up(&f);
	text = managed_objects(&f);
	g_assert_cmpstr(text, ==, "[]");
	g_free(text);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	put_report(&f, ID_2, UUID_B, "other", SIDE_DESTINATION, OUTCOME_FAILED, 0);
	put_report(&f, "0000000000000003", UUID_B, "other", SIDE_SOURCE, OUTCOME_CANCELLED, 1);
	text = managed_objects(&f);
	g_assert_nonnull(strstr(text, "\"" MIGRATION_1 "\" ["));
	g_assert_nonnull(strstr(text, "\"State\" <\"setup\">"));
	g_assert_nonnull(strstr(text, "\"" PATH_B "\" ["));
	g_assert_nonnull(strstr(text, "\"Reports\" <2> \"LastReport\" <\"" ID_2 "\"> \"LastOutcome\" <\"failed\">"));
	g_assert_null(strstr(text, PATH_A));
	g_free(text);
	fixture_down(&f);
}

static void test_migration_properties(void)
{
	struct fixture f;
	struct fake_live *l;
	char *text, *expected;

	fixture_up(&f);
	l = fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	l->report.marks[MARK_T0].at = 5 * NSEC_PER_SEC;
	l->report.real_offset = 1000 * NSEC_PER_SEC;
	l->report.iterations = 7;
	l->report.state = MIG_PRECOPY;
	report_note(&l->report, NOTE_JOINED_LATE);
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Id", "s", "<\"" ID_1 "\">");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Uuid", "s", "<\"" UUID_A "\">");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Driver", "s", "<\"p2p\">");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Phase", "s", "<\"precopy\">");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Outcome", "s", "<\"none\">");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Iterations", "u", "<7>");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "BeganUSec", "t", "<1005000000>");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Notes", "as", "<[\"joined-late\"]>");
	text = get_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Marks", "a{s(ts)}");
	expected = g_strdup("<[\"T0\" (1005000000 \"qmp\")]>");
	g_assert_cmpstr(text, ==, expected);
	g_free(text);
	g_free(expected);
	fixture_down(&f);
}

static void test_odd_bytes_in_a_name_are_replaced(void)
{
	struct fixture f;
	struct fake_live *l;

	fixture_up(&f);
	l = fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	strcpy(l->report.name, "a\xff" "b\xef\xbf\xbf\xc3\xa9");
	assert_property(&f, MIGRATION_1, RBD_IFACE_MIGRATION, "Name", "s", "<\"a?b???\xc3\xa9\">");
	fixture_down(&f);
}

static void test_properties_are_read_only(void)
{
	struct fixture f;

	fixture_up(&f);
	assert_error(call_as(f.client, RBD_PATH_MANAGER, "org.freedesktop.DBus.Properties", "Set", "ssv", RBD_IFACE_MANAGER, "Act", "s",
		"auto"), SD_BUS_ERROR_PROPERTY_READ_ONLY);
	fixture_down(&f);
}

static void test_life_of_a_migration_in_signals(void)
{
	struct fixture f;
	struct fake_live *l;
	sd_bus_message *m;
	guint at = 0;
	char *text;

	fixture_up(&f);
	l = fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	WAIT_FOR(count_signals(&f, RBD_PATH_MANAGER, "MigrationStarted") == 1);
	l->report.state = MIG_SWITCHOVER;
	fake_live_mark(l, MARK_TS, STAMP_QMP);
	bus_migration_changed(f.bus, &l->report);
	WAIT_FOR(count_signals(&f, MIGRATION_1, "PhaseChanged") == 1);
	fake_model_finish(&f.model, f.bus, l, MIG_RESUMED, OUTCOME_CANCELLED);
	WAIT_FOR(count_signals(&f, RBD_PATH_MANAGER, "InterfacesAdded") == 2);

	m = find_signal(&f, &at, RBD_PATH_MANAGER, "InterfacesAdded");
	text = message_text(m);
	g_assert_true(g_str_has_prefix(text, "\"" MIGRATION_1 "\" ["));
	g_assert_nonnull(strstr(text, "\"State\" <\"setup\">"));
	g_free(text);
	m = find_signal(&f, &at, RBD_PATH_MANAGER, "MigrationStarted");
	text = message_text(m);
	g_assert_cmpstr(text, ==, "\"" MIGRATION_1 "\" \"" ID_1 "\" \"" UUID_A "\"");
	g_free(text);
	m = find_signal(&f, &at, MIGRATION_1, "PropertiesChanged");
	text = message_text(m);
	g_assert_nonnull(strstr(text, "\"State\" <\"switchover\">"));
	g_assert_null(strstr(text, "\"Uuid\""));
	g_free(text);
	m = find_signal(&f, &at, MIGRATION_1, "PhaseChanged");
	text = message_text(m);
	g_assert_cmpstr(text, ==, "\"switchover\" \"switchover\"");
	g_free(text);
	m = find_signal(&f, &at, MIGRATION_1, "PropertiesChanged");
	text = message_text(m);
	g_assert_nonnull(strstr(text, "\"Outcome\" <\"cancelled\">"));
	g_free(text);
	m = find_signal(&f, &at, MIGRATION_1, "PhaseChanged");
	text = message_text(m);
	g_assert_cmpstr(text, ==, "\"resumed\" \"\"");
	g_free(text);
	text = message_text(find_signal(&f, &at, MIGRATION_1, "Finished"));
	g_assert_cmpstr(text, ==, "\"cancelled\"");
	g_free(text);
	text = message_text(find_signal(&f, &at, RBD_PATH_MANAGER, "MigrationFinished"));
	g_assert_cmpstr(text, ==, "\"" ID_1 "\" \"" UUID_A "\" \"source\" \"cancelled\"");
	g_free(text);
	text = message_text(find_signal(&f, &at, RBD_PATH_MANAGER, "InterfacesRemoved"));
	g_assert_true(g_str_has_prefix(text, "\"" MIGRATION_1 "\" ["));
	g_assert_nonnull(strstr(text, "\"" RBD_IFACE_MIGRATION "\""));
	g_free(text);
	text = message_text(find_signal(&f, &at, RBD_PATH_MANAGER, "InterfacesAdded"));
	g_assert_true(g_str_has_prefix(text, "\"" PATH_A "\" ["));
	g_free(text);
	g_assert_cmpuint(at, ==, f.signals->len);
	fixture_down(&f);
}

static void test_changes_of_one_turn_are_told_once(void)
{
	struct fixture f;
	struct fake_live *l;

	fixture_up(&f);
	l = fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	for (unsigned i = 0; i < 1000; i++) {
		l->report.iterations = i;
		l->report.state = i % 2 ? MIG_SWITCHOVER : MIG_PRECOPY;
		bus_migration_changed(f.bus, &l->report);
		bus_manager_changed(f.bus);
	}
	WAIT_FOR(count_signals(&f, RBD_PATH_MANAGER, "PropertiesChanged") > 0);
	fixture_run(100);
	g_assert_cmpuint(count_signals(&f, MIGRATION_1, "PropertiesChanged"), ==, 1);
	g_assert_cmpuint(count_signals(&f, MIGRATION_1, "PhaseChanged"), ==, 1);
	g_assert_cmpuint(count_signals(&f, RBD_PATH_MANAGER, "PropertiesChanged"), ==, 1);
	l->report.iterations++;
	bus_migration_changed(f.bus, &l->report);
	WAIT_FOR(count_signals(&f, MIGRATION_1, "PropertiesChanged") == 2);
	g_assert_cmpuint(count_signals(&f, MIGRATION_1, "PhaseChanged"), ==, 1);
	fixture_down(&f);
}

static void test_domains_follow_the_store(void)
{
	struct fixture f;
	guint at = 0;
	char *text;

	fixture_up(&f);
	put_report(&f, ID_2, UUID_B, "other", SIDE_SOURCE, OUTCOME_FAILED, 1);
	fake_model_finish(&f.model, f.bus, fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest"), MIG_RESUMED, OUTCOME_CANCELLED);
	WAIT_FOR(count_signals(&f, RBD_PATH_MANAGER, "InterfacesAdded") == 3);
	assert_property(&f, PATH_A, RBD_IFACE_DOMAIN, "Reports", "u", "<1>");
	assert_property(&f, PATH_B, RBD_IFACE_DOMAIN, "LastOutcome", "s", "<\"failed\">");
	forget_signals(&f);
	/* Retention takes B's only report away while a second one of A comes. */
	fake_store_drop_oldest(f.store);
	fake_model_finish(&f.model, f.bus, fake_model_begin(&f.model, f.bus, "0000000000000004", UUID_A, "guest"), MIG_COMPLETED, OUTCOME_COMPLETED);
	WAIT_FOR(count_signals(&f, PATH_A, "PropertiesChanged") == 1);
	text = message_text(find_signal(&f, &at, PATH_A, "PropertiesChanged"));
	g_assert_nonnull(strstr(text, "\"Reports\" <2> \"LastReport\" <\"0000000000000004\"> \"LastOutcome\" <\"completed\">"));
	g_free(text);
	WAIT_FOR(count_signals(&f, RBD_PATH_MANAGER, "InterfacesRemoved") == 2);
	assert_error(call_as(f.client, PATH_B, "org.freedesktop.DBus.Properties", "Get", "ss", RBD_IFACE_DOMAIN, "Name"),
		SD_BUS_ERROR_UNKNOWN_OBJECT);
	fixture_down(&f);
}

static void test_progress(void)
{
	struct fixture f;
	struct fake_live *l;
	sd_bus_message *reply;
	char *text;

	fixture_up(&f);
	l = fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	reply = call_as(f.client, MIGRATION_1, RBD_IFACE_MIGRATION, "GetProgress", NULL);
	text = message_text(reply);
	g_assert_cmpstr(text, ==, "1 2 3 4");
	g_free(text);
	sd_bus_message_unref(reply);
	l->progress_result = -EAGAIN;
	assert_error(call_as(f.client, MIGRATION_1, RBD_IFACE_MIGRATION, "GetProgress", NULL), RBD_ERROR_BUSY);
	l->progress_result = -EBUSY;
	assert_error(call_as(f.client, MIGRATION_1, RBD_IFACE_MIGRATION, "GetProgress", NULL), RBD_ERROR_BUSY);
	l->progress_result = -EIO;
	assert_error(call_as(f.client, MIGRATION_1, RBD_IFACE_MIGRATION, "GetProgress", NULL), SD_BUS_ERROR_FAILED);
	assert_error(call_as(f.client, RBD_PATH_MIGRATIONS "/" ID_2, RBD_IFACE_MIGRATION, "GetProgress", NULL), SD_BUS_ERROR_UNKNOWN_OBJECT);
	fixture_down(&f);
}

int main(int argc, char **argv)
{
	private_bus_need();
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/objects/object-manager-shows-migrations-and-domains", test_object_manager_shows_migrations_and_domains);
	g_test_add_func("/objects/migration-properties", test_migration_properties);
	g_test_add_func("/objects/odd-bytes-in-a-name-are-replaced", test_odd_bytes_in_a_name_are_replaced);
	g_test_add_func("/objects/properties-are-read-only", test_properties_are_read_only);
	g_test_add_func("/objects/life-of-a-migration-in-signals", test_life_of_a_migration_in_signals);
	g_test_add_func("/objects/changes-of-one-turn-are-told-once", test_changes_of_one_turn_are_told_once);
	g_test_add_func("/objects/domains-follow-the-store", test_domains_follow_the_store);
	g_test_add_func("/objects/progress", test_progress);
	return g_test_run();
}
