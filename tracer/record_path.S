// SPDX-License-Identifier: MIT
// The record path: one event becomes 16 bytes in this processor's active chunk. It is a restartable sequence. Every
// interrupt and exception stub compares the interrupted RIP with [tracer_region_begin, tracer_region_end) and, if it
// lies inside, rewinds it to tracer_region_restart. So the sequence needs no lock, no cli, no loop, and no call; any
// context may be in it, and any context may interrupt it, NMI included.
//
// Arguments: rdi = code | par1 << 16, rsi = par2 << 32. Both survive: a restart needs them. GS:0 is the CpuTrace.
// Clobbers rax rcx rdx r8 r9 r10 r11 and flags.
//
// Why it is right:
//   - Nothing is visible before a commit: stores ahead of one go to the slot at the position, which no reader trusts,
//     or write values that the same attempt would write again (pending_*, the resume flag of the next chunk).
//   - The LAST instruction of the region is the commit of every path that ends: it adds 16 to a position or to a count
//     (counts are kept in bytes for this reason). Interrupted before it: nothing has happened, start again.
//     Interrupted after it: RIP lies outside, the event is over.
//   - A transition (next lap, next chunk, blackout) commits with one store and goes back to start. Interrupted after
//     that store, the rewind does the same as the jump. Each transition removes its own cause, so no attempt sees more
//     than one of each kind; nothing loops.
//   - rdtsc is inside: whoever commits later also stamped later, so stamps never fall within a chunk.
//   - A processor is named only through GS, and read again after each restart: being moved to another one while
//     suspended is harmless.
#include "tracer/record_path_layout.h"

    .intel_syntax noprefix
    .section .text.tracer_record, "ax", @progbits
    .globl tracer_region_begin, tracer_region_restart, tracer_region_end, tracer_record
    .hidden tracer_emergency_bitmap
    .type tracer_record, @function
    .balign 64

tracer_region_begin:

// --- slow path: r8 = active chunk, ecx = low half of its word, not below the limit -----------------------------------

.Lslow:
    mov r11d, [r8 + TRACER_CHUNK_MODE]
    test r11d, TRACER_MODE_NONE
    jnz .Lrefuse
    test ecx, TRACER_WORD_REPORTED
    jnz .Lreported
    mov r9d, ecx
    and r9d, TRACER_WORD_POSITION_MASK
    test ecx, ecx
    js .Lleave                              // closed: sign bit
    cmp r9d, [r8 + TRACER_CHUNK_LIMIT]
    jae .Lfull
    // Room, and open: only the resume flag can have brought us here.

    // blackout_end, par2 = losses not yet told. Commit: position + 16, resume becomes reported.
    mov rax, gs:[TRACER_CPU_DROPPED]
    mov [r8 + TRACER_CHUNK_PENDING_REPORTED], rax
    sub rax, gs:[TRACER_CPU_REPORTED]
    shr rax, 4
    mov edx, -1
    cmp rax, rdx
    cmova rax, rdx                          // more than 2^32-1 are told as 2^32-1
    shl rax, 32
    mov r11, rax
    mov eax, [r8 + TRACER_CHUNK_ENDS]
    inc eax
    mov [r8 + TRACER_CHUNK_PENDING_ENDS], eax
    add r9, [r8 + TRACER_CHUNK_DATA]
    rdtsc
    shl rdx, 32
    or rdx, TRACER_EVENT_BLACKOUT_END
    mov [r9], rdx
    or rax, r11
    mov [r9 + 8], rax
    xor ecx, TRACER_WORD_RESUME | TRACER_WORD_REPORTED
    add ecx, 16
    mov [r8 + TRACER_CHUNK_WORD], ecx       // commit
    jmp tracer_region_restart

.Lreported:
    // The counts follow the record. Commit: the flag goes.
    mov rax, [r8 + TRACER_CHUNK_PENDING_REPORTED]
    mov gs:[TRACER_CPU_REPORTED], rax
    mov eax, [r8 + TRACER_CHUNK_PENDING_ENDS]
    mov [r8 + TRACER_CHUNK_ENDS], eax
    and dword ptr [r8 + TRACER_CHUNK_WORD], ~TRACER_WORD_REPORTED // commit
    jmp tracer_region_restart

