/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include <glib.h>

#include "store/domains.h"

struct domains {
	GHashTable *by_uuid; /* of struct domain, each its own key */
	GPtrArray *dense;
};

static unsigned hash(const void *key)
{
	const struct domain *d = key;
	uint32_t word[4];

	/* UUIDs are random, or count upwards in the last bytes. */
	memcpy(word, d->uuid, sizeof(word));
	return word[0] ^ word[1] ^ word[2] ^ word[3];
}

static int equal(const void *a, const void *b)
{
	return memcmp(((const struct domain *) a)->uuid, ((const struct domain *) b)->uuid, 16) == 0;
}

static void domain_free(void *data)
{
	struct domain *d = data;

	if (d->last_name)
		g_ref_string_release((char *) d->last_name);
	g_free(d);
}

struct domains *domains_new(void)
{
	struct domains *d = g_new0(struct domains, 1);

	d->by_uuid = g_hash_table_new_full(hash, equal, domain_free, NULL);
	d->dense = g_ptr_array_new();
	return d;
}

void domains_free(struct domains *d)
{
	g_ptr_array_free(d->dense, TRUE);
	g_hash_table_unref(d->by_uuid);
	g_free(d);
}

struct domain *domains_find(const struct domains *d, const uint8_t uuid[static 16])
{
	struct domain key;

	memcpy(key.uuid, uuid, 16);
	return g_hash_table_lookup(d->by_uuid, &key);
}

struct domain *domains_take(struct domains *d, const uint8_t uuid[static 16])
{
	struct domain *domain = domains_find(d, uuid);

	if (domain)
		return domain;
	domain = g_new0(struct domain, 1);
	memcpy(domain->uuid, uuid, 16);
	domain->position = d->dense->len;
	g_ptr_array_add(d->dense, domain);
	g_hash_table_add(d->by_uuid, domain);
	return domain;
}

struct domain *domains_nth(const struct domains *d, uint32_t n)
{
	return n < d->dense->len ? g_ptr_array_index(d->dense, n) : NULL;
}

void domains_remove(struct domains *d, struct domain *domain)
{
	uint32_t position = domain->position;

	g_ptr_array_remove_index_fast(d->dense, position);
	if (position < d->dense->len)
		((struct domain *) g_ptr_array_index(d->dense, position))->position = position;
	g_hash_table_remove(d->by_uuid, domain);
}
