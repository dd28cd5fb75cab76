/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_STORE_MAILBOX_H
#define ROLLBACKD_STORE_MAILBOX_H

/* Letters from any thread to an owner on the main thread, delivered in order from the default main context. Threads may
 * outlive the owner: after mailbox_close() letters are disposed of unread. */

struct letter {
	void (*deliver)(struct letter *l, void *owner); /* main thread; must not dispose */
	void (*dispose)(struct letter *l);              /* any thread */
};

struct mailbox;

struct mailbox *mailbox_new(void *owner);
struct mailbox *mailbox_ref(struct mailbox *m);
void mailbox_unref(struct mailbox *m);          /* any thread */
void mailbox_post(struct mailbox *m, struct letter *l); /* any thread; takes the letter */
void mailbox_close(struct mailbox *m);          /* main thread; drops the owner's reference */

#endif
