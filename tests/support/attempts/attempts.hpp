// SPDX-License-Identifier: MIT
// How many records were attempted in this program, counted without the tracer's help (record_calls.S), in the unit
// tests and in the test kernel alike. The tracer must account for each: attempts = committed + dropped + refused. A
// program that wants this links the folder's sources with the options ATTEMPTS_LDFLAGS of the Makefile.
#pragma once

#include <cstdint>

extern "C" {
extern std::uint64_t attempted_bytes; // 16 a record; advances by single instructions
}

namespace tests {

// Instructions that the counting adds to each record: what a test of the record path's cost must take off.
inline constexpr int kCountingInstructions = 2;

[[nodiscard]] inline std::uint64_t attempted_records() {
    return __atomic_load_n(&attempted_bytes, __ATOMIC_RELAXED) / 16;
}

} // namespace tests
