// SPDX-License-Identifier: MIT
// Measures the rate of the time stamp counter against the available reference clocks. Each sample brackets the read of
// the reference between two reads of the TSC and keeps the tightest bracket. The minimum of several windows is taken,
// because a disturbance (mainly of an emulated machine) can only lengthen a window. A second reference checks the
// first; the difference is reported with the result, and exported with the trace.
//
//      TSC   a0   a1                              b0   b1
//            |--r--|          window              |--s--|        rate = (b - a) / (s - r)
//
// Sources: IA-PC HPET specification 1.0a; ACPI 6.4 section 4.8.3.3 (PM timer, 3.579545 MHz); Intel 8254 data sheet.
#pragma once

#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>

namespace arch::x86_64 {

enum class ReferenceClock : std::uint8_t {
    none = 0,
    pit = 1,
    pm_timer = 2,
    hpet = 3,
};

struct TscCalibration {
    lib::TickRate rate{};
    ReferenceClock source = ReferenceClock::none;
    ReferenceClock checked_by = ReferenceClock::none;
    std::uint32_t error_ppm = 0; // difference of the two, 0 if there was only one
};

struct ReferenceClocks {
    std::uint32_t hpet_khz = 0;      // 0: none; else started
    std::uint16_t pm_timer_port = 0; // 0: none
    bool pm_timer_32bit = false;
};

// Calibrates the TSC, which takes about 20 ms. not_found: no reference counts. Context: irq-off.
[[nodiscard]] lib::Result<TscCalibration> calibrate_tsc(const ReferenceClocks& clocks);

} // namespace arch::x86_64
