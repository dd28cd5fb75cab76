/* SPDX-FileCopyrightText: The rollbackd authors
 * SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ROLLBACKD_TESTS_BENCH_GUARD_H
#define ROLLBACKD_TESTS_BENCH_GUARD_H

/* Finds system calls that wait for a disk, on one thread: a seccomp filter of the calling thread alone turns each of fsync,
 * fdatasync, sync, syncfs, sync_file_range, msync, rename, unlink, mkdir, rmdir, truncate, and open for writing or creating,
 * into a signal that counts it. Threads that exist already, the store's writer among them, have no such filter. */

/* For the rest of this thread's life. 0 or a negative errno. */
int guard_this_thread(void);

/* How many such calls the thread has tried; they failed with EPERM. */
unsigned guard_count(void);
const char *guard_last(void); /* the name of the last; "" none */

#endif
