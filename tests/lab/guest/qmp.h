/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* As much of QMP as a test needs: commands as text, answers searched as text. */

/* Connects to a unix socket, retrying for timeout_ms, and negotiates. Negative errno. */
int qmp_open(const char *path, int timeout_ms);

/* Sends one command; its answer's line in answer, events skipped. -EREMOTEIO: QEMU refused it. */
int qmp_command(int fd, const char *json, char *answer, size_t size);

/* A listening unix socket whose one client is read and forgotten, in a child. Returns its pid. */
int qmp_sink(const char *path);
