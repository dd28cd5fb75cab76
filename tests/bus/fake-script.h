/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BUS_FAKE_SCRIPT_H
#define ROLLBACKD_TESTS_BUS_FAKE_SCRIPT_H

#include "fake-model.h"
#include "fake-store.h"

/* The lines that fake-daemon.c documents. */
struct script {
	struct fake_model *model;
	struct bus *bus;
	char error[160];
};

#define SCRIPT_EXIT 1

/* 0, SCRIPT_EXIT, or -EINVAL with script->error set. The line is changed. */
int script_line(struct script *s, char *line, unsigned *ret_wait_ms);

#endif
