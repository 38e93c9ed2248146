// SPDX-License-Identifier: MIT
// Counts every attempt to record, outside of the tracer and before it: the linker (--wrap) redirects the calls of the
// record path here first. The record path itself is unchanged, and so are its restarts: an interrupted attempt
// continues inside, so it is counted once. One instruction counts, in bytes, 16 per slot, as the tracer does; it
// changes the flags and, for long events, rax, which both entries may clobber.
    .intel_syntax noprefix
    .section .text.count_attempts, "ax", @progbits
    .globl __wrap_tracer_record, __wrap_tracer_record_long, __wrap__ZN6tracer6detail13refuse_recordEv

__wrap_tracer_record:
    lock add qword ptr [rip + attempted_bytes], 16
    jmp __real_tracer_record

// rdi = ... | bytes << 32
__wrap_tracer_record_long:
    mov rax, rdi
    shr rax, 32
    lock add qword ptr [rip + attempted_bytes], rax
    jmp __real_tracer_record_long

// An unloggable type is refused before the record path is reached.
__wrap__ZN6tracer6detail13refuse_recordEv:
    lock add qword ptr [rip + attempted_bytes], 16
    jmp __real__ZN6tracer6detail13refuse_recordEv

    .section .bss.attempted_bytes, "aw", @nobits
    .globl attempted_bytes
    .balign 8
attempted_bytes:
    .skip 8
    .section .note.GNU-stack, "", @progbits
