# SPDX-License-Identifier: MIT
# Contexts begin here; stack_switch.hpp switches between them.

# Discards the contents of the stack, which gets two null words, as a fresh stack has, and starts like one.
.text
.global arch_restart_context
arch_restart_context:                   # (uint64_t top, void (*entry)(void*), void* argument)
    movq %rdi, %rsp
    pushq $0
    pushq $0
    pushq %rdx
    pushq %rsi                          # popped by arch_context_start, which follows

# A fresh stack continues here: entry and argument are on it (see context.cpp).
.global arch_context_start
arch_context_start:
    popq %rax
    popq %rdi
    xorl %ebp, %ebp
    call *%rax
    ud2                                 # entry must not return

    .section .note.GNU-stack, "", @progbits
