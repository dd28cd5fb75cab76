/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* libvirt's numbers in words, for people who read a recording. */

#include <stddef.h>

/* "SUSPENDED/MIGRATED" into `text`; numbers that are not known stay numbers. */
void lifecycle_words(int event, int detail, char *text, size_t size);

/* "9.0.0" from libvirt's 9000000; returns `text`. */
const char *version_words(unsigned long version, char *text, size_t size);
