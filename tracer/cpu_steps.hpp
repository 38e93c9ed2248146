// SPDX-License-Identifier: MIT
// Where a processor is in the instructions that it executes in steps: the step before this one, of whichever task. One
// object for each processor, in its CpuTrace. Plain data; only InstructionTrace changes it.
#pragma once

#include <cstdint>

namespace tracer {

struct CpuSteps {
    std::uint64_t address = 0;  // of the instruction of the step before
    std::uint64_t taken = 0;    // recorded or not
    std::uint32_t in_block = 0; // instructions since the last block record
    std::uint16_t context = 0;  // of the task that took it; 0: no step so far
};

} // namespace tracer
