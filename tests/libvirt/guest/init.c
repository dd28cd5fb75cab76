/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */

/*
 * The only program of the test guest. It touches a region once, so that all of it has to be sent, and then keeps
 * dirtying it at a steady rate: a live migration therefore has work to do, but the host's CPU is left to others.
 *
 * The kernel hands unknown command-line words to init as environment:
 *   dirty_mib=N       size of the region, MiB (default 32)
 *   dirty_mib_s=N     how much of it is dirtied a second, MiB, a word a page (default 16)
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* Ticks a second: short enough that an iteration always sees fresh pages, long enough that an idle guest idles. */
#define TICKS 20

static size_t env_size(const char *name, size_t fallback)
{
	const char *text = getenv(name);
	char *end;
	unsigned long value;

	if (!text)
		return fallback;
	value = strtoul(text, &end, 10);
	return *text && !*end ? value : fallback;
}

static void say(const char *line)
{
	size_t n = 0;

	while (line[n])
		n++;
	while (n > 0) {
		ssize_t done = write(STDOUT_FILENO, line, n);

		if (done <= 0)
			return;
		line += done;
		n -= (size_t) done;
	}
}

int main(void)
{
	size_t page = (size_t) sysconf(_SC_PAGESIZE);
	size_t size = env_size("dirty_mib", 32) << 20;
	size_t per_tick = (env_size("dirty_mib_s", 16) << 20) / page / TICKS;
	const struct timespec tick = { .tv_nsec = 1000000000L / TICKS };
	volatile uint64_t *memory;
	size_t at = 0;

	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED) {
		say("test-guest: no memory for the region\n");
		for (;;)
			pause();
	}

	/* Unlike words, or QEMU would send the page as a single zero. */
	for (size_t i = 0; i < size / sizeof(*memory); i += 8)
		memory[i] = i * UINT64_C(0x9e3779b97f4a7c15) + 1;
	say("test-guest: ready\n");

	for (;;) {
		for (size_t i = 0; i < per_tick; i++) {
			memory[at / sizeof(*memory)]++;
			at = at + page < size ? at + page : 0;
		}
		nanosleep(&tick, NULL);
	}
}
