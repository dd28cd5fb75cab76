/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#include <glib.h>

#include "store/mailbox.h"

struct mailbox {
	GMutex lock;
	GQueue letters;
	unsigned source; /* 0: none waits in the main loop */
	void *owner;     /* NULL: closed */
};

struct mailbox *mailbox_new(void *owner)
{
	struct mailbox *m = g_atomic_rc_box_new0(struct mailbox);

	g_mutex_init(&m->lock);
	g_queue_init(&m->letters);
	m->owner = owner;
	return m;
}

struct mailbox *mailbox_ref(struct mailbox *m)
{
	return g_atomic_rc_box_acquire(m);
}

static void mailbox_clear(void *data)
{
	struct mailbox *m = data;

	g_mutex_clear(&m->lock);
}

void mailbox_unref(struct mailbox *m)
{
	g_atomic_rc_box_release_full(m, mailbox_clear);
}

static struct letter *take(struct mailbox *m, void **ret_owner)
{
	struct letter *l;

	g_mutex_lock(&m->lock);
	l = g_queue_pop_head(&m->letters);
	*ret_owner = m->owner;
	if (!l)
		m->source = 0;
	g_mutex_unlock(&m->lock);
	return l;
}

/* A callback may close the mailbox: the owner is looked up for each letter. */
static int dispatch(void *data)
{
	struct mailbox *m = data;
	struct letter *l;
	void *owner;

	while ((l = take(m, &owner))) {
		if (owner)
			l->deliver(l, owner);
		l->dispose(l);
	}
	return G_SOURCE_REMOVE;
}

void mailbox_post(struct mailbox *m, struct letter *l)
{
	g_mutex_lock(&m->lock);
	if (m->owner) {
		g_queue_push_tail(&m->letters, l);
		if (m->source == 0)
			m->source = g_idle_add_full(G_PRIORITY_DEFAULT, dispatch, mailbox_ref(m), (GDestroyNotify) mailbox_unref);
		l = NULL;
	}
	g_mutex_unlock(&m->lock);
	if (l)
		l->dispose(l);
}

void mailbox_close(struct mailbox *m)
{
	GQueue left;
	struct letter *l;
	unsigned source;

	g_mutex_lock(&m->lock);
	m->owner = NULL;
	left = m->letters;
	g_queue_init(&m->letters);
	source = m->source;
	m->source = 0;
	g_mutex_unlock(&m->lock);
	while ((l = g_queue_pop_head(&left)))
		l->dispose(l);
	if (source)
		g_source_remove(source);
	mailbox_unref(m);
}