.Lfull:
    test r11d, TRACER_MODE_STOP
    jnz .Ldrop
    test r11d, TRACER_MODE_JTN
    jnz .Lleave
    // Cyclic. Commit: one lap more, position 0, resume kept.
    mov rax, [r8 + TRACER_CHUNK_WORD]
    shr rax, 32
    inc rax
    shl rax, 32
    and ecx, TRACER_WORD_RESUME
    or rax, rcx
    mov [r8 + TRACER_CHUNK_WORD], rax       // commit
    jmp tracer_region_restart

.Lleave:
    // Into the next chunk, if there is one that is open and has room (a cyclic one always has).
    mov rax, [r8 + TRACER_CHUNK_NEXT]
    test rax, rax
    jz .Ldrop
    mov edx, [rax + TRACER_CHUNK_WORD]
    test edx, edx
    js .Ldrop
    cmp dword ptr [rax + TRACER_CHUNK_MODE], TRACER_MODE_CYC
    je .Lenter
    and edx, TRACER_WORD_POSITION_MASK
    cmp edx, [rax + TRACER_CHUNK_LIMIT]
    jae .Ldrop
.Lenter:
    // A blackout that is open here, or losses that were not told: blackout_end must come first over there.
    cmp qword ptr [r8 + TRACER_CHUNK_EMERGENCY_WORD], 0
    jl .Lmark
    test ecx, TRACER_WORD_RESUME
    jnz .Lmark
    mov rdx, gs:[TRACER_CPU_DROPPED]
    cmp rdx, gs:[TRACER_CPU_REPORTED]
    je .Lswitch
.Lmark:
    or dword ptr [rax + TRACER_CHUNK_WORD], TRACER_WORD_RESUME // once or twice is the same
.Lswitch:
    mov gs:[TRACER_CPU_ACTIVE], rax         // commit
    jmp tracer_region_restart

.Ldrop:
    // No room. What explains a loss or the end may use the emergency area.
    movzx eax, dil
    lea rdx, [rip + tracer_emergency_bitmap]
    bt dword ptr [rdx], eax
    jnc .Lordinary
    mov r9d, [r8 + TRACER_CHUNK_EMERGENCY_WORD]
    cmp r9d, [r8 + TRACER_CHUNK_EMERGENCY_LIMIT]
    jae .Lordinary
    add r9, [r8 + TRACER_CHUNK_EMERGENCY_DATA]
    rdtsc
    shl rdx, 32
    or rdx, rdi
    mov [r9], rdx
    or rax, rsi
    mov [r9 + 8], rax
    add r8, TRACER_CHUNK_EMERGENCY_WORD
    jmp .Lcommit

.Lordinary:
    mov r11, [r8 + TRACER_CHUNK_EMERGENCY_WORD]
    test r11, r11
    js .Lcount_drop
    // The blackout begins: say so in the emergency area, if there is room. Commit: the open bit (and the record).
    mov r9d, r11d
    bts r11, 63
    cmp r9d, [r8 + TRACER_CHUNK_EMERGENCY_LIMIT]
    jae .Lopen
    add r9, [r8 + TRACER_CHUNK_EMERGENCY_DATA]
    rdtsc
    shl rdx, 32
    or rdx, TRACER_EVENT_BLACKOUT_START
    mov [r9], rdx
    mov [r9 + 8], rax                       // par2 = 0
    mov rax, (1 << 32) + 16
    add r11, rax
.Lopen:
    mov [r8 + TRACER_CHUNK_EMERGENCY_WORD], r11 // commit
    jmp tracer_region_restart

.Lcount_drop:
    mov r8, gs:[TRACER_CPU_SELF]
    add r8, TRACER_CPU_DROPPED
    jmp .Lcommit

.Lrefuse:
    mov r8, gs:[TRACER_CPU_SELF]
    add r8, TRACER_CPU_REFUSED
    jmp .Lcommit

// --- fast path: 13 instructions -------------------------------------------------------------------------------------

    .balign 32
tracer_record:
tracer_region_restart:
    mov r8, gs:[TRACER_CPU_ACTIVE]
    mov ecx, [r8 + TRACER_CHUNK_WORD]
    cmp ecx, [r8 + TRACER_CHUNK_LIMIT]
    jae .Lslow
    mov r10, [r8 + TRACER_CHUNK_DATA]
    rdtsc
    shl rdx, 32
    or rdx, rdi
    mov [r10 + rcx], rdx                    // code, par1, TSC high
    or rax, rsi
    mov [r10 + rcx + 8], rax                // TSC low, par2
.Lcommit:
    add qword ptr [r8], 16                  // THE commit
tracer_region_end:
    ret

    .size tracer_record, . - tracer_record
    .section .note.GNU-stack, "", @progbits
