/* SPDX-License-Identifier: MIT */
/* From 32-bit protected mode (PVH) to kmain() in 64-bit mode, the first GiB of memory mapped one to one. */
	.section .note.pvh, "a", @note
	.long	4, 4, 18
	.asciz	"Xen"
	.long	start

	.text
	.code32
	.globl	start
start:	movl	$pml4, %eax
	movl	%eax, %cr3
	movl	$0x20, %eax			/* PAE */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx		/* EFER: long mode */
	movl	$0x100, %eax
	xorl	%edx, %edx
	wrmsr
	movl	$0x80000001, %eax
	movl	%eax, %cr0
	lgdtl	gdt_desc
	ljmpl	$8, $1f
	.code64
1:	movl	$stack_top, %esp
	call	kmain

	.data
gdt:	.quad	0, 0x00af9b000000ffff
gdt_desc:
	.word	15
	.long	gdt
	.balign	4096
pml4:	.quad	pdpt + 3
	.fill	511, 8, 0
pdpt:	.quad	pd + 3
	.fill	511, 8, 0
pd:	.set	i, 0
	.rept	512
	.quad	i * 0x200000 + 0x83
	.set	i, i + 1
	.endr

	.bss
	.skip	8192
stack_top:
	.section .note.GNU-stack, "", @progbits
