// SPDX-License-Identifier: MIT
// Declares the switch to real mode and back: addresses in low memory, which real_mode.S repeats by value, and its
// initialisation.
//
//   0x8000   code, segments, interrupt table of the switch (a copy of real_mode.S)
//   0x8C00   the BIOS's interrupt vectors                     (a copy; NMI has another handler)
//   0x9000   stack; at its top the registers before and after the call
//   0xA000   buffer of the caller
//
// Page 0 (the BIOS's interrupt vectors and data) is never written; it is visible only while a call reads it.
#pragma once

#include "arch/boot_info.hpp"

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint64_t kRealModeCode = 0x8000;
inline constexpr std::uint64_t kRealModeVectors = 0x8C00;
inline constexpr std::uint64_t kRealModeBuffer = 0xA000;
inline constexpr std::uint64_t kRealModeEnd = 0xB000;

// Returns segment and offset of a place in a segment, as an interrupt vector stores them. Precondition: the segment
// begins at a multiple of 16 below 1 MiB.
[[nodiscard]] constexpr std::uint32_t far_address(std::uint64_t segment, std::uint32_t offset) {
    return static_cast<std::uint32_t>(segment >> 4 << 16) | offset;
}

// Returns whether an interrupt vector leads to the ROM of the BIOS or of an adapter.
[[nodiscard]] constexpr bool is_in_rom(std::uint32_t vector) {
    const std::uint32_t handler = ((vector >> 16) << 4) + (vector & 0xFFFF);
    return handler >= 0xC0000 && handler < 0x100000;
}

// Determines whether there is a BIOS to call. Context: irq-off, once, after the page tables.
void real_mode_start(const BootInfo& boot);

} // namespace arch::x86_64
