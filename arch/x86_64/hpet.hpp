// SPDX-License-Identifier: MIT
// Uses the high precision event timer as a plain counter: a reference for calibrating the TSC, and the kernel's clock
// if it is built with TSC = FALSE. Comparators are not used.
// Source: IA-PC HPET specification 1.0a, section 2.3.
#pragma once

#include "arch/x86_64/mmio.hpp"
#include "lib/result.hpp"

#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::uint64_t kHpetDefaultBase = 0xFED0'0000;
inline constexpr std::uint64_t kHpetRegCapabilities = 0x00; // 63..32: period in femtoseconds
inline constexpr std::uint64_t kHpetRegConfiguration = 0x10;
inline constexpr std::uint64_t kHpetRegCounter = 0xF0;

// Holds the address of the device, which hpet_start() sets.
extern std::uint64_t g_hpet_base;

// Enables the main counter and returns its rate in kHz. not_found: no valid device answers at this address (its period
// is outside 0.1 .. 100 ns).
[[nodiscard]] lib::Result<std::uint32_t> hpet_start(std::uint64_t base);

[[nodiscard]] inline std::uint64_t hpet_counter() {
    return mmio_read<std::uint64_t>(g_hpet_base + kHpetRegCounter);
}

} // namespace arch::x86_64
