# SPDX-License-Identifier: MIT
# Each vector has a stub, and all stubs share one body. Every entry into the kernel except calls passes through here, so
# this is the one place that keeps the record path restartable: an interrupted record is rewound to its beginning, and a
# record that a handler logs meanwhile is whole and earlier. Source: Intel SDM volume 3 section 6.14 (64-bit mode
# interrupts).
#
#   stack after the common body, low to high:
#   r15 r14 r13 r12 r11 r10 r9 r8 rbp rdi rsi rdx rcx rbx rax | vector | error code | rip cs rflags rsp ss
#   ^ rsp = arch::x86_64::InterruptFrame                        120      128          136

.set kFrameRip, 136

.text
.altmacro

.macro stub vector
    .balign 16
    stub_\vector:
    # These exceptions push an error code themselves (SDM volume 3 table 6-1).
    .if (\vector == 8) || ((\vector >= 10) && (\vector <= 14)) || (\vector == 17) || (\vector == 21)
    .else
        pushq $0
    .endif
    pushq $\vector
    jmp interrupt_common
.endm

.set vector, 0
.rept 256
    stub %vector
    .set vector, vector + 1
.endr

.balign 16
.global interrupt_common
interrupt_common:
    cld
    pushq %rax
    pushq %rbx
    pushq %rcx
    pushq %rdx
    pushq %rsi
    pushq %rdi
    pushq %rbp
    pushq %r8
    pushq %r9
    pushq %r10
    pushq %r11
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
#if REMORA_TRACER == 1
    # Applies the restart rule of the record path. Only the immediate frame is checked; outer frames were repaired by
    # the stubs that they entered through.
    movq kFrameRip(%rsp), %rax
    cmpq $tracer_region_begin, %rax
    jb 1f
    cmpq $tracer_region_end, %rax
    jae 1f
    cmpq $tracer_region_exit, %rax      # a return: the record is complete
    je 1f
    movq $tracer_region_restart, kFrameRip(%rsp)
1:
#endif
    movq %rsp, %rdi
    xorl %ebp, %ebp
    call arch_interrupt_dispatch        # (InterruptFrame*); may return on another task's time
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %r11
    popq %r10
    popq %r9
    popq %r8
    popq %rbp
    popq %rdi
    popq %rsi
    popq %rdx
    popq %rcx
    popq %rbx
    popq %rax
    addq $16, %rsp                      # vector, error code
    iretq

.section .rodata
.balign 8
.global arch_stub_table
arch_stub_table:
.macro entry vector
    .quad stub_\vector
.endm
.set vector, 0
.rept 256
    entry %vector
    .set vector, vector + 1
.endr

.section .note.GNU-stack, "", @progbits
