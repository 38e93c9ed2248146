// SPDX-License-Identifier: MIT
// In the record path one event becomes one record, or up to 64 consecutive ones, in this processor's active chunk. It
// is a restartable sequence. Every interrupt and exception stub compares the interrupted RIP with [tracer_region_begin,
// tracer_region_end) and, if it is inside and not tracer_region_exit, rewinds it to tracer_region_restart. So the
// sequence needs no lock, no cli and no call; any context may be in it, and any context may interrupt it, NMI included.
//
//   tracer_record       rdi = code | par1 << 16, esi = par2
//   tracer_record_long  rdi = the same, of the first slot | bytes << 32; rsi = the slots: records with stamps of zero
//   tracer_switch       rdi = 1 << 63; rsi = the chunk to enter, open and empty: select() while recording
//
// rdi and rsi are preserved: a restart needs them, and rdi shows which of the three calls it is. GS:0 is the CpuTrace.
// Clobbers rax rcx rdx r8 r9 r10 r11 and flags; tracer_record_long r12 as well.
//
// It is correct for these reasons:
//   - Nothing is visible before a commit. Stores before it go to the slots at the position, which no reader uses, or
//     write values that the same attempt would write again (pending_*, the figures of the other lap, the flags of the
//     next chunk), or reduce what a reader uses (scribbled).
//   - Every path that ends does so with one of two commits, each followed by the return: the last instruction of the
//     region, which adds a record to a position, and the one before tracer_region_exit, which adds any number of bytes
//     to a position or to a count (counts are in bytes for this reason). An event that is interrupted before the commit
//     starts again, as nothing has happened. After it, RIP is tracer_region_end or tracer_region_exit, and the event is
//     complete. There are two because the number of bytes in a register would be one instruction more for each record.
//   - A transition (next lap, next chunk, end of a chunk, blackout, heartbeat) commits with one store and starts again.
//     After that store a rewind has the same effect as the jump. Each transition removes its own cause, so an attempt
//     makes at most one of each kind in a chunk; the only loop copies the slots of a long event.
//   - rdtsc is inside: a later commit has a later stamp, so stamps never decrease within a chunk.
//   - A processor is accessed only through GS, and read again after each restart: being moved while suspended is
//     harmless.
#include "tracer/record/record_path_layout.h"

    .intel_syntax noprefix
    .section .text.tracer_record, "ax", @progbits
    .globl tracer_region_begin, tracer_region_restart, tracer_region_exit, tracer_region_end
    .globl tracer_record, tracer_record_long, tracer_switch, tracer_region_probe
    .hidden tracer_emergency_bitmap
    .type tracer_record, @function
    .type tracer_record_long, @function
    .type tracer_switch, @function

// Sets \register to the bytes of the event.
.macro event_bytes register
    mov \register, rdi
    shr \register, 32
    jnz 61f
    mov \register, 16
61:
.endm

// Stores a record at \at, which is not visible before its commit. Clobbers rax rdx.
.macro store_record at, code_par1, par2
    rdtsc
    mov dword ptr [\at], \code_par1
    mov [\at + 4], edx                      // TSC high
    mov [\at + 8], eax                      // TSC low
    mov dword ptr [\at + 12], \par2
.endm

// Sets r10 to the bytes ever written to \chunk, this lap up to \position (a zero-extended register). Clobbers rdx.
.macro written_before chunk, position
    mov edx, [\chunk + TRACER_CHUNK_WORD + 4]
    and edx, 1
    mov r10, [\chunk + TRACER_CHUNK_LAP_BASE + rdx * 8]
    add r10, \position
.endm

// Jumps to \mismatch unless the event is the one that the trigger waits for. Only a simple event has parameters to
// compare; the code of a long one differs from any code with a par2 to wait for. Clobbers rax.
.macro match_trigger mismatch
    mov eax, edi
    xor eax, gs:[remora_gs + TRACER_CPU_TRIGGER_KEY1]
    test eax, gs:[remora_gs + TRACER_CPU_TRIGGER_MASK1]
    jnz \mismatch
    mov eax, esi
    xor eax, gs:[remora_gs + TRACER_CPU_TRIGGER_KEY2]
    test eax, gs:[remora_gs + TRACER_CPU_TRIGGER_MASK2]
    jnz \mismatch
