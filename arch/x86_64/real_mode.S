# SPDX-License-Identifier: MIT
# Executes one software interrupt in real mode, through these modes:
#
#   64-bit --> 32-bit under paging --> 32-bit --> 16-bit protected --> real: int n --> 32-bit protected --> 64-bit
#
# Everything except the two ends runs from a copy at kRealModeCode (real_mode.hpp), where real mode can reach it.
#
# A non-maskable interrupt may occur between any two instructions. The processor finds its handler in a way that depends
# on the mode, and returns according to the meaning of CS and SS in that mode. So one table serves three modes, and two
# descriptors are placed where their selectors equal real-mode segments:
#
#   table:  +8  real mode, vector 2   | +16  protected mode, gate 2   | +32  long mode, gate 2: the kernel's own
#   GDT:    +0x800 = code16, base 0x8000                  +0x900 = data16, base 0x9000
#
# In 64-bit mode such an NMI is served as usual; in the other modes, and while the BIOS runs, a bare IRET handles it.
# The BIOS must not handle it: SeaBIOS's handler switches to the stack that the interrupted service is using. So the
# BIOS runs with a copy of its vectors in which that one is changed (real_mode.cpp), as long as it does not load its own
# table. Source: Intel SDM volume 3 sections 9.9 (mode switching), 9.8.5.4 (leaving IA-32e mode), 6.12, 6.14, 20.1.4.

.set kCode, 0x8000
.set kStack, 0x9000
.set kStackBytes, 0x1000
.set kBlockBytes, 38                    # RegisterBlock in real_mode.cpp
.set kVectors, kCode + 0xC00            # kRealModeVectors
.set kScratch, kStackBytes - 128        # below the registers: where an NMI pushes to
.set kCr0Paging, 1 << 31
.set kCr0ProtectedMode, 1
.set kMsrEfer, 0xC0000080
.set kEferLongMode, 1 << 8
.set kMsrGsBase, 0xC0000101
.set kSelectorCode64, 0x08
.set kSelectorData, 0x10
.set kSelectorCode32, 0x20
.set kSegmentCode, kCode >> 4           # a selector and a real-mode segment
.set kSegmentStack, kStack >> 4

.text
.global arch_real_mode_switch
arch_real_mode_switch:                  # (); interrupts off, the copy in place
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, saved_stack
    movq %cr0, %rax
    movq %rax, saved_cr0
    movq %cr3, %rax
    movq %rax, saved_cr3
    movq %cr4, %rax
    movq %rax, saved_cr4
    movl $kMsrGsBase, %ecx
    rdmsr
    movl %eax, saved_gs_base
    movl %edx, saved_gs_base + 4
    sgdt saved_gdt
    sidt saved_idt
    lgdt kCode + (low_gdt_pointer - arch_real_mode_begin)
    lidt kCode + (low_idt_pointer - arch_real_mode_begin)
    pushq $kSelectorCode32
    pushq $kCode + (compatibility - arch_real_mode_begin)
    lretq

.Lreturn:                               # 64-bit again, on the low segments and table
    movq saved_stack, %rsp
    lgdt saved_gdt
    lidt saved_idt
    movl $kSelectorData, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    pushq $kSelectorCode64
    leaq 1f(%rip), %rax
    pushq %rax
    lretq
1:  popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret

# ---------------------------------------------------------------------------------------------------------------------
# For the kernel these are constants: none of this code is executed at its link address.
.section .rodata
.balign 16
.global arch_real_mode_begin
arch_real_mode_begin:

.code32
compatibility:
    movl $kSelectorData, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $(kStack + kScratch), %esp
    movl %cr0, %eax
    andl $~kCr0Paging, %eax
    movl %eax, %cr0                     # no longer long mode
    movl $kMsrEfer, %ecx
    rdmsr
    andl $~kEferLongMode, %eax
    wrmsr
    xorl %eax, %eax
    movl %eax, %cr4
    ljmpl $kSegmentCode, $(protected16 - arch_real_mode_begin)

