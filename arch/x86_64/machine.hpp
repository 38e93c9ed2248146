// SPDX-License-Identifier: MIT
// The machine starts in two steps. start_processor() needs only memory: it sets up our own tables and stacks, so that
// faults are reported. start_devices() needs the firmware's tables about interrupt controllers and timers. The caller
// (kernel/root/) reads those tables; this folder does not use ACPI.
#pragma once

#include "arch/x86_64/io_apic.hpp"
#include "arch/x86_64/local_apic.hpp"
#include "arch/x86_64/tsc.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace arch::x86_64 {

inline constexpr std::size_t kIoApicsMax = 4;
inline constexpr std::size_t kIsaLines = 16;

struct IoApicDescription {
    std::uint64_t base = 0;
    std::uint32_t line_base = 0;
};

struct IsaRoute {
    std::uint32_t global_line = 0;
    LineMode mode{};
};

struct MachineDescription {
    std::uint64_t local_apic_base = kLocalApicDefaultBase;
    std::array<IoApicDescription, kIoApicsMax> io_apics{};
    std::size_t io_apic_count = 0; // 0: the 8259A pair serves the lines
    std::array<IsaRoute, kIsaLines> isa_routes{};
    std::uint64_t hpet_base = 0;     // 0: none
    std::uint16_t pm_timer_port = 0; // 0: none
    bool pm_timer_32bit = false;
};

// Sets up segments, interrupt table, page tables and the per-processor base. GS points to per_cpu_base, which has the
// tracer's per-processor words. Context: irq-off, once, first of all.
void start_processor(void* per_cpu_base);

// Starts interrupt controllers and clocks, and returns the result of the calibration. not_found: no reference clock
// answers.
[[nodiscard]] lib::Result<TscCalibration> start_devices(const MachineDescription& machine);

// Returns whether any line is unmasked, so that an interrupt from outside may come. Context: any.
[[nodiscard]] bool any_line_open();

// Routes a line, which no driver may use, as an NMI. not_found: no I/O APIC in use serves it. Context: irq-off.
[[nodiscard]] lib::Result<void> route_nmi(std::uint32_t global_line);

} // namespace arch::x86_64
