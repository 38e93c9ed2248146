// SPDX-License-Identifier: MIT
// Says where a CpuTrace is in the area to which GS leads: at its beginning, unless a kernel's linker says otherwise
// (--defsym=remora_gs=OFFSET). It is a member of the archive by itself, so that it is linked only if nothing else is.
    .globl remora_gs
    .set remora_gs, 0
    .section .note.GNU-stack, "", @progbits
