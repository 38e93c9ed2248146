// SPDX-License-Identifier: MIT
// Defines the processor's part of arch/arch.hpp that must be inline: interrupt flag and clock. `cli`, `sti` and `rdtsc`
// appear only here, in the entry stubs and in the record path. Source: Intel SDM volume 2 (CLI, STI, PUSHF, RDTSC),
// volume 3 section 17.17 (time stamp counter).
#pragma once

#include "lib/units.hpp"

#include <cstdint>

#if REMORA_TSC != 1
#include "arch/x86_64/hpet.hpp"
#endif

namespace arch {

inline constexpr std::uint64_t kInterruptFlag = 1U << 9;

[[nodiscard]] inline std::uint64_t flags_register() {
    std::uint64_t flags = 0;
    asm volatile("pushfq; popq %0" : "=r"(flags) : : "memory");
    return flags;
}

// Disables interrupts; returns the former flags. Context: any.
[[nodiscard]] inline std::uint64_t irq_save() {
    const std::uint64_t flags = flags_register();
    asm volatile("cli" : : : "memory");
    return flags;
}

// Enables interrupts again if they were enabled. Context: any.
inline void irq_restore(std::uint64_t flags) {
    if ((flags & kInterruptFlag) != 0) {
        asm volatile("sti" : : : "memory");
    }
}

// Returns whether interrupts were on, according to the result of irq_save(). Context: any.
[[nodiscard]] inline bool irq_was_enabled(std::uint64_t flags) {
    return (flags & kInterruptFlag) != 0;
}

// Enables interrupts when a fresh task starts. Context: task.
inline void irq_enable() {
    asm volatile("sti" : : : "memory");
}

[[nodiscard]] inline bool interrupts_disabled() {
    return (flags_register() & kInterruptFlag) == 0;
}

#if REMORA_TSC == 1
// Returns the time stamp counter, not ordered against earlier loads: on one processor successive reads do not decrease.
[[nodiscard]] inline lib::Ticks timestamp() {
    std::uint32_t low = 0;
    std::uint32_t high = 0;
    asm volatile("rdtsc" : "=a"(low), "=d"(high) : : "memory");
    return {(static_cast<std::uint64_t>(high) << 32) | low};
}
#else
// With TSC = FALSE the high precision event timer is the kernel's clock.
[[nodiscard]] inline lib::Ticks timestamp() {
    return {x86_64::hpet_counter()};
}
#endif

} // namespace arch
