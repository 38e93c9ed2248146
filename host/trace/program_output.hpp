// SPDX-License-Identifier: MIT
// Runs a program of another package for what it prints, such as one of binutils over an image. The image may be forged:
// what a program does with it is bounded, and what it says about it on its error output is not shown.
#pragma once

#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace host::trace {

struct ProgramLimits {
    unsigned processor_s = 0;
    unsigned wall_s = 10; // also if it only waits
    std::size_t output_bytes = 0;
};

// Returns what the program, words.front(), prints with the other words as its arguments. Refused if it cannot be run,
// fails, or reaches a limit. Blocks until it has ended.
[[nodiscard]] lib::Result<std::string, Refusal> output_of(const std::vector<std::string>& words, ProgramLimits limits);

} // namespace host::trace
