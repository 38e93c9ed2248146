// SPDX-License-Identifier: MIT
// Machine start-up in two steps. start_processor() needs only memory (own tables, own stacks: faults are reported from
// here on). start_devices() needs the firmware's tables about interrupt controllers and timers. The caller
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

// The actual route of an ISA interrupt line.
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

// Segments, interrupt table, page tables, per-processor base. irq-off, once, first of all.
// per_cpu_base: what GS points to; it holds the tracer's per-processor words.
void start_processor(void* per_cpu_base);

// Interrupt controllers and clocks. Returns the result of the calibration; not_found if no reference clock answers.
[[nodiscard]] lib::Result<TscCalibration> start_devices(const MachineDescription& machine);

// Whether any line is unmasked: an interrupt from outside may come. Context: any.
[[nodiscard]] bool any_line_open();

// The line, which no driver may use, becomes an NMI. not_found: no I/O APIC in use serves it. irq-off.
[[nodiscard]] lib::Result<void> route_nmi(std::uint32_t global_line);

} // namespace arch::x86_64
