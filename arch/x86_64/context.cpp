// SPDX-License-Identifier: MIT
// Task contexts: a context is only a stack pointer. The layout of a fresh stack mirrors the pops of switch_stacks() and
// of arch_context_start in context.S.
//
//   top -> | 0 | 0 | argument | entry | arch_context_start | <- pointer
#include "arch/arch.hpp"

#include <array>

extern "C" {
[[noreturn]] void arch_restart_context(std::uint64_t top, void (*entry)(void*), void* argument);
void arch_context_start();
}

namespace arch {

StackPointer prepare_stack(std::span<std::byte> stack, void (*entry)(void*), void* argument) {
    ASSERT(stack.size() >= 4096);
    const std::uint64_t top = reinterpret_cast<std::uint64_t>(stack.data() + stack.size()) & ~std::uint64_t{15};
    const std::array<std::uint64_t, 5> image = {
        reinterpret_cast<std::uint64_t>(&arch_context_start),
        reinterpret_cast<std::uint64_t>(entry),
        reinterpret_cast<std::uint64_t>(argument),
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

} // namespace arch
