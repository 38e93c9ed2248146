// SPDX-License-Identifier: MIT
// The FADT's fields by offset. Each register is given twice: as a 32-bit port (since ACPI 1.0) and as a generic address
// (since 2.0), which takes precedence if it is not zero. See fadt.hpp.
#include "drivers/acpi/fadt.hpp"

namespace drivers::acpi {

namespace {

constexpr std::size_t kBytesMin = 116;
constexpr std::size_t kOffsetDsdt = 40;
constexpr std::size_t kOffsetSciInterrupt = 46;
constexpr std::size_t kOffsetSmiCommand = 48;
constexpr std::size_t kOffsetAcpiEnable = 52;
constexpr std::size_t kOffsetPm1aControl = 64;
constexpr std::size_t kOffsetPm1bControl = 68;
constexpr std::size_t kOffsetPmTimer = 76;
constexpr std::size_t kOffsetFlags = 112;
constexpr std::uint32_t kFlagTimer32 = 1U << 8;
constexpr std::uint32_t kFlagResetRegister = 1U << 10;
constexpr std::size_t kOffsetResetRegister = 116;
constexpr std::size_t kOffsetResetValue = 128;
constexpr std::size_t kOffsetXDsdt = 140;
constexpr std::size_t kOffsetXPm1aControl = 172;
constexpr std::size_t kOffsetXPm1bControl = 184;
constexpr std::size_t kOffsetXPmTimer = 208;

// Returns the field, or 0 if the table is too short to contain it: 0 means "absent" for every optional field.
template <std::unsigned_integral T>
T field(const Table& table, std::size_t offset) {
    return offset + sizeof(T) <= table.bytes.size() ? lib::load_le<T>(table.bytes.subspan(offset)) : T{0};
}

GenericAddress address_field(const Table& table, std::size_t offset) {
    if (offset + GenericAddress::kBytes > table.bytes.size()) {
        return {};
    }
    lib::ByteReader reader(table.bytes.subspan(offset));
    return read_generic_address(reader);
}

std::optional<std::uint16_t> port_field(const Table& table, std::size_t offset, std::size_t extended_offset) {
    const GenericAddress extended = address_field(table, extended_offset);
    if (extended.space == AddressSpace::io && extended.address != 0 && extended.address <= 0xFFFF) {
        return static_cast<std::uint16_t>(extended.address);
    }
    const auto port = field<std::uint32_t>(table, offset);
    if (port != 0 && port <= 0xFFFF) {
        return static_cast<std::uint16_t>(port);
    }
    return std::nullopt;
}

std::optional<ResetRegister> reset_register(const Table& table) {
    ResetRegister reset;
    reset.where = address_field(table, kOffsetResetRegister);
    reset.value = field<std::uint8_t>(table, kOffsetResetValue);
    const bool reachable = (reset.where.space == AddressSpace::io && reset.where.address <= 0xFFFF) ||
                           reset.where.space == AddressSpace::memory;
    const bool offered = (field<std::uint32_t>(table, kOffsetFlags) & kFlagResetRegister) != 0;
    if (!offered || !reachable || reset.where.address == 0 || reset.where.width_bits != 8) {
        return std::nullopt;
    }
    return reset;
}

} // namespace

lib::Result<Fadt> parse_fadt(const Table& table) {
    if (table.signature != kFadtSignature || table.bytes.size() < kBytesMin) {
        return lib::Error::corrupt;
    }
    Fadt fadt;
    const auto extended_dsdt = field<std::uint64_t>(table, kOffsetXDsdt);
    fadt.dsdt_address = extended_dsdt != 0 ? extended_dsdt : field<std::uint32_t>(table, kOffsetDsdt);
    if (fadt.dsdt_address == 0) {
        return lib::Error::corrupt;
    }
    fadt.sci_interrupt = field<std::uint16_t>(table, kOffsetSciInterrupt);
    fadt.pm1a_control_port = port_field(table, kOffsetPm1aControl, kOffsetXPm1aControl);
    fadt.pm1b_control_port = port_field(table, kOffsetPm1bControl, kOffsetXPm1bControl);
    if (const auto port = port_field(table, kOffsetPmTimer, kOffsetXPmTimer)) {
        const bool wide = (field<std::uint32_t>(table, kOffsetFlags) & kFlagTimer32) != 0;
        fadt.pm_timer = PmTimer{.port = *port, .width = wide ? TimerWidth::bits_32 : TimerWidth::bits_24};
    }
    fadt.reset = reset_register(table);
    const auto smi_command = field<std::uint32_t>(table, kOffsetSmiCommand);
    const auto enable = field<std::uint8_t>(table, kOffsetAcpiEnable);
    if (smi_command != 0 && smi_command <= 0xFFFF && enable != 0) {
        fadt.acpi_enable = AcpiEnable{.port = static_cast<std::uint16_t>(smi_command), .value = enable};
    }
    return fadt;
}

} // namespace drivers::acpi