.endm

tracer_region_begin:

// --- slow path: r8 = active chunk, ecx = low half of its word, and the fast path does not apply ---------------------

.Lslow:
    mov r11d, [r8 + TRACER_CHUNK_MODE]
    test r11d, TRACER_MODE_NONE
    jnz .Lrefuse
    test ecx, TRACER_WORD_REPORTED
    jnz .Lreported
    mov r9d, ecx
    and r9d, TRACER_WORD_POSITION_MASK
    test ecx, TRACER_WORD_FIRED
    jnz .Lfired
.Lin_window:
    test ecx, ecx
    js .Lleave                              // closed: sign bit
    test ecx, TRACER_WORD_ARMED
    jz .Lbegun
    cmp dword ptr gs:[remora_gs + TRACER_CPU_TRIGGER_ACTION], TRACER_TRIGGER_START
    jne .Lbegun
    match_trigger .Lrefuse                  // recording has not begun: nothing may change
.Lbegun:
    test r11d, TRACER_MODE_COMPACT
    jnz .Lcompact
    event_bytes rdx
    add edx, r9d
    cmp edx, [r8 + TRACER_CHUNK_LIMIT]
    ja .Lfull
    test ecx, TRACER_WORD_RESUME
    jnz .Lresume
    test ecx, TRACER_WORD_ARMED
    jnz .Larmed
.Lwrite:
    // There is space, and no transition is due. Continue with ecx = position, r9 = bytes of a long event.
    mov ecx, r9d
    mov r9, rdi
    shr r9, 32
    jz .Lstore
    jmp .Lstore_long

// --- a blackout ends -------------------------------------------------------------------------------------------------

.Lresume:
    // Writes blackout_end, whose par2 is the losses not yet reported. The commit adds 16; resume becomes reported.
    mov rax, gs:[remora_gs + TRACER_CPU_DROPPED]
    mov [r8 + TRACER_CHUNK_PENDING_REPORTED], rax
    sub rax, gs:[remora_gs + TRACER_CPU_REPORTED]
    shr rax, 4
    mov edx, -1
    cmp rax, rdx
    cmova rax, rdx                          // saturated at 2^32-1
    mov r11d, eax
    mov eax, [r8 + TRACER_CHUNK_ENDS]
    inc eax
    mov [r8 + TRACER_CHUNK_PENDING_ENDS], eax
    add r9, [r8 + TRACER_CHUNK_DATA]
    store_record r9, TRACER_EVENT_BLACKOUT_END, r11d
    xor ecx, TRACER_WORD_RESUME | TRACER_WORD_REPORTED
    add ecx, 16
    mov [r8 + TRACER_CHUNK_WORD], ecx       // commit
    jmp tracer_region_restart

.Lreported:
    // The counts are updated after the record; a blackout that was open here has ended. The commit clears the flag.
    mov rax, [r8 + TRACER_CHUNK_PENDING_REPORTED]
    mov gs:[remora_gs + TRACER_CPU_REPORTED], rax
    mov eax, [r8 + TRACER_CHUNK_PENDING_ENDS]
    mov [r8 + TRACER_CHUNK_ENDS], eax
    and byte ptr [r8 + TRACER_CHUNK_EMERGENCY_WORD + 7], 0x7F
    and dword ptr [r8 + TRACER_CHUNK_WORD], ~TRACER_WORD_REPORTED // commit
    jmp tracer_region_restart

// --- triggers --------------------------------------------------------------------------------------------------------

.Lfired:
    // The event may no longer belong to the window after the trigger.
    written_before r8, r9
    event_bytes rax
    add r10, rax
    cmp r10, [r8 + TRACER_CHUNK_STOP_AT]
    jbe .Lin_window
    cmp dword ptr gs:[remora_gs + TRACER_CPU_TRIGGER_ACTION], TRACER_TRIGGER_FREEZE
    jne .Lstopped
    and ecx, ~TRACER_WORD_FIRED
    or ecx, TRACER_WORD_CLOSED
    mov [r8 + TRACER_CHUNK_WORD], ecx       // commit: what is recorded stays, what follows goes to the next chunk
    jmp tracer_region_restart

