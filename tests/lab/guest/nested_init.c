/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * PID 1 of a guest inside the emulated host: writes memory for ever and holds
 * every page against what it wrote last. Says "round N" on its console after
 * each round, "BAD ..." once if a page lost a write.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <unistd.h>

#define BYTES (96UL << 20)
#define WORDS_A_PAGE (4096 / sizeof(uint64_t))

int main(void)
{
	volatile uint64_t *memory;
	size_t pages = BYTES / 4096;
	int fd;

	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	fd = open("/dev/console", O_RDWR);
	if (fd < 0)
		return 1;
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		return 1;
	for (uint64_t round = 1;; round++) {
		for (size_t i = 0; i < pages; i++) {
			volatile uint64_t *word = memory + i * WORDS_A_PAGE;

			if (*word != (round == 1 ? 0 : round - 1 + i))
				dprintf(fd, "BAD page %zu in round %lu\n", i, (unsigned long)round);
			*word = round + i;
		}
		dprintf(fd, "round %lu\n", (unsigned long)round);
		usleep(20000);
	}
}
