// SPDX-License-Identifier: MIT
// The processor of hosted tests is an interrupt flag and a clock of virtual nanoseconds that advances only when a test
// moves it (fake_machine.hpp). Code takes no time here, so schedules are exactly as computed by hand.
#pragma once

#include "lib/units.hpp"

#include <cstdint>

namespace arch {

struct FakeCpu {
    bool interrupts_on = false;
    std::uint64_t time = 0;
    void (*on_interrupts_enabled)() = nullptr; // delivers due interrupts; null while there can be none
};

inline constinit FakeCpu fake_cpu;

[[nodiscard]] inline std::uint64_t irq_save() {
    const bool were_on = fake_cpu.interrupts_on;
    fake_cpu.interrupts_on = false;
    return were_on ? 1 : 0;
}

inline void irq_enable() {
    fake_cpu.interrupts_on = true;
    if (fake_cpu.on_interrupts_enabled != nullptr) {
        fake_cpu.on_interrupts_enabled();
    }
}

inline void irq_restore(std::uint64_t state) {
    if (state != 0) {
        irq_enable();
    }
}

[[nodiscard]] inline bool irq_was_enabled(std::uint64_t state) {
    return state != 0;
}

[[nodiscard]] inline bool interrupts_disabled() {
    return !fake_cpu.interrupts_on;
}

[[nodiscard]] inline lib::Ticks timestamp() {
    return {fake_cpu.time};
}

} // namespace arch
