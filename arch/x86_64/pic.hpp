// SPDX-License-Identifier: MIT
// The pair of 8259A interrupt controllers is remapped above the exception vectors. It is masked if an I/O APIC serves
// the lines, and else serves them. Its spurious interrupts (7 and 15) keep vectors of their own.
// Source: Intel 8259A data sheet (ICW1 to ICW4, OCW1 to OCW3).
#pragma once

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint8_t kPicVectorBase = 0x20; // lines 0..15 -> 0x20..0x2F
inline constexpr std::uint8_t kPicLines = 16;

// Remaps both controllers and masks every line. Context: irq-off.
void pic_start();

// Opens or masks a line. Context: irq-off.
void pic_enable(std::uint8_t line, bool enabled);

// Holds the state that pic_mask_all() replaced.
struct PicMasks {
    std::uint8_t first;
    std::uint8_t second;
};

// Masks every line temporarily; requests are kept. Context: irq-off.
[[nodiscard]] PicMasks pic_mask_all();
void pic_restore(PicMasks masks);

// Returns false for line 7 or 15 while the controller has nothing in service there: the interrupt is spurious. Context:
// irq-off.
[[nodiscard]] bool pic_is_real(std::uint8_t line);

// Acknowledges an interrupt. A spurious interrupt of the second controller is acknowledged only at the first, one of
// the first not at all. Context: irq-off.
void pic_end_of_interrupt(std::uint8_t line);

} // namespace arch::x86_64
