/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Questions to libvirt, asked by a thread with a connection of its own, so that the events of the observer never wait. The
 * answers become lines of the recording. */

enum question { ASK_STATE, ASK_JOB };

/* Start the thread; `uri` stays the caller's, and must stay. -1 if there can be none. */
int ask_start(const char *uri);

/* Queue a question about a domain. Never waits; more than 64 unanswered ones are dropped. */
void ask(enum question question, const char *uuid);
