/* SPDX-License-Identifier: MIT
 * One stub for each vector; all save the registers that C may change, and continue in trap().
 */
#include <remora_entry.inc>

	.text
	.balign	16
	.globl	stubs				/* 16 bytes each */
stubs:
	.set	n, 0
	.rept	256
	.balign	16
	.if !(n == 8 || (n >= 10 && n <= 14) || n == 17 || n == 21)
	pushq	$0				/* the processor pushes no error code */
	.endif
	pushq	$n
	jmp	alltraps
	.set	n, n + 1
	.endr

alltraps:
	pushq	%rax
	pushq	%rcx
	pushq	%rdx
	pushq	%rsi
	pushq	%rdi
	pushq	%r8
	pushq	%r9
	pushq	%r10
	pushq	%r11
	cld
	REMORA_ENTRY_RESTART 88
	movq	72(%rsp), %rdi			/* vector */
	movq	80(%rsp), %rsi			/* error code */
	movq	88(%rsp), %rdx			/* where it was */
	call	trap
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rdi
	popq	%rsi
	popq	%rdx
	popq	%rcx
	popq	%rax
	addq	$16, %rsp
	iretq

/* void swtch(unsigned long *save, unsigned long restore): the rest of a thread is on its stack. */
	.globl	swtch
swtch:
	pushq	%rbx
	pushq	%rbp
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	ret

	.section .note.GNU-stack, "", @progbits
