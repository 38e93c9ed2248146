// SPDX-License-Identifier: MIT
#include "kernel/root/firmware.hpp"

#include "arch/arch.hpp"
#include "drivers/acpi/contents.hpp"
#include "kernel/panic/console.hpp"

namespace kernel::root {

namespace {

namespace acpi = drivers::acpi;

// Reads physical memory through the identity map. Every page of a range must be present.
class IdentityMap final : public acpi::PhysicalMemory {
  public:
    constexpr IdentityMap() = default;

    [[nodiscard]] lib::Result<std::span<const std::byte>> map(std::uint64_t address,
                                                              std::size_t size_bytes) const override {
        constexpr std::uint64_t kPage = 4096;
        const std::uint64_t end = address + size_bytes;
        if (address == 0 || end < address) {
            return lib::Error::not_found;
        }
        for (std::uint64_t page = address & ~(kPage - 1); page < end; page += kPage) {
            if (!arch::readable(page)) {
                return lib::Error::not_found;
            }
        }
        return std::span(reinterpret_cast<const std::byte*>(address), size_bytes);
    }
};

constinit IdentityMap g_memory{};
constinit Firmware g_found{};
constinit acpi::Madt g_madt{};

void report_table(std::string_view table, lib::Error error) {
    console().line("firmware: ACPI table ", table, ": ", lib::error_name(error));
}

// Finds and parses one table. It is reported on the console if it is damaged, or if it is missing and `required`.
template <typename Parse>
auto parse_table(const acpi::Tables& tables, acpi::Signature signature, bool required, Parse parse)
    -> decltype(parse(acpi::Table{})) {
    const auto table = tables.find(signature);
    auto parsed = table.ok() ? parse(table.value()) : decltype(parse(acpi::Table{}))(table.error());
    if (!parsed.ok() && (required || parsed.error() != lib::Error::not_found)) {
        report_table(std::string_view(signature.text.data(), signature.text.size()), parsed.error());
    }
    return parsed;
}

void describe_interrupts(const acpi::Madt& madt) {
    arch::x86_64::MachineDescription& machine = g_found.machine;
    machine.local_apic_base = madt.local_apic_address;
    for (const acpi::IoApic& apic : madt.io_apics) {
        if (machine.io_apic_count < arch::x86_64::kIoApicsMax) {
            machine.io_apics[machine.io_apic_count++] = {apic.address, apic.gsi_base};
        }
    }
    for (std::uint8_t irq = 0; irq < arch::x86_64::kIsaLines; ++irq) {
        const acpi::InterruptLine line = madt.isa_line(irq);
        machine.isa_routes[irq] = {
            line.gsi,
            {.level = line.trigger == acpi::Trigger::level, .active_low = line.polarity == acpi::Polarity::active_low}};
    }
}

void describe_power(const acpi::Tables& tables, const acpi::Fadt& fadt) {
    if (fadt.pm_timer) {
        g_found.machine.pm_timer_port = fadt.pm_timer->port;
        g_found.machine.pm_timer_32bit = fadt.pm_timer->width == acpi::TimerWidth::bits_32;
    }
    const auto soft_off = acpi::find_soft_off(tables, fadt.dsdt_address);
    if (!soft_off.ok()) {
        report_table("DSDT (_S5_)", soft_off.error());
    } else if (fadt.pm1a_control_port) {
        g_found.power_off = PowerOff{*fadt.pm1a_control_port, soft_off.value().pm1a};
    }
}

void assume_a_plain_pc() {
    for (std::uint8_t irq = 0; irq < arch::x86_64::kIsaLines; ++irq) {
        g_found.machine.isa_routes[irq] = {irq, {}};
    }
}

} // namespace

const Firmware& read_firmware(const arch::BootInfo& boot) {
    assume_a_plain_pc();
    const auto tables = acpi::Tables::open(g_memory, boot.rsdp_address);
    if (!tables.ok()) {
        report_table("RSDP", tables.error());
        return g_found;
    }
    const auto madt = parse_table(tables.value(), acpi::kMadtSignature, true,
                                  [](const acpi::Table& table) { return acpi::parse_madt(table, g_madt); });
    if (madt.ok()) {
        describe_interrupts(g_madt);
    }
    const auto fadt = parse_table(tables.value(), acpi::kFadtSignature, true, acpi::parse_fadt);
    if (fadt.ok()) {
        describe_power(tables.value(), fadt.value());
    }
    const auto hpet = parse_table(tables.value(), acpi::kHpetSignature, false, acpi::parse_hpet);
    if (hpet.ok()) {
        g_found.machine.hpet_base = hpet.value().address;
    }
    const auto nfit = parse_table(tables.value(), acpi::kNfitSignature, false, acpi::parse_nfit);
    if (nfit.ok() && nfit.value().ranges.size() != 0) {
        g_found.persistent_memory = nfit.value().ranges[0];
    }
    return g_found;
}

} // namespace kernel::root