.code16
protected16:
    movw $kSegmentStack, %ax            # base 0x9000, as it will be in real mode
    movw %ax, %ss
    movl $kScratch, %esp
    movw %ax, %ds
    movw %ax, %es
    movw %ax, %fs
    movw %ax, %gs
    movl %cr0, %eax
    andb $~kCr0ProtectedMode, %al
    movl %eax, %cr0
    ljmpw $kSegmentCode, $(real - arch_real_mode_begin)

real:
    xorw %ax, %ax
    movw %ax, %fs
    movw %ax, %gs
    lidtl %cs:(bios_idt_pointer - arch_real_mode_begin)
    movw $(kStackBytes - kBlockBytes), %sp
    popw %ds
    popw %es
    popal
    popfw
    .byte 0xCD                          # int n
vector:
    .byte 0
    pushfw
    pushal
    pushw %es
    pushw %ds
    cli
    cld
    movw %cs, %ax
    movw %ax, %ds
    lidtl (low_idt_pointer - arch_real_mode_begin)
    lgdtl (low_gdt_pointer - arch_real_mode_begin)
    movl %cr0, %eax
    orb $kCr0ProtectedMode, %al
    movl %eax, %cr0
    ljmpl $kSelectorCode32, $(kCode + (protected32 - arch_real_mode_begin))

nmi16:
    iretw

.code32
protected32:
    movl $kSelectorData, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $(kStack + kScratch), %esp
    movl saved_cr4, %eax
    movl %eax, %cr4
    movl saved_cr3, %eax
    movl %eax, %cr3
    movl $kMsrGsBase, %ecx              # before the first NMI that the kernel serves: it points to the tracer's words
    movl saved_gs_base, %eax
    movl saved_gs_base + 4, %edx
    wrmsr
    movl $kMsrEfer, %ecx
    rdmsr
    orl $kEferLongMode, %eax
    wrmsr
    movl saved_cr0, %eax
    movl %eax, %cr0
    ljmpl $kSelectorCode64, $.Lreturn

nmi32:
    iretl

.code64
.balign 8
low_gdt_pointer:
    .word low_gdt_end - low_gdt - 1
    .quad kCode + (low_gdt - arch_real_mode_begin)
.balign 8
low_idt_pointer:
    .word low_idt_end - low_idt - 1
    .quad kCode + (low_idt - arch_real_mode_begin)
.balign 8
bios_idt_pointer:
    .word 0x3FF
    .long kVectors

.balign 16
low_idt:
    .skip 8
    .word nmi16 - arch_real_mode_begin, kSegmentCode
    .skip 4
    .word (nmi32 - arch_real_mode_begin) + kCode, kSelectorCode32, 0x8E00, 0
    .skip 8
low_idt_nmi:
    .skip 16                            # the kernel's gate is copied here
low_idt_end:

.balign 16
low_gdt:                                # accessed already: the processor need not write
    .quad 0
    .quad 0x00AF9B000000FFFF            # 64-bit code
    .quad 0x00CF93000000FFFF            # data
    .quad 0
    .quad 0x00CF9B000000FFFF            # 32-bit code
    .org low_gdt + kSegmentCode
    .quad 0x00009B008000FFFF            # 16-bit code, base kCode
    .org low_gdt + kSegmentStack
    .quad 0x000093009000FFFF            # 16-bit data, base kStack
low_gdt_end:

.global arch_real_mode_end
arch_real_mode_end:

.global arch_real_mode_vector, arch_real_mode_nmi, arch_real_mode_nmi_gate
.set arch_real_mode_vector, vector
.set arch_real_mode_nmi, nmi16
.set arch_real_mode_nmi_gate, low_idt_nmi

.bss
.balign 8
saved_stack:
    .skip 8
saved_cr0:
    .skip 8
saved_cr3:
    .skip 8
saved_cr4:
    .skip 8
saved_gs_base:
    .skip 8
saved_gdt:
    .skip 16
saved_idt:
    .skip 16

.section .note.GNU-stack, "", @progbits
