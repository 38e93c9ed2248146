// SPDX-License-Identifier: MIT
// Decodes the parts of the ACPI tables that the kernel uses: FADT, HPET, MADT, NFIT, and the value that switches the
// machine off, which is byte code in the DSDT. Context: any.
#pragma once

#include "drivers/acpi/tables.hpp"
#include "lib/endian.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace drivers::acpi {

// Lists the entries of a table up to a fixed capacity; entries that do not fit are counted.
template <typename T, std::size_t Capacity>
class BoundedList {
  public:
    constexpr BoundedList() = default;

    constexpr void add(const T& value) {
        if (m_size < Capacity) {
            m_values[m_size++] = value;
        } else {
            ++m_lost;
        }
    }

    [[nodiscard]] constexpr std::size_t size() const { return m_size; }

    // Returns the number of entries that did not fit.
    [[nodiscard]] constexpr std::uint32_t lost() const { return m_lost; }

    [[nodiscard]] constexpr const T& operator[](std::size_t index) const { return m_values[index]; }

    [[nodiscard]] constexpr T* begin() { return m_values.data(); }

    [[nodiscard]] constexpr T* end() { return m_values.data() + m_size; }

    [[nodiscard]] constexpr const T* begin() const { return m_values.data(); }

    [[nodiscard]] constexpr const T* end() const { return m_values.data() + m_size; }

  private:
    std::array<T, Capacity> m_values{};
    std::size_t m_size = 0;
    std::uint32_t m_lost = 0;
};

// A Generic Address Structure is the location of a register. Source: ACPI Specification 6.5, section 5.2.3.2.

enum class AddressSpace : std::uint8_t {
    memory = 0,
    io = 1,
    pci_configuration = 2,
    other = 0xFF, // embedded controller, SMBus, ...: not accessible here
};

struct GenericAddress {
    static constexpr std::size_t kBytes = 12;

    AddressSpace space = AddressSpace::other;
    std::uint8_t width_bits = 0;
    std::uint64_t address = 0; // 0: the register does not exist
};

// Reads a generic address, which takes kBytes.
[[nodiscard]] constexpr GenericAddress read_generic_address(lib::ByteReader& reader) {
    GenericAddress result;
    const auto space = reader.le<std::uint8_t>();
    result.space = space <= 2 ? static_cast<AddressSpace>(space) : AddressSpace::other;
    result.width_bits = reader.le<std::uint8_t>();
    reader.take(2); // bit offset, access size
    result.address = reader.le<std::uint64_t>();
    return result;
}

// The Fixed ACPI Description Table has the ports of power control and of the power management timer, the reset
// register, and the address of the DSDT. Source: ACPI Specification 6.5, section 5.2.9; the 116-byte table of ACPI 1.0
// is accepted.

enum class TimerWidth : std::uint8_t {
    bits_24 = 24,
    bits_32 = 32,
};

struct PmTimer { // counts at 3.579545 MHz
    std::uint16_t port = 0;
    TimerWidth width = TimerWidth::bits_24;
};

struct ResetRegister {
    GenericAddress where;   // io or memory, 8 bits wide
    std::uint8_t value = 0; // write this to reset the machine
};

// To switch the machine from legacy to ACPI mode if SCI_EN is 0, `value` is written to `port`.
struct AcpiEnable {
    std::uint16_t port = 0;
    std::uint8_t value = 0;
};

struct Fadt {
    std::uint64_t dsdt_address = 0;
    std::uint16_t sci_interrupt = 0;
    std::optional<std::uint16_t> pm1a_control_port; // 16-bit port; SLP_TYP in bits 12..10, SLP_EN bit 13, SCI_EN bit 0
    std::optional<std::uint16_t> pm1b_control_port; // most machines have none
    std::optional<PmTimer> pm_timer;
    std::optional<ResetRegister> reset;
    std::optional<AcpiEnable> acpi_enable;
};

inline constexpr Signature kFadtSignature = "FACP";

// Reads the table. corrupt: it is shorter than that of ACPI 1.0, or it has no DSDT.
[[nodiscard]] lib::Result<Fadt> parse_fadt(const Table& table);

