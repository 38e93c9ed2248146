# SPDX-License-Identifier: MIT
# The beginning of contexts. The switch between them is in stack_switch.hpp.

# The contents of the stack are no longer needed. It gets two null words, as a fresh stack has, and starts like one.
.text
.global arch_restart_context
arch_restart_context:                   # (uint64_t top, void (*entry)(void*), void* argument)
    movq %rdi, %rsp
    pushq $0
    pushq $0
    pushq %rdx
    pushq %rsi                          # on to arch_context_start

# A fresh stack continues here: entry and argument are on it (see context.cpp).
.global arch_context_start
arch_context_start:
    popq %rax
    popq %rdi
    xorl %ebp, %ebp
    call *%rax
    ud2                                 # entry must not return

    .section .note.GNU-stack, "", @progbits
