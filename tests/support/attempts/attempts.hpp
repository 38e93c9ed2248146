// SPDX-License-Identifier: MIT
// Counts the records attempted in this program, independently of the tracer (record_calls.S), in the unit tests and in
// the test kernel alike. The tracer must account for each: attempts = committed + dropped + refused. A program that
// uses this links the folder's sources with the options ATTEMPTS_LDFLAGS of mk/kernel.mk.
#pragma once

#include <cstdint>

extern "C" {
extern std::uint64_t attempted_bytes; // 16 per record; advances by single instructions
}

namespace tests {

// The counting adds this many instructions to each record: a test of the record path's cost must subtract them.
inline constexpr int kCountingInstructions = 2;

[[nodiscard]] inline std::uint64_t attempted_records() {
    return __atomic_load_n(&attempted_bytes, __ATOMIC_RELAXED) / 16;
}

} // namespace tests
