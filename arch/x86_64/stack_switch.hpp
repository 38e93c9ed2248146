// SPDX-License-Identifier: MIT
// Switches contexts, in the kernel and in the fake machine of the unit tests. A suspended context is two words on its
// stack: the address at which it continues, and RBP. All other registers are declared as destroyed, so the compiler
// saves those that are in use, and only those. The vector registers are declared for the unit tests, because the kernel
// uses none.
//
//   pointer -> | address | rbp | ...       a fresh context: any address that expects nothing in registers
#pragma once

#include <cstdint>

#ifdef __SSE2__
#define REMORA_VECTOR_REGISTERS                                                                                        \
    , "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12",       \
        "xmm13", "xmm14", "xmm15"
#else
#define REMORA_VECTOR_REGISTERS
#endif

namespace arch::x86_64 {

[[gnu::always_inline]] inline void switch_stacks(std::uint64_t* save, std::uint64_t load) {
    asm volatile("pushq %%rbp\n\t"
                 "leaq 1f(%%rip), %%rax\n\t"
                 "pushq %%rax\n\t"
                 "movq %%rsp, (%0)\n\t"
                 "movq %1, %%rsp\n\t"
                 "ret\n"
                 "1:\tpopq %%rbp"
                 : "+D"(save), "+S"(load)
                 :
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc",
                   "memory" REMORA_VECTOR_REGISTERS);
}

} // namespace arch::x86_64
