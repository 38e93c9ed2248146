// SPDX-License-Identifier: MIT
// These are ways to be stopped by the processor, each at an instruction that is known beforehand, for the cases in
// which a task is killed for it (task_fault_cases.cpp) and by those that must end in a panic (fault_cases.cpp).
#pragma once

#include <cstdint>

namespace guest::faulty {

// States where the next fault will be, written right before it; 0 means anywhere.
struct Expected {
    std::uint64_t instruction = 0;
    std::uint64_t address = 0; // of a page fault
};

inline constinit volatile Expected expected{};

void overflow_the_stack();
void write_to_null();
void write_to_code();
void execute_data();
void use_a_wild_address(); // not canonical
void lose_the_stack();     // nor is the stack pointer, and something is pushed
void divide_by_zero();
void raise_protection_fault(); // int 13: no error code is pushed

} // namespace guest::faulty
