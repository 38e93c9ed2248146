/* SPDX-License-Identifier: MIT
 * From 32-bit protected mode (PVH: ebx has the start information) to C in the upper half of the address space.
 */
#define KERNBASE	0xffffffff80000000
#define V2P(x)		((x) - KERNBASE)

	.section .note.pvh, "a", @note
	.long	4, 4, 18
	.asciz	"Xen"
	.long	start32

	.section .boot, "ax"
	.code32
	.globl	start32
start32:
	cli
	cld
	movl	$V2P(boot_pml4), %eax
	movl	%eax, %cr3
	movl	%cr4, %eax
	orl	$0x20, %eax			/* PAE */
	movl	%eax, %cr4
	movl	$0xc0000080, %ecx		/* EFER: long mode */
	rdmsr
	orl	$0x100, %eax
	wrmsr
	movl	%cr0, %eax
	orl	$0x80010001, %eax
	movl	%eax, %cr0
	lgdtl	V2P(gdt_desc32)
	ljmpl	$8, $start64

	.code64
start64:
	movabsq	$high, %rax
	jmp	*%rax

	.text
high:
	lgdt	gdt_desc
	movw	$16, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movw	%ax, %fs
	movw	%ax, %gs
	movq	$boot_stack_top, %rsp
	xorl	%ebp, %ebp
	call	kmain
1:	hlt
	jmp	1b

	.data
	.balign	8
gdt:	.quad	0, 0x00af9b000000ffff, 0x00cf93000000ffff
gdt_desc32:
	.word	23
	.long	V2P(gdt)
gdt_desc:
	.word	23
	.quad	gdt

/* The first GiB of memory twice: where it is, and from KERNBASE on. */
	.balign	4096
boot_pml4:
	.quad	V2P(boot_low) + 3
	.fill	510, 8, 0
	.quad	V2P(boot_high) + 3
boot_low:
	.quad	V2P(boot_pd) + 3
	.fill	511, 8, 0
boot_high:
	.fill	510, 8, 0
	.quad	V2P(boot_pd) + 3
	.quad	0
boot_pd:
	.set	i, 0
	.rept	512
	.quad	i * 0x200000 + 0x83
	.set	i, i + 1
	.endr

	.bss
	.balign	16
	.skip	8192
boot_stack_top:
	.section .note.GNU-stack, "", @progbits
