// SPDX-License-Identifier: MIT
// What the console prints about a processor exception, whether it ends the system or a task. Context: any.
#pragma once

#include "arch/arch.hpp"

#include <string_view>

namespace kernel {

// Returns the name of an exception, which is a literal.
[[nodiscard]] std::string_view exception_name(arch::Vector vector);

// Prints where the exception occurred, in which task, and whether the task's stack has overflowed. The caller prints
// the headline.
void print_fault(const arch::Exception& fault);

// Prints the task whose context is on the processor.
void print_task();

} // namespace kernel
