/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */

/* The running service's introspection against docs/org.rollbackd1.xml, both brought into one line a member. */

#include <string.h>

#include <libxml/parser.h>
#include <libxml/tree.h>

#include "fixture.h"

static const char *contract_file;

static void add_attribute(GString *line, xmlNode *node, const char *name)
{
	xmlChar *value = xmlGetProp(node, (const xmlChar *) name);

	if (value)
		g_string_append_printf(line, " %s=%s", name, (const char *) value);
	xmlFree(value);
}

/* Attributes in a fixed order; a direction that is the default ("in" of a method, "out" of a signal) is left away. */
static void add_element(GString *line, xmlNode *node)
{
	xmlChar *direction = xmlGetProp(node, (const xmlChar *) "direction");
	bool signal = xmlStrEqual(node->parent->name, (const xmlChar *) "signal");

	g_string_append_printf(line, " <%s", (const char *) node->name);
	add_attribute(line, node, "name");
	add_attribute(line, node, "type");
	add_attribute(line, node, "access");
	add_attribute(line, node, "value");
	if (direction && !xmlStrEqual(direction, (const xmlChar *) (signal ? "out" : "in")))
		add_attribute(line, node, "direction");
	g_string_append_c(line, '>');
	xmlFree(direction);
	for (xmlNode *c = node->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE)
			add_element(line, c);
}

static void add_interface(GPtrArray *lines, xmlNode *iface)
{
	xmlChar *name = xmlGetProp(iface, (const xmlChar *) "name");

	if (name && g_str_has_prefix((const char *) name, RBD_BUS_NAME))
		for (xmlNode *c = iface->children; c; c = c->next) {
			GString *line;

			if (c->type != XML_ELEMENT_NODE)
				continue;
			line = g_string_new((const char *) name);
			add_element(line, c);
			g_ptr_array_add(lines, g_string_free(line, FALSE));
		}
	xmlFree(name);
}

static void add_document(GPtrArray *lines, const char *text, size_t n)
{
	xmlDoc *doc = xmlReadMemory(text, (int) n, "introspection.xml", NULL, XML_PARSE_NONET);

	g_assert_nonnull(doc);
	for (xmlNode *c = xmlDocGetRootElement(doc)->children; c; c = c->next)
		if (c->type == XML_ELEMENT_NODE && xmlStrEqual(c->name, (const xmlChar *) "interface"))
			add_interface(lines, c);
	xmlFreeDoc(doc);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static void add_object(struct fixture *f, GPtrArray *lines, const char *path)
{
	sd_bus_message *reply = call_as(f->client, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
	const char *text;

	g_assert_cmpint(sd_bus_message_read(reply, "s", &text), >, 0);
	add_document(lines, text, strlen(text));
	sd_bus_message_unref(reply);
}

static bool holds(GPtrArray *lines, const char *line)
{
	return g_ptr_array_find_with_equal_func(lines, line, g_str_equal, NULL);
}

static unsigned report_missing(GPtrArray *from, GPtrArray *in, const char *where)
{
	unsigned n = 0;

	for (guint i = 0; i < from->len; i++)
		if (!holds(in, g_ptr_array_index(from, i))) {
			g_test_message("not in %s: %s", where, (const char *) g_ptr_array_index(from, i));
			n++;
		}
	return n;
}

static void test_introspection_equals_the_contract(void)
{
	GPtrArray *contract = g_ptr_array_new_with_free_func(g_free), *service = g_ptr_array_new_with_free_func(g_free);
	struct fixture f;
	char *text;
	gsize n;

	fixture_up(&f);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	put_report(&f, ID_2, UUID_B, "other", SIDE_SOURCE, OUTCOME_FAILED, 0);
	g_assert_true(g_file_get_contents(contract_file, &text, &n, NULL));
	add_document(contract, text, n);
	add_object(&f, service, RBD_PATH_MANAGER);
	add_object(&f, service, MIGRATION_1);
	add_object(&f, service, PATH_B);
	g_ptr_array_sort(contract, by_text);
	g_ptr_array_sort(service, by_text);
	g_assert_cmpuint(contract->len, >, 30);
	g_assert_cmpuint(report_missing(contract, service, "the service"), ==, 0);
	g_assert_cmpuint(report_missing(service, contract, "the contract"), ==, 0);
	g_assert_cmpuint(contract->len, ==, service->len);
	g_free(text);
	g_ptr_array_unref(contract);
	g_ptr_array_unref(service);
	fixture_down(&f);
}

static bool answers_introspection(struct fixture *f, const char *path, const char *part)
{
	sd_bus_message *reply = call_as(f->client, path, "org.freedesktop.DBus.Introspectable", "Introspect", NULL);
	const char *text = "";
	bool found;

	if (!sd_bus_message_is_method_error(reply, NULL))
		g_assert_cmpint(sd_bus_message_read(reply, "s", &text), >, 0);
	found = strstr(text, part);
	sd_bus_message_unref(reply);
	return found;
}

static void test_nodes_lead_to_the_objects(void)
{
	struct fixture f;

	fixture_up(&f);
	fake_model_begin(&f.model, f.bus, ID_1, UUID_A, "guest");
	put_report(&f, ID_2, UUID_B, "other", SIDE_SOURCE, OUTCOME_FAILED, 0);
	g_assert_true(answers_introspection(&f, RBD_PATH_MANAGER, "<node name=\"migration\"/>"));
	g_assert_true(answers_introspection(&f, RBD_PATH_MIGRATIONS, "<node name=\"" ID_1 "\"/>"));
	g_assert_true(answers_introspection(&f, RBD_PATH_DOMAINS, "<node name=\"0a1b2c3d_0000_4000_8000_00000000000b\"/>"));
	g_assert_false(answers_introspection(&f, RBD_PATH_MIGRATIONS "/" ID_2, RBD_IFACE_MIGRATION));
	g_assert_false(answers_introspection(&f, PATH_A, RBD_IFACE_DOMAIN));
	fixture_down(&f);
}

int main(int argc, char **argv)
{
	private_bus_need();
	g_test_init(&argc, &argv, NULL);
	g_assert_cmpint(argc, ==, 2);
	contract_file = argv[1];
	g_test_add_func("/introspection/equals-the-contract", test_introspection_equals_the_contract);
	g_test_add_func("/introspection/nodes-lead-to-the-objects", test_nodes_lead_to_the_objects);
	return g_test_run();
}
