// SPDX-License-Identifier: MIT
// This part of the record path writes compact chunks. tracer/record/record_path.S includes it in the middle of its
// region, and its rules apply here too. The stream is described in docs/trace-format.md. A table by event code
// (compact_chunk.cpp) holds the headers without their time bits, so the same code serves every layout.

// Writes a large header of a compact chunk at rax and leaves rax after it. r10d = id and size, r11d = mode, rdx =
// stamp. Clobbers ecx.
.macro large_header
    test r11d, TRACER_MODE_ESCAPE
    jz 71f
    mov ecx, [r8 + TRACER_CHUNK_COMPACT_ESCAPE]
    mov [rax], ecx
    add rax, 4
71:
    mov [rax], r10d
    add rax, 4
    test r11d, TRACER_MODE_WIDE
    jz 73f
    test al, 4
    jz 72f
    mov dword ptr [rax], 0
    add rax, 4
72:
    mov [rax], rdx
    add rax, 8
    jmp 74f
73:
    mov [rax], edx
    add rax, 4
74:
.endm

.Lcompact:
    // r9d = position. rdx = stamp, r10d = its turn.
    rdtsc
    shl rdx, 32
    or rdx, rax
    mov eax, ecx
    movzx ecx, byte ptr [r8 + TRACER_CHUNK_COMPACT_TURN_SHIFT]
    mov r10, rdx
    shr r10, cl
    mov ecx, eax
    cmp r10d, [r8 + TRACER_CHUNK_WORD + 4]
    je .Lsame_turn
    // The event is in another turn of the compact stamp: a full heartbeat comes first, and commits position and turn.
    lea eax, [r9 + TRACER_COMPACT_HEARTBEAT_MAX]
    cmp eax, [r8 + TRACER_CHUNK_COMPACT_LIMIT]
    ja .Lcompact_full
    and ecx, ~TRACER_WORD_POSITION_MASK
    add r9, [r8 + TRACER_CHUNK_DATA]
    test r11d, TRACER_MODE_ESCAPE
    jz .Lheartbeat
    mov eax, [r8 + TRACER_CHUNK_COMPACT_ESCAPE]
    mov [r9], eax
    add r9, 4
.Lheartbeat:
    mov dword ptr [r9], 4                   // id 0, four bytes of payload
    mov [r9 + 4], rdx                       // TSC low, and as payload TSC high
    add r9, 12
    sub r9, [r8 + TRACER_CHUNK_DATA]
    or r9, rcx
    shl r10, 32
    or r9, r10
    mov [r8 + TRACER_CHUNK_WORD], r9        // commit
    jmp tracer_region_restart

.Lcompact_full:
    cmp r9d, [r8 + TRACER_CHUNK_COMPACT_LIMIT]
    jae .Lended
    mov [r8 + TRACER_CHUNK_COMPACT_LIMIT], r9d // commit: a shorter event must not be recorded after this one
    jmp tracer_region_restart

.Lsame_turn:
    mov rax, rdi
    shr rax, 36                             // slots of a long event
    lea r10d, [rax + rax * 2]
    add r10d, r10d                          // six bytes of payload each
    lea eax, [r9 + r10 + TRACER_COMPACT_LARGE_HEADER_MAX + 8] // enough for a simple event, too
    cmp eax, [r8 + TRACER_CHUNK_COMPACT_LIMIT]
    ja .Lcompact_full
    mov rax, r9
    add rax, [r8 + TRACER_CHUNK_DATA]
    test ecx, TRACER_WORD_RESUME
    jnz .Lcompact_resume
    test r10d, r10d
    jnz .Lcompact_long
    test edi, 0xFF00
    jnz .Lcompact_large                     // the fast path bit
    movzx ecx, dil
    mov r10, [r8 + TRACER_CHUNK_COMPACT_HEADERS]
    mov r10d, [r10 + rcx * 4]
    test r10d, TRACER_FORM_MASK
    jz .Lcompact_large
    mov ecx, edi
    shr ecx, 16                             // par1
    test r10d, TRACER_FORM_WORD
    jnz .Lcompact_word
    or ecx, esi
    jnz .Lcompact_large                     // this form has no parameters, but the event has
    jmp .Lcompact_header