.Lstopped:
    // The window ends before an event that does not fit whole, or else a shorter one would be recorded first. The
    // commit stores its end.
    sub r10, rax
    cmp r10, [r8 + TRACER_CHUNK_STOP_AT]
    je .Lrefuse
    mov [r8 + TRACER_CHUNK_STOP_AT], r10    // commit
    jmp tracer_region_restart

.Larmed:
    match_trigger .Lwrite
    // The record commits together with armed -> fired, or, for a start, with armed -> nothing.
    written_before r8, r9
    event_bytes rax
    add r10, rax
    add r10, gs:[remora_gs + TRACER_CPU_TRIGGER_AFTER]
    mov ecx, r9d
    mov r9, rax
    sub r9, TRACER_WORD_ARMED
    cmp dword ptr gs:[remora_gs + TRACER_CPU_TRIGGER_ACTION], TRACER_TRIGGER_START
    je .Lstore_trigger
    add r9, TRACER_WORD_FIRED
    mov [r8 + TRACER_CHUNK_STOP_AT], r10    // unused before fired is set
.Lstore_trigger:
    mov rax, rdi
    shr rax, 32
    jnz .Lstore_long
    mov r10, [r8 + TRACER_CHUNK_DATA]
    store_record r10 + rcx, edi, esi
    jmp .Lcommit

// --- full ------------------------------------------------------------------------------------------------------------

.Lfull:
    test r11d, TRACER_MODE_STOP | TRACER_MODE_JTN
    jz .Lcyclic
    cmp r9d, [r8 + TRACER_CHUNK_LIMIT]
    jae .Lended
    // A long event does not fit. The chunk ends here; otherwise a shorter event would be recorded before it. The commit
    // stores its limit.
    mov [r8 + TRACER_CHUNK_LIMIT], r9d      // commit
    jmp tracer_region_restart               // and from there to .Lended

.Lended:
    test r11d, TRACER_MODE_STOP
    jnz .Ldrop
    jmp .Lleave

.Lcyclic:
    event_bytes rax
    cmp eax, [r8 + TRACER_CHUNK_LIMIT]
    ja .Ldrop                               // larger than the whole chunk
    // The next lap begins. The end of this lap, and the bytes written so far, go to the figures of the other parity,
    // which the commit makes those of the present lap. The commit stores lap + 1 and position 0, and keeps the flags.
    mov rax, [r8 + TRACER_CHUNK_WORD]
    shr rax, 32
    written_before r8, r9
    xor edx, 1
    mov [r8 + TRACER_CHUNK_LAP_BASE + rdx * 8], r10
    mov [r8 + TRACER_CHUNK_LAP_END + rdx * 4], r9d
    inc rax
    shl rax, 32
    and ecx, TRACER_WORD_RESUME | TRACER_WORD_ARMED | TRACER_WORD_FIRED
    or rax, rcx
    mov [r8 + TRACER_CHUNK_WORD], rax       // commit
    jmp tracer_region_restart

.Lleave:
    // The next chunk is entered, if there is one that is open and has space (a cyclic one always has).
    mov rax, [r8 + TRACER_CHUNK_NEXT]
    test rax, rax
    jz .Ldrop
    mov edx, [rax + TRACER_CHUNK_WORD]
    test edx, edx
    js .Ldrop
    mov r11d, [rax + TRACER_CHUNK_MODE]
    test r11d, TRACER_MODE_STOP | TRACER_MODE_JTN
    jz .Lenter
    and edx, TRACER_WORD_POSITION_MASK
    test r11d, TRACER_MODE_COMPACT
    jnz .Lcompact_next
    cmp edx, [rax + TRACER_CHUNK_LIMIT]
    jae .Ldrop
    jmp .Lenter
.Lcompact_next:
    cmp edx, [rax + TRACER_CHUNK_COMPACT_LIMIT]
    jae .Ldrop
