// SPDX-License-Identifier: MIT
// Calls an interrupt entry as the processor does when it interrupts a record: with a frame whose RIP is inside the
// restartable sequence (tracer/record/record_path.S).
//
//   port_probe   rdi = the entry, esi = 1 if the processor pushes an error code, edx = code | par1 << 16 of the record
//                that a restart makes; returns whether the entry restarted
    .intel_syntax noprefix
    .text
    .globl port_probe
    .type port_probe, @function
port_probe:
    push rbx
    push rbp
    push r12
    push r13
    push r14
    push r15
    mov rbp, rsp
    pushfq
    pop rbx
    lea rax, [rip + .Lback]
    push rax                                // where the return of the sequence leads
    mov rcx, rsp
    and rsp, -16                            // as the processor aligns it
    mov eax, ss
    push rax
    push rcx
    push rbx
    mov eax, cs
    push rax
    lea rax, [rip + tracer_region_probe]
    push rax
    test esi, esi
    jz 1f
    push 0
1:  cli                                     // the gate of an interrupt does so
    mov rax, rdi
    mov edi, edx
    xor esi, esi
    jmp rax
.Lback:
    xor eax, eax
    test edi, edi
    setnz al
    mov rsp, rbp
    pop r15
    pop r14
    pop r13
    pop r12
    pop rbp
    pop rbx
    ret
    .size port_probe, . - port_probe
    .section .note.GNU-stack, "", @progbits
