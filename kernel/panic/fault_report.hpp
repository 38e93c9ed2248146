// SPDX-License-Identifier: MIT
// What the console says of a processor exception, whether it ends the system or a task. Context: any.
#pragma once

#include "arch/arch.hpp"

#include <string_view>

namespace kernel {

// A literal.
[[nodiscard]] std::string_view exception_name(arch::Vector vector);

// Where, on whose behalf, and whether a task's stack has overflowed. The headline is the caller's.
void print_fault(const arch::Exception& fault);

// The task whose context is on the processor.
void print_task();

} // namespace kernel
