// SPDX-License-Identifier: MIT
// The switch of contexts, in the kernel and in the fake machine of the unit tests. A suspended context is two words on
// its stack: the address at which it continues, and RBP. All other registers are declared as destroyed, so the compiler
// saves those that are in use, and only those.
//
//   pointer -> | address | rbp | ...       a fresh context: any address that expects nothing in registers
#pragma once

#include <cstdint>

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
                 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "cc", "memory");
}

} // namespace arch::x86_64
