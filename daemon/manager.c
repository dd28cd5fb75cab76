/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "host/procfs.h"
#include "log.h"
#include "manager-internal.h"
#include "rollbackd/names.h"

/* Three calls to libvirt at any time, over all URIs: libvirt serves five requests a connection and others need it too. */
#define CALLS_MAX        3
#define CALLS_QUEUED_MAX 256

/* Reports held in memory while the disk refuses them: about 8 KiB each. */
#define PENDING_MAX 512

/* An fsync may hang; systemd's own patience at stop is longer. */
#define CLOSE_PATIENCE (5 * NSEC_PER_SEC)

static uint64_t random_bits(void)
{
	uint64_t v = 0;

	if (getrandom(&v, sizeof(v), GRND_NONBLOCK) != sizeof(v))
		v = ((uint64_t) g_random_int() << 32) | g_random_int();
	return v;
}

static void host_facts(struct session_host *h, const char *proc)
{
	g_autofree char *path = g_strdup_printf("%s/sys/kernel/random/boot_id", proc);
	struct utsname u;

	if (procfs_read(path, h->boot_id, sizeof(h->boot_id)) < REPORT_UUID_LEN)
		h->boot_id[0] = '\0';
	if (uname(&u) == 0) {
		report_copy_text(h->kernel, sizeof(h->kernel), u.release);
		report_copy_text(h->arch, sizeof(h->arch), u.machine);
	}
	h->page_size = (uint64_t) sysconf(_SC_PAGESIZE);
}

static void take_config(struct manager *m, const struct config *c)
{
	m->call_timeout = c->call_timeout;
	m->reconnect_max = c->reconnect_max;
	m->host.left_paused_after = c->left_paused_after;
	log_set_level(c->log_level);
}

static void bus_state(void *data, const char *trouble)
{
	(void) data;
	if (trouble)
		log_event(LOG_WARNING, RBD_MSG_BUS, NULL, "Bus: %s", trouble);
	else
		log_event(LOG_INFO, RBD_MSG_BUS, NULL, "On the bus as %s.", RBD_BUS_NAME);
}

static int open_store(struct manager *m, const struct config *c)
{
	const struct store_limits limits = { .max_reports = c->max_reports, .max_bytes = c->max_bytes, .max_pending = PENDING_MAX };
	const struct store_events events = manager_store_events(m);

	return store_open(c->state_dir, &limits, &events, &m->store);
}

int manager_new(const struct config *config, const struct manager_options *options, struct manager **ret_)
{
	struct manager *m = g_new0(struct manager, 1);
	const struct bus_events bus_events = { .state = bus_state, .userdata = m };
	int r;

	clock_open(&m->clock);
	m->proc = g_strdup(options->proc ? options->proc : "/proc");
	m->sysfs = g_strdup(options->sysfs ? options->sysfs : "/sys");
	m->status_dir = g_strdup(config->status_dir);
	m->state_dir = g_strdup(config->state_dir);
	m->host = (struct session_host) {
		.outlet = manager_outlet(m), .clock = &m->clock, .proc = m->proc, .sysfs = m->sysfs, .random = random_bits,
	};
	host_facts(&m->host, m->proc);
	take_config(m, config);
	m->calls = pool_new(CALLS_MAX, CALLS_QUEUED_MAX);
	m->uris = g_ptr_array_new_with_free_func(manager_uri_free);
	m->live = g_ptr_array_new();
	m->adopted = g_ptr_array_new_with_free_func(g_free);
	r = open_store(m, config);
	if (r < 0)
		goto fail;
	manager_model_init(m);
	if (!options->no_bus) {
		r = bus_new(options->bus_kind, options->bus_address, &m->model, &bus_events, &m->bus);
		if (r < 0)
			goto fail;
	}
	for (unsigned i = 0; !options->no_libvirt && config->uris[i]; i++)
		manager_uri_new(m, config->uris[i], false);
	manager_take_inflight(m);
	*ret_ = m;
	return 0;
fail:
	manager_free(m);
	return r;
}

struct manager *manager_free(struct manager *m)
{
	unsigned lost;

	if (!m)
		return NULL;
	m->closing = true;
	if (m->sweep)
		g_source_remove(m->sweep);
	if (m->uris)
		g_ptr_array_unref(m->uris);
	pool_free(m->calls);
	bus_free(m->bus);
	lost = store_close(m->store, CLOSE_PATIENCE);
	if (lost)
		log_event(LOG_ERR, RBD_MSG_STORE_TROUBLE, NULL, "%u reports did not reach the disk.", lost);
	if (m->adopted)
		g_ptr_array_unref(m->adopted);
	if (m->live)
		g_ptr_array_unref(m->live);
	clock_close(&m->clock);
	g_free(m->proc);
	g_free(m->sysfs);
	g_free(m->status_dir);
	g_free(m->state_dir);
	g_free(m);
	return NULL;
}

static bool has_uri(const struct config *c, const char *uri)
{
	return g_strv_contains((const char *const *) c->uris, uri);
}

void manager_reload(struct manager *m, const struct config *config)
{
	take_config(m, config);
	for (guint i = m->uris->len; i-- > 0;) {
		struct manager_uri *u = g_ptr_array_index(m->uris, i);

		if (!u->lv || has_uri(config, u->uri))
			continue;
		manager_uri_give_up(u);
		g_ptr_array_remove_index(m->uris, i);
	}
	for (unsigned i = 0; config->uris[i]; i++)
		if (!manager_uri_find(m, config->uris[i]))
			manager_uri_new(m, config->uris[i], false);
	if (g_strcmp0(m->state_dir, config->state_dir) != 0 || g_strcmp0(m->status_dir, config->status_dir) != 0)
		log_line(LOG_WARNING, "Directory= and StatusDirectory= take effect at the next start.");
	manager_changed(m);
}

void manager_feed_event(struct manager *m, const char *uri, const char *uuid, const char *name, struct event *ev)
{
	struct manager_uri *u = manager_uri_find(m, uri);

	m->events++;
	session_event(manager_uri_session(u ? u : manager_uri_new(m, uri, true), uuid, name), name, ev);
}

void manager_feed_qmp(struct manager *m, const char *uri, const char *uuid, const char *name, struct event *ev,
		      long long seconds, unsigned micros)
{
	struct manager_uri *u = manager_uri_find(m, uri);

	m->events++;
	session_qmp(manager_uri_session(u ? u : manager_uri_new(m, uri, true), uuid, name), name, ev, seconds, micros);
}