.Lenter:
    mov edx, [rax + TRACER_CHUNK_WORD]
    or edx, ecx
    test edx, TRACER_WORD_ARMED | TRACER_WORD_FIRED
    jz .Lblackout_next
    test r11d, TRACER_MODE_COMPACT
    jnz .Lblackout_next                     // no trigger there: its window counts records
    // The trigger moves to the next chunk, with the rest of its window. Flags left over there from another trigger are
    // cleared: fired twice would carry into armed.
    written_before r8, r9
    mov r11, [r8 + TRACER_CHUNK_STOP_AT]
    sub r11, r10
    mov r9d, [rax + TRACER_CHUNK_WORD]
    and r9d, TRACER_WORD_POSITION_MASK
    written_before rax, r9
    add r11, r10
    mov [rax + TRACER_CHUNK_STOP_AT], r11
    mov edx, [rax + TRACER_CHUNK_WORD]
    xor edx, ecx
    and edx, TRACER_WORD_ARMED | TRACER_WORD_FIRED
    xor [rax + TRACER_CHUNK_WORD], edx      // as here; a second time changes nothing
.Lblackout_next:
    // A blackout is open here, or losses are not yet reported: blackout_end must come first in the next chunk.
    cmp qword ptr [r8 + TRACER_CHUNK_EMERGENCY_WORD], 0
    jl .Lmark
    test ecx, TRACER_WORD_RESUME
    jnz .Lmark
    mov rdx, gs:[remora_gs + TRACER_CPU_DROPPED]
    cmp rdx, gs:[remora_gs + TRACER_CPU_REPORTED]
    je .Lswitch
.Lmark:
    or dword ptr [rax + TRACER_CHUNK_WORD], TRACER_WORD_RESUME // once or twice is the same
.Lswitch:
    test rdi, rdi
    js .Lswitched
    mov gs:[remora_gs + TRACER_CPU_ACTIVE], rax         // commit
    jmp tracer_region_restart

.Lswitched:
    // This must not be done twice (a record of an interrupt may continue from there), so its commit is the last
    // instruction.
    mov r8, gs:[remora_gs + TRACER_CPU_SELF]
    add r8, TRACER_CPU_ACTIVE
    mov r9, rax
    sub r9, [r8]
    jmp .Lcommit

// --- no space -------------------------------------------------------------------------------------------------------

.Ldrop:
    // Events that explain a loss or the end may use the emergency area (simple events only: record_path.hpp asserts
    // it).
    movzx eax, dil
    lea rdx, [rip + tracer_emergency_bitmap]
    bt dword ptr [rdx], eax
    jnc .Lordinary
    mov r9d, [r8 + TRACER_CHUNK_EMERGENCY_WORD]
    cmp r9d, [r8 + TRACER_CHUNK_EMERGENCY_LIMIT]
    jae .Lordinary
    add r9, [r8 + TRACER_CHUNK_EMERGENCY_DATA]
    store_record r9, edi, esi
    add r8, TRACER_CHUNK_EMERGENCY_WORD
    mov r9d, 16
    jmp .Lcommit

.Lordinary:
    mov r11, [r8 + TRACER_CHUNK_EMERGENCY_WORD]
    test r11, r11
    js .Lopened
    // The blackout begins, and is recorded in the emergency area if there is space. The commit sets the open bit.
    mov r9d, r11d
    bts r11, 63
    cmp r9d, [r8 + TRACER_CHUNK_EMERGENCY_LIMIT]
    jae .Lopen
    add r9, [r8 + TRACER_CHUNK_EMERGENCY_DATA]
    store_record r9, TRACER_EVENT_BLACKOUT_START, 0
    mov rax, (1 << 32) + 16
    add r11, rax
.Lopen:
    mov [r8 + TRACER_CHUNK_EMERGENCY_WORD], r11 // commit
    jmp tracer_region_restart

.Lopened:
    // A cyclic chunk continues after an event that is too large for it, with blackout_end. The commit sets resume.
    test dword ptr [r8 + TRACER_CHUNK_MODE], TRACER_MODE_STOP | TRACER_MODE_JTN
    jnz .Lcount_drop
    test ecx, TRACER_WORD_RESUME | TRACER_WORD_CLOSED
    jnz .Lcount_drop
    or dword ptr [r8 + TRACER_CHUNK_WORD], TRACER_WORD_RESUME // commit
    jmp tracer_region_restart