// The HPET description table has the location of the registers of the High Precision Event Timer.
// Source: IA-PC HPET Specification 1.0a, section 3.2.4.

struct Hpet {
    std::uint64_t address = 0; // physical; 1 KiB of registers
    std::uint8_t number = 0;
    std::uint16_t minimum_tick = 0; // minimum period, in main counter ticks, without lost periodic interrupts
};

inline constexpr Signature kHpetSignature = "HPET";

// Reads the table. corrupt: it is too short, or the address is 0. unsupported: the registers are not in memory space.
[[nodiscard]] lib::Result<Hpet> parse_hpet(const Table& table);

// The Multiple APIC Description Table lists processors, I/O APICs, and the wiring of the ISA interrupts to them.
// Source: ACPI Specification 6.5, section 5.2.12; wiring flags: table 5.26 (as in the MultiProcessor Specification).

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
    bool enabled = false; // otherwise it could be enabled later, which this kernel does not do
};

struct IoApic {
    std::uint8_t id = 0;
    std::uint32_t address = 0;  // physical
    std::uint32_t gsi_base = 0; // the global number of its input 0
};

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

    // Returns the input of an ISA interrupt: that of an override, else the one of the same number, edge, active high.
    // Precondition: isa_irq <= 15.
    [[nodiscard]] InterruptLine isa_line(std::uint8_t isa_irq) const;
};

inline constexpr Signature kMadtSignature = "APIC";

// Fills `madt`, which is too large to pass through a kernel stack twice. Entries of unknown kind are skipped. corrupt:
// an entry is too short or does not fit, or an override has a reserved value; `madt` then has the entries before the
// damage and must not be used. Precondition: `madt` is new.
[[nodiscard]] lib::Result<void> parse_madt(const Table& table, Madt& madt);

// The NVDIMM Firmware Interface Table is reduced here to the physical addresses of persistent memory and to whether the
// modules there keep what is written. Source: ACPI Specification 6.5, section 5.2.25 (structure types 0, System
// Physical Address Range, and 1, NVDIMM Region Mapping).

struct PersistentRange {
    std::uint64_t address = 0; // physical
    std::uint64_t size_bytes = 0;
    std::uint16_t index = 0; // region mappings refer to it by this
    std::uint16_t state = 0; // NVDIMM state flags of all its modules
};

// Returns why the range does not keep what is written, as part of a sentence, or nothing if nothing is known against
// it.
[[nodiscard]] std::string_view persistence_defect(const PersistentRange& range);

struct Nfit {
    BoundedList<PersistentRange, 8> ranges; // in the table's order; other kinds of range are not listed
};

inline constexpr Signature kNfitSignature = "NFIT";

// Reads the table. corrupt: a structure is too short or does not fit, or a range is empty or wraps.
[[nodiscard]] lib::Result<Nfit> parse_nfit(const Table& table);

// The \_S5_ package of the DSDT (or of an SSDT) has the value to write to PM1_CNT to switch the machine off. This is
// not an AML interpreter: it searches the code for the one definition `Name (_S5_, Package () { ... })` and checks
// every byte. Source: ACPI Specification 6.5, sections 7.4.2 (\_Sx), 20.2.4 (package length), 20.2.5.4 (package).
//
//   08  [5C]  5F 53 35 5F   12   length(1..4)  count   element ...
//   Name  \   "_S5_"      Package

struct SleepType {
    std::uint8_t pm1a = 0; // 0..7, for bits 12..10
    std::uint8_t pm1b = 0;
};

// Searches byte code. not_found: it has no definition. corrupt: the definition does not have numbers 0..7.
[[nodiscard]] lib::Result<SleepType> parse_soft_off(std::span<const std::byte> aml);

// Searches the DSDT, then the SSDTs. The errors are those of parse_soft_off(), and those of reading the DSDT.
[[nodiscard]] lib::Result<SleepType> find_soft_off(const Tables& tables, std::uint64_t dsdt_address);

} // namespace drivers::acpi
