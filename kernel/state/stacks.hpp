// SPDX-License-Identifier: MIT
// The stacks of all tasks. Each is above a guard page that the composition root unmaps once paging is up: an overflow
// then faults at once instead of overwriting the next stack.
//
//   [guard 0][stack 0........][guard 1][stack 1........] ...      stacks grow down, towards their guard
#pragma once

#include "kernel/config.hpp"

#include <cstddef>
#include <span>

namespace kernel {

// Precondition of both functions: index < kTasksMax. Context: any.
[[nodiscard]] std::span<std::byte> task_stack(std::size_t index);
[[nodiscard]] std::span<std::byte> guard_page(std::size_t index);

} // namespace kernel
