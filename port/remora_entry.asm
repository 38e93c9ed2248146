; SPDX-License-Identifier: MIT
; For each interrupt and exception entry, NMI and machine check included: a record that was interrupted starts again when
; the entry returns. NASM; remora_entry.inc, which describes it, is the same for GNU as.
extern tracer_region_begin, tracer_region_restart, tracer_region_exit, tracer_region_end

%macro REMORA_ENTRY_RESTART 1
    mov rax, [rsp + %1]
    cmp rax, tracer_region_begin
    jb %%done
    cmp rax, tracer_region_end
    jae %%done
    cmp rax, tracer_region_exit
    je %%done
    mov qword [rsp + %1], tracer_region_restart
%%done:
%endmacro