.Lcount_drop:
    mov r8, gs:[remora_gs + TRACER_CPU_SELF]
    add r8, TRACER_CPU_DROPPED
    event_bytes r9
    jmp .Lcommit

.Lrefuse:
    mov r8, gs:[remora_gs + TRACER_CPU_SELF]
    add r8, TRACER_CPU_REFUSED
    event_bytes r9
    jmp .Lcommit

// --- chunks that are written compactly -------------------------------------------------------------------------------

#include "tracer/compact/record_path.S"

// --- where a rewound or continued attempt begins ---------------------------------------------------------------------

tracer_region_restart:
    mov rax, rdi
    shr rax, 32
    jz tracer_record
    test rdi, rdi
    jns tracer_record_long

// --- switch to a given chunk: nothing is recorded between the hand-over and the switch -------------------------------

tracer_switch:
    mov r8, gs:[remora_gs + TRACER_CPU_ACTIVE]
    mov ecx, [r8 + TRACER_CHUNK_WORD]
    test ecx, TRACER_WORD_REPORTED
    jnz .Lreported
    mov r9d, ecx
    and r9d, TRACER_WORD_POSITION_MASK
    mov rax, rsi
    mov r11d, [rax + TRACER_CHUNK_MODE]
    jmp .Lenter

// --- long events: 1 to 64 slots, eight instructions each -------------------------------------------------------------

    .balign 64
    .skip 48, 0x90                          // so that the loop over the slots is within one line of the cache
tracer_record_long:
    mov r8, gs:[remora_gs + TRACER_CPU_ACTIVE]
    mov ecx, [r8 + TRACER_CHUNK_WORD]
    mov r9, rdi
    shr r9, 32
    lea edx, [rcx + r9]
    cmp edx, [r8 + TRACER_CHUNK_LIMIT]
    ja .Lslow
.Lstore_long:
    // A cyclic chunk's oldest records are where these slots go, and an attempt that does not commit has overwritten
    // them: the extent, in terms of lap and position, only grows.
    mov r10, rdi
    shr r10, 32
    mov rax, [r8 + TRACER_CHUNK_WORD]
    mov edx, eax
    sub rax, rdx
    add rax, rcx
    add rax, r10
    cmp rax, [r8 + TRACER_CHUNK_SCRIBBLED]
    jbe .Lscribbled
    mov [r8 + TRACER_CHUNK_SCRIBBLED], rax
.Lscribbled:
    mov r11, [r8 + TRACER_CHUNK_DATA]
    add r11, rcx
    mov rcx, r10
    add r11, r10
    add r10, rsi
    neg rcx
    rdtsc
    shl rdx, 32
.Lslot:
    mov r12, [r10 + rcx]
    or r12, rdx
    mov [r11 + rcx], r12                    // code, par1, TSC high
    mov r12, [r10 + rcx + 8]
    or r12, rax
    mov [r11 + rcx + 8], r12                // TSC low, par2
    add rcx, 16
    jnz .Lslot
.Lcommit:
    add qword ptr [r8], r9                  // the commit of whatever is not one record in an ordinary chunk
tracer_region_exit:
    ret
tracer_region_probe:                        // only an entry stub that does not rewind returns here
    xor edi, edi
    ret
// --- one record: 12 instructions -------------------------------------------------------------------------------------

    .balign 32
tracer_record:
    mov r8, gs:[remora_gs + TRACER_CPU_ACTIVE]
    mov ecx, [r8 + TRACER_CHUNK_WORD]
    cmp ecx, [r8 + TRACER_CHUNK_LIMIT]
    jae .Lslow
.Lstore:
    mov r10, [r8 + TRACER_CHUNK_DATA]
    store_record r10 + rcx, edi, esi
    add qword ptr [r8], 16                  // the commit of one record
tracer_region_end:
    ret

    .size tracer_record, . - tracer_record
    .section .note.GNU-stack, "", @progbits
