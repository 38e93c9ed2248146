// SPDX-License-Identifier: MIT
// The state of a processor that executes instructions in steps: the previous step, of whichever task. One object per
// processor, in its CpuTrace. Plain data; only InstructionTrace changes it.
#pragma once

#include <cstdint>

namespace tracer {

struct CpuSteps {
    std::uint64_t address = 0;  // of the instruction of the previous step
    std::uint64_t taken = 0;    // recorded or not
    std::uint32_t in_block = 0; // instructions since the last block record
    std::uint16_t context = 0;  // of the task that made it; 0: no step so far
};

} // namespace tracer
