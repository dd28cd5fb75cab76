/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <string.h>

#include "bus/filter.h"
#include "bus/values.h"
#include "rollbackd/names.h"

#define INVALID(error, ...) sd_bus_error_setf(error, RBD_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

static int read_domain(sd_bus_message *m, struct store_filter *f, sd_bus_error *error)
{
	const char *text;
	int r;

	r = sd_bus_message_read_basic(m, 's', &text);
	if (r < 0)
		return r;
	if (!*text)
		return INVALID(error, "Domain is empty; expected a UUID or a name");
	if (strlen(text) > FILTER_DOMAIN_MAX)
		return INVALID(error, "Domain has %zu bytes; expected at most %d", strlen(text), FILTER_DOMAIN_MAX);
	f->domain = text;
	return 0;
}

static int read_date(sd_bus_message *m, const char *key, int64_t *ret_, sd_bus_error *error)
{
	uint64_t usec;
	int r;

	r = sd_bus_message_read_basic(m, 't', &usec);
	if (r < 0)
		return r;
	if (usec > INT64_MAX)
		return INVALID(error, "%s is %" PRIu64 "; expected microseconds since 1970, at most %" PRIi64, key, usec, INT64_MAX);
	*ret_ = (int64_t) usec;
	return 0;
}

static int read_since(sd_bus_message *m, struct store_filter *f, sd_bus_error *error)
{
	return read_date(m, "SinceUSec", &f->since_usec, error);
}

static int read_until(sd_bus_message *m, struct store_filter *f, sd_bus_error *error)
{
	return read_date(m, "UntilUSec", &f->until_usec, error);
}

static int outcome_bit(const char *word)
{
	return (int) outcome_from_string(word);
}

static int side_bit(const char *word)
{
	return (int) side_from_string(word);
}

static int read_words(sd_bus_message *m, const char *key, int (*bit)(const char *word), uint32_t *ret_, sd_bus_error *error)
{
	char quoted[BUS_QUOTE_SIZE];
	uint32_t bits = 0;
	const char *word;
	unsigned n = 0;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "s");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_read_basic(m, 's', &word)) > 0) {
		if (++n > FILTER_WORDS_MAX)
			return INVALID(error, "%s has more than %d words", key, FILTER_WORDS_MAX);
		if (bit(word) < 0)
			return INVALID(error, "%s has %s, which is none of the words of docs/report.schema.json", key, bus_quote(word, quoted));
		bits |= 1u << bit(word);
	}
	if (r < 0)
		return r;
	*ret_ = bits;
	return sd_bus_message_exit_container(m);
}

static int read_outcomes(sd_bus_message *m, struct store_filter *f, sd_bus_error *error)
{
	return read_words(m, "Outcomes", outcome_bit, &f->outcomes, error);
}

static int read_sides(sd_bus_message *m, struct store_filter *f, sd_bus_error *error)
{
	return read_words(m, "Sides", side_bit, &f->sides, error);
}

static const struct filter_key {
	const char *name, *type;
	int (*read)(sd_bus_message *m, struct store_filter *f, sd_bus_error *error);
} keys[] = {
	{ "Domain", "s", read_domain },
	{ "SinceUSec", "t", read_since },
	{ "UntilUSec", "t", read_until },
	{ "Outcomes", "as", read_outcomes },
	{ "Sides", "as", read_sides },
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static int read_value(sd_bus_message *m, const struct filter_key *key, struct store_filter *f, sd_bus_error *error)
{
	const char *type;
	int r;

	r = sd_bus_message_peek_type(m, NULL, &type);
	if (r < 0)
		return r;
	if (strcmp(type, key->type) != 0)
		return INVALID(error, "%s has the type \"%s\"; expected \"%s\"", key->name, type, key->type);
	r = sd_bus_message_enter_container(m, 'v', key->type);
	if (r >= 0)
		r = key->read(m, f, error);
	return r < 0 ? r : sd_bus_message_exit_container(m);
}

static int read_entry(sd_bus_message *m, struct store_filter *f, unsigned *seen, sd_bus_error *error)
{
	char quoted[BUS_QUOTE_SIZE];
	const char *name;
	int r;

	r = sd_bus_message_read_basic(m, 's', &name);
	if (r < 0)
		return r;
	for (size_t i = 0; i < N_KEYS; i++) {
		if (strcmp(name, keys[i].name) != 0)
			continue;
		if (*seen & 1u << i)
			return INVALID(error, "%s is given twice", name);
		*seen |= 1u << i;
		return read_value(m, &keys[i], f, error);
	}
	return INVALID(error, "%s is no key of the filter; expected Domain, SinceUSec, UntilUSec, Outcomes or Sides", bus_quote(name, quoted));
}

int filter_read(sd_bus_message *m, struct store_filter *ret_, sd_bus_error *error)
{
	struct store_filter f = { 0 };
	unsigned seen = 0;
	int r;

	r = sd_bus_message_enter_container(m, 'a', "{sv}");
	if (r < 0)
		return r;
	while ((r = sd_bus_message_enter_container(m, 'e', "sv")) > 0) {
		r = read_entry(m, &f, &seen, error);
		if (r >= 0)
			r = sd_bus_message_exit_container(m);
		if (r < 0)
			return r;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r >= 0)
		*ret_ = f;
	return r;
}
