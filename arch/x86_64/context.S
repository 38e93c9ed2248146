# SPDX-License-Identifier: MIT
# The switch of contexts, in the kernel and in the fake machine of the unit tests. Preserved are the registers that the
# System V ABI for x86-64 (figure 3.4) gives to the callee.

# The only code that switches contexts: saves what is preserved, swaps stacks, restores.
.text
.global arch_switch_context
arch_switch_context:                    # (uint64_t* save, uint64_t load)
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret

# The contents of the stack are no longer needed. Two null words, as on a fresh stack; then it starts like one.
.global arch_restart_context
arch_restart_context:                   # (uint64_t top, void (*entry)(void*), void* argument)
    movq %rdi, %rsp
    pushq $0
    pushq $0
    movq %rsi, %r12
    movq %rdx, %r13                     # on to arch_context_start

# The first "return" of a fresh stack arrives here: R12 = entry, R13 = argument (see context.cpp).
.global arch_context_start
arch_context_start:
    movq %r13, %rdi
    xorl %ebp, %ebp
    call *%r12
    ud2                                 # entry must not return

    .section .note.GNU-stack, "", @progbits