.Lcompact_word:
    cmp esi, 0xFFFF                         // par2
    ja .Lcompact_large
    mov r9d, esi
    shl r9d, 16
    or r9d, ecx
    mov [rax + 4], r9d
.Lcompact_header:
    movzx ecx, byte ptr [r8 + TRACER_CHUNK_COMPACT_LEFT]
    shl rdx, cl
    movzx ecx, byte ptr [r8 + TRACER_CHUNK_COMPACT_RIGHT]
    shr rdx, cl
    mov ecx, r10d
    and r10d, ~TRACER_FORM_MASK
    or r10d, edx
    mov [rax], r10d
    and ecx, TRACER_FORM_WORD
    lea r9d, [rcx * 2 + 4]                  // the commit adds 4, or 8 with a word of payload
    jmp .Lcommit

.Lcompact_large:
    movzx r10d, dil
    mov ecx, edi
    shr ecx, 7
    and ecx, TRACER_COMPACT_FAST_BIT        // from bit 15
    or r10d, ecx
    shl r10d, 16
    or r10d, 8                              // bytes of payload
    large_header
    mov ecx, edi
    shr ecx, 16
    mov [rax], ecx
    mov [rax + 4], esi
    add rax, 8
    jmp .Lcompact_commit

.Lcompact_long:
    mov r9d, r10d
    movzx ecx, dil
    or ecx, TRACER_COMPACT_LONG_BIT
    shl ecx, 16
    or r10d, ecx
    large_header
    add r9, rax                             // where the payload ends
    mov r11, rsi
.Lpiece:
    mov ecx, [r11]
    shr ecx, 16
    mov [rax], cx                           // par1
    mov ecx, [r11 + 12]
    mov [rax + 2], ecx                      // par2
    add r11, 16
    add rax, 6
    cmp rax, r9
    jb .Lpiece
    test al, 2
    jz .Lcompact_commit
    mov word ptr [rax], 0
    add rax, 2
.Lcompact_commit:
    // rax = end of the event; the commit adds its length.
    mov r9, rax
    sub r9, [r8 + TRACER_CHUNK_DATA]
    mov ecx, [r8 + TRACER_CHUNK_WORD]
    and ecx, TRACER_WORD_POSITION_MASK
    sub r9, rcx
    jmp .Lcommit

.Lcompact_resume:
    // Like blackout_end in a plain chunk; the record is a large event.
    mov r10d, (TRACER_EVENT_BLACKOUT_END << 16) | 8
    large_header
    mov dword ptr [rax], 0                  // par1
    mov rcx, gs:[remora_gs + TRACER_CPU_DROPPED]
    mov [r8 + TRACER_CHUNK_PENDING_REPORTED], rcx
    sub rcx, gs:[remora_gs + TRACER_CPU_REPORTED]
    shr rcx, 4
    mov edx, -1
    cmp rcx, rdx
    cmova rcx, rdx
    mov [rax + 4], ecx                      // par2
    add rax, 8
    mov ecx, [r8 + TRACER_CHUNK_ENDS]
    inc ecx
    mov [r8 + TRACER_CHUNK_PENDING_ENDS], ecx
    sub rax, [r8 + TRACER_CHUNK_DATA]
    mov ecx, [r8 + TRACER_CHUNK_WORD]
    and ecx, ~TRACER_WORD_POSITION_MASK
    xor ecx, TRACER_WORD_RESUME | TRACER_WORD_REPORTED
    or ecx, eax
    mov [r8 + TRACER_CHUNK_WORD], ecx       // commit
    jmp tracer_region_restart

