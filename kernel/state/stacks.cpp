// SPDX-License-Identifier: MIT
// The storage of the task stacks; stacks.hpp has a drawing.
#include "kernel/state/stacks.hpp"

#include "lib/assert.hpp"

#include <array>

namespace kernel {

namespace {

struct alignas(kGuardBytes) GuardedStack {
    std::array<std::byte, kGuardBytes> guard;
    std::array<std::byte, kStackBytes> stack;
};

static_assert(sizeof(GuardedStack) == kGuardBytes + kStackBytes, "no padding: guard pages must be whole pages");

// The stacks are beside the trace chunks, where there is room for many and nothing is cleared: a stack is written
// before it is read.
[[gnu::section(".arena,\"aw\",@nobits#")]] constinit std::array<GuardedStack, kTasksMax> s_stacks{};

} // namespace

std::span<std::byte> task_stack(std::size_t index) {
    ASSERT(index < kTasksMax);
    return s_stacks[index].stack;
}

std::span<std::byte> guard_page(std::size_t index) {
    ASSERT(index < kTasksMax);
    return s_stacks[index].guard;
}

} // namespace kernel
