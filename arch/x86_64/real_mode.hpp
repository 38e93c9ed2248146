// SPDX-License-Identifier: MIT
// The way to real mode and back: places in low memory, shared with the assembler part by number (real_mode.S), and what
// the start-up has to say about it.
//
//   0x8000   code, segments, interrupt table of the way       (a copy of what real_mode.S holds)
//   0x8C00   the BIOS's interrupt vectors                     (a copy; NMI has another handler)
//   0x9000   stack; at its top the registers that go in and come out
//   0xA000   buffer of the caller
//
// Page 0 (the BIOS's interrupt vectors and data) is never written; it is visible only while a call looks at it.
#pragma once

#include "arch/boot_info.hpp"

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint64_t kRealModeCode = 0x8000;
inline constexpr std::uint64_t kRealModeVectors = 0x8C00;
inline constexpr std::uint64_t kRealModeStack = 0x9000;
inline constexpr std::uint64_t kRealModeBuffer = 0xA000;
inline constexpr std::uint64_t kRealModeEnd = 0xB000;

// Finds out whether there is a BIOS to call. irq-off, once, after the page tables.
void real_mode_start(const BootInfo& boot);

} // namespace arch::x86_64
