/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/*
 * Ends an interval of the maintenance plugin and gives it a tag (0: nobody
 * asks for it). Elsewhere these instructions do nothing.
 */
#define MARK_DIGIT(d)                                \
	case d:                                      \
		__asm__ volatile("hint #0x60 + " #d); \
		break

static inline void mark_digit(unsigned int digit)
{
	switch (digit) {
		MARK_DIGIT(0);
		MARK_DIGIT(1);
		MARK_DIGIT(2);
		MARK_DIGIT(3);
		MARK_DIGIT(4);
		MARK_DIGIT(5);
		MARK_DIGIT(6);
		MARK_DIGIT(7);
		MARK_DIGIT(8);
		MARK_DIGIT(9);
		MARK_DIGIT(10);
		MARK_DIGIT(11);
		MARK_DIGIT(12);
		MARK_DIGIT(13);
		MARK_DIGIT(14);
		MARK_DIGIT(15);
	}
}

static inline void mark(unsigned int tag)
{
	unsigned int scale = 1;

	__asm__ volatile("" ::: "memory");
	while (tag / scale >= 15)
		scale *= 15;
	for (; scale; scale /= 15)
		mark_digit(tag / scale % 15);
	mark_digit(15);
	__asm__ volatile("" ::: "memory");
}
