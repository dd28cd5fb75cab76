/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_FUZZ_TARGET_H
#define ROLLBACKD_TESTS_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A target is fuzz-NAME.c with this one function, and tests/fuzz/corpus/NAME/ with inputs worth keeping. libFuzzer calls
 * it, or corpus-main.c does, once for each file of the corpus. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must hold whatever the input; not assert(), which a build without it would leave out. */
#define must(condition)                                                                        \
	do {                                                                                   \
		if (!(condition)) {                                                            \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                               \
		}                                                                              \
	} while (0)

#endif
