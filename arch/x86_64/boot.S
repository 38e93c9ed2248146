# SPDX-License-Identifier: MIT
# The first instructions of the kernel are here. Two entries lead to one continuation:
#
#   PVH  (qemu -kernel): 32-bit protected mode, paging off, EBX = hvm_start_info   --> long mode, RSI = hvm_start_info
#   UEFI (BOOTX64.EFI):  64-bit long mode, RDI = arch::BootInfo                    --> kernel_entry
#                                                                                  both --> kernel_main(BootInfo*)
# A processor without long mode or no-execute pages would reset at the first use of either: the PVH entry asks for both
# and otherwise reports on the first serial port and ends the machine. The loader does the same for UEFI.
# Sources: Xen x86/HVM direct boot ABI (PVH note 18), Intel SDM volume 3 section 9.8.5 (entering IA-32e mode), AMD64 APM
# volume 3 appendix D (CPUID 8000_0001h); the serial port as in drivers/serial.hpp.

.set kNotePvhEntry, 18
.set kCr0Paging, 1 << 31
.set kCr0WriteProtect, 1 << 16
.set kCr0ProtectedMode, 1
.set kCr4Pae, 1 << 5
.set kMsrEfer, 0xC0000080
.set kEferLongMode, 1 << 8
.set kEferNoExecute, 1 << 11
.set kCpuidExtendedMax, 0x80000000
.set kCpuidExtended, 0x80000001
.set kCpuidNoExecute, 1 << 20           # EDX
.set kCpuidLongMode, 1 << 29            # EDX
.set kSerial, 0x3F8                     # COM1
.set kSerialLineControl, kSerial + 3
.set kSerialLineStatus, kSerial + 5
.set kSerialPollsMax, 100000
.set kDebugExitPort, 0xF4
.set kMachineNotSupported, 0x15         # kernel/root/main.cpp: ExitCode::machine_not_supported
.set kLargePage, 0x83                   # present, writable, 2 MiB
.set kTable, 0x03                       # present, writable
.set kSelectorCode, 0x08
.set kSelectorData, 0x10

.section .note.pvh, "a", @note
    .long 4, 4, kNotePvhEntry
    .asciz "Xen"
    .long pvh_entry

# ---------------------------------------------------------------------------------------------------------------------
.section .text.boot, "ax", @progbits
.code32
.global pvh_entry
pvh_entry:
    cli
    cld
    movl %ebx, %esi                     # kept until long mode

    movl $kCpuidExtendedMax, %eax
    cpuid
    movl $no_long_mode, %edi
    cmpl $kCpuidExtended, %eax
    jb refuse_processor
    movl $kCpuidExtended, %eax
    cpuid
    testl $kCpuidLongMode, %edx
    jz refuse_processor
    movl $no_no_execute, %edi
    testl $kCpuidNoExecute, %edx
    jz refuse_processor

    # QEMU's ELF loader zeroes .bss, which holds these tables.
    movl $boot_page_directory, %edi     # 4 GiB identity map of 2 MiB pages: 4 directories of 512 entries
    movl $kLargePage, %eax
    movl $(4 * 512), %ecx
1:  movl %eax, (%edi)
    movl $0, 4(%edi)
    addl $0x200000, %eax
    addl $8, %edi
    loop 1b

    movl $boot_page_directory, %eax
    orl $kTable, %eax
    movl $boot_pointer_table, %edi
    movl $4, %ecx
2:  movl %eax, (%edi)
    movl $0, 4(%edi)
    addl $0x1000, %eax
    addl $8, %edi
    loop 2b

    movl $boot_pointer_table, %eax
    orl $kTable, %eax
    movl %eax, boot_root_table
    movl $0, boot_root_table + 4

    movl $boot_root_table, %eax
    movl %eax, %cr3
    movl %cr4, %eax
    orl $kCr4Pae, %eax
    movl %eax, %cr4
    movl $kMsrEfer, %ecx
    rdmsr
    orl $(kEferLongMode | kEferNoExecute), %eax
    wrmsr
    movl %cr0, %eax
    orl $(kCr0Paging | kCr0WriteProtect | kCr0ProtectedMode), %eax
    movl %eax, %cr0
    lgdt boot_gdt_pointer
    ljmp $kSelectorCode, $pvh_long_mode

# Prints the text at EDI with 115200 baud, 8N1. QEMU then ends with the kernel's exit code for "machine not supported";
# another machine stops.
refuse_processor:
    movw $kSerialLineControl, %dx
    movb $0x83, %al                     # divisor latch
    outb %al, %dx
    movw $(kSerial + 1), %dx
    xorl %eax, %eax
    outb %al, %dx
    movw $kSerial, %dx
    movb $1, %al
    outb %al, %dx
    movw $kSerialLineControl, %dx
    movb $0x03, %al
    outb %al, %dx
1:  movb (%edi), %bl
    testb %bl, %bl
    jz 3f
    movw $kSerialLineStatus, %dx
    movl $kSerialPollsMax, %ecx
2:  inb %dx, %al
    testb $0x20, %al                    # transmitter empty
    loopz 2b
    movb %bl, %al
    movw $kSerial, %dx
    outb %al, %dx
    incl %edi
    jmp 1b
3:  movb $kMachineNotSupported, %al
    outb %al, $kDebugExitPort
4:  hlt
    jmp 4b

.code64
pvh_long_mode:
    movl $kSelectorData, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    movl $boot_stack_top, %esp
    xorl %ebp, %ebp
    movl %esi, %edi                     # physical address of hvm_start_info
    call pvh_boot_info                  # returns BootInfo* in RAX
    movq %rax, %rdi

# RDI is the BootInfo. PVH falls through to here, and the loader of UEFI jumps here. Only the stack is set up so far.
.global kernel_entry
kernel_entry:
    cli
    cld
    movl $boot_stack_top, %esp
    xorl %ebp, %ebp
    call kernel_main
3:  hlt                                 # kernel_main does not return
    jmp 3b

# ---------------------------------------------------------------------------------------------------------------------
# Loads a new GDT's selectors: those of the data segments directly, CS by a far return.
.text
.global arch_reload_segments
arch_reload_segments:
    movl $kSelectorData, %eax
    movl %eax, %ds
    movl %eax, %es
    movl %eax, %ss
    popq %rax
    pushq $kSelectorCode
    pushq %rax
    lretq

.section .rodata
no_long_mode:
    .ascii "REMORA: the processor has no long mode (64 bits): start another one, in QEMU with -cpu max\r\n"
    .asciz "REMORA: result machine not supported\r\n"
no_no_execute:
    .ascii "REMORA: the processor has no no-execute pages (NX): enable them, in QEMU with -cpu max\r\n"
    .asciz "REMORA: result machine not supported\r\n"
.align 8
boot_gdt:
    .quad 0
    .quad 0x00AF9B000000FFFF            # 64-bit code
    .quad 0x00CF93000000FFFF            # data
boot_gdt_pointer:
    .word . - boot_gdt - 1
    .long boot_gdt

.bss
.align 4096
boot_root_table:
    .skip 4096
boot_pointer_table:
    .skip 4096
boot_page_directory:
    .skip 4 * 4096

# The boot stack: its lowest page is the guard that paging.cpp unmaps.
.global boot_stack_guard
boot_stack_guard:
    .skip 4096
    .skip 32768
.global boot_stack_top
boot_stack_top:

.section .note.GNU-stack, "", @progbits
