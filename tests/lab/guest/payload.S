/* SPDX-FileCopyrightText: The rollbackd authors */
/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the vCPU runs, MMU off: walk COUNT places STRIDE apart, write or read
 * one word at each, remember the slowest. vm.h has the registers' meaning.
 */
	.section .rodata
	.balign	8
	.globl	payload_begin, payload_end
payload_begin:
	nop				// KVM finishes the last exit by skipping one instruction
	mov	x7, #0			// slowest step, ticks
	mov	x8, #0			// sum of what was read
1:	cbz	x2, 4f
	ldr	x10, [x6]		// asked to stop?
	cbnz	x10, 4f
	isb
	mrs	x11, cntvct_el0
	tbnz	x3, #0, 2f
	ldr	x12, [x0]
	add	x8, x8, x12
	b	3f
2:	add	x12, x0, x4
	str	x12, [x0]
3:	dsb	sy
	mrs	x12, cntvct_el0
	sub	x12, x12, x11
	cmp	x12, x7
	csel	x7, x12, x7, hi
	add	x0, x0, x1
	sub	x2, x2, #1
	b	1b
4:	str	x7, [x5]		// three exits to user space
	str	x8, [x5, #8]
	str	x2, [x5, #16]
	b	.
payload_end:
	.section .note.GNU-stack, "", %progbits
