// SPDX-License-Identifier: MIT
// The Multiple APIC Description Table: processors, I/O APICs, and the wiring of the ISA interrupts to them.
// Source: ACPI Specification 6.5, section 5.2.12; wiring flags: table 5.26 (as in the MultiProcessor Specification).
#pragma once

#include "drivers/acpi/bounded_list.hpp"
#include "drivers/acpi/table.hpp"

namespace drivers::acpi {

enum class Polarity : std::uint8_t {
    active_high,
    active_low,
};

enum class Trigger : std::uint8_t {
    edge,
    level,
};

struct Processor {
    std::uint32_t apic_id = 0;
    bool enabled = false; // else it could be enabled later, which this kernel does not do
};

struct IoApic {
    std::uint8_t id = 0;
    std::uint32_t address = 0;  // physical
    std::uint32_t gsi_base = 0; // the global number of its input 0
};

// One interrupt input of the machine.
struct InterruptLine {
    std::uint32_t gsi = 0;
    Polarity polarity = Polarity::active_high;
    Trigger trigger = Trigger::edge;
};

struct InterruptOverride {
    std::uint8_t isa_irq = 0; // 0..15
    InterruptLine line;
};

struct Madt {
    std::uint64_t local_apic_address = 0;
    bool has_legacy_pics = false; // two 8259s that must be masked
    BoundedList<Processor, 64> processors;
    BoundedList<IoApic, 8> io_apics;
    BoundedList<InterruptOverride, 24> overrides;

    // Returns the input of an ISA interrupt: as overridden, else the input of the same number, edge, active high.
    // Precondition: isa_irq <= 15.
    [[nodiscard]] InterruptLine isa_line(std::uint8_t isa_irq) const;
};

inline constexpr Signature kMadtSignature = "APIC";

// Fills `madt`, which is too large to pass through a kernel stack twice. Entries of unknown kind are skipped. corrupt:
// an entry is too short or does not fit, or an override has a reserved value; `madt` then has the entries before the
// damage and must not be used. Precondition: `madt` is new.
[[nodiscard]] lib::Result<void> parse_madt(const Table& table, Madt& madt);

} // namespace drivers::acpi
