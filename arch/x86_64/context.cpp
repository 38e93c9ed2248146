// SPDX-License-Identifier: MIT
// Task contexts: a context is only a stack pointer. The layout of a fresh stack mirrors the pops of arch_switch_context
// in context.S.
//
//   top -> | 0 | 0 | arch_context_start | rbp | rbx | r12 entry | r13 argument | r14 | r15 | <- pointer
#include "arch/arch.hpp"

#include <array>

extern "C" {
void arch_switch_context(std::uint64_t* save, std::uint64_t load);
[[noreturn]] void arch_restart_context(std::uint64_t top, void (*entry)(void*), void* argument);
void arch_context_start();
}

namespace arch {

StackPointer prepare_stack(std::span<std::byte> stack, void (*entry)(void*), void* argument) {
    ASSERT(stack.size() >= 4096);
    const std::uint64_t top = reinterpret_cast<std::uint64_t>(stack.data() + stack.size()) & ~std::uint64_t{15};
    const std::array<std::uint64_t, 9> image = {
        0,                                         // r15
        0,                                         // r14
        reinterpret_cast<std::uint64_t>(argument), // r13
        reinterpret_cast<std::uint64_t>(entry),    // r12
        0,                                         // rbx
        0,                                         // rbp
        reinterpret_cast<std::uint64_t>(&arch_context_start),
        0,
        0, // a null return address ends a stack walk; the pair keeps the stack 16-byte aligned
    };
    const std::uint64_t pointer = top - sizeof(image);
    __builtin_memcpy(reinterpret_cast<void*>(pointer), image.data(), sizeof(image));
    return {pointer};
}

void restart_context(std::span<std::byte> stack, void (*entry)(void*), void* argument) {
    ASSERT(interrupts_disabled());
    arch_restart_context(reinterpret_cast<std::uint64_t>(stack.data() + stack.size()) & ~std::uint64_t{15}, entry,
                         argument);
}

void switch_context(StackPointer* save, StackPointer load) {
    ASSERT(interrupts_disabled());
    arch_switch_context(&save->value, load.value);
}

} // namespace arch
