/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_CORE_TIME_H
#define ROLLBACKD_CORE_TIME_H

#include <stdint.h>

/* Nanoseconds. On CLOCK_MONOTONIC unless the name says otherwise ("real"). Core never reads a clock: times come in. */
typedef uint64_t nsec_t;

#define NSEC_INVALID UINT64_MAX
#define NSEC_PER_USEC ((nsec_t) 1000)
#define NSEC_PER_MSEC ((nsec_t) 1000000)
#define NSEC_PER_SEC  ((nsec_t) 1000000000)

#endif
