// SPDX-License-Identifier: MIT
// Accesses PCI configuration space by mechanism #1 (address port CF8h, data port CFCh): reads and writes registers,
// finds a function, decodes its base addresses, switches its decoders on. Firmware has assigned buses and addresses;
// nothing is assigned here. Source: PCI Local Bus Specification 3.0, sections 3.2.2.3.2, 6.1 and 6.2.
//
//   31  30..24  23..16  15..11   10..8    7..2     1..0
//   +---+------+-------+--------+--------+--------+----+
//   | 1 |  0   |  bus  | device |function|register| 00 |     written to CF8h; CFCh then is that register
//   +---+------+-------+--------+--------+--------+----+
//
// The two ports are one resource: they are used at start-up or with interrupts off, by one processor at a time.
#pragma once

#include "drivers/port_io.hpp"
#include "lib/assert.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace drivers {

struct PciAddress {
    std::uint8_t bus = 0;
    std::uint8_t device = 0;   // 0..31
    std::uint8_t function = 0; // 0..7

    friend constexpr bool operator==(PciAddress, PciAddress) = default;
};

struct PciId {
    std::uint16_t vendor = 0;
    std::uint16_t device = 0;

    friend constexpr bool operator==(PciId, PciId) = default;
};

enum class PciSpace : std::uint8_t { io, memory };

struct PciBar {
    PciSpace space = PciSpace::memory;
    std::uint64_t base = 0;
};

template <PortIo Ports>
class PciConfig {
  public:
    static constexpr std::uint8_t kBarsMax = 6;

    static constexpr std::uint16_t kCommandIo = 0x0001;
    static constexpr std::uint16_t kCommandMemory = 0x0002;

    constexpr explicit PciConfig(Ports& ports)
        : m_ports(ports) {}

    PciConfig(const PciConfig&) = delete;
    PciConfig& operator=(const PciConfig&) = delete;

    // Reads a register. Offsets must be aligned to the width of the access. An absent function reads as ones.
    [[nodiscard]] std::uint32_t read32(PciAddress address, std::uint8_t offset) {
        ASSERT(offset % 4 == 0);
        select(address, offset);
        return m_ports.in32(kDataPort);
    }

    [[nodiscard]] std::uint16_t read16(PciAddress address, std::uint8_t offset) {
        ASSERT(offset % 2 == 0);
        select(address, offset);
        return m_ports.in16(data_port(offset));
    }

    [[nodiscard]] std::uint8_t read8(PciAddress address, std::uint8_t offset) {
        select(address, offset);
        return m_ports.in8(data_port(offset));
    }

    void write16(PciAddress address, std::uint8_t offset, std::uint16_t value) {
        ASSERT(offset % 2 == 0);
        select(address, offset);
        m_ports.out16(data_port(offset), value);
    }

    // Calls visit(address, id) for each existing function, in ascending order, until it returns true; returns false if
    // it never does. Buses are reached through bridges, so an empty machine costs one bus, not 256. The buses are
    // visited once, in ascending order, so a bridge that leads back is not followed: the search ends for any register
    // contents.
    template <typename Visit>
    bool scan(Visit visit) {
        std::array<bool, kBuses> reachable{};
        reachable[0] = true;
        note_root_buses(reachable);
        for (std::size_t bus = 0; bus < kBuses; ++bus) {
            if (reachable[bus] && scan_bus(static_cast<std::uint8_t>(bus), reachable, visit)) {
                return true;
            }
        }
        return false;
    }

    // Returns the first function with this id. not_found: there is none, or no PCI.
    [[nodiscard]] lib::Result<PciAddress> find(PciId wanted) {
        PciAddress found;
        const bool exists = scan([&](PciAddress address, PciId id) {
            found = address;
            return id == wanted;
        });
        if (!exists) {
            return lib::Error::not_found;
        }
        return found;
    }

    // Returns a base address of a function. invalid_argument: the index is not below kBarsMax. not_found: the register
    // is not in use or has no address. corrupt: a 64-bit base would need a seventh register.
    [[nodiscard]] lib::Result<PciBar> bar(PciAddress address, std::uint8_t index) {
        if (index >= kBarsMax) {
            return lib::Error::invalid_argument;
        }
        const std::uint32_t low = read32(address, bar_offset(index));
        if ((low & kBarIo) != 0) {
            return present({PciSpace::io, low & ~std::uint32_t{0x3}});
        }
        PciBar bar{PciSpace::memory, low & ~std::uint32_t{0xF}};
        if ((low & kBarTypeMask) == kBarType64) {
            if (index + 1 == kBarsMax) {
                return lib::Error::corrupt;
            }
            const std::uint64_t high = read32(address, bar_offset(static_cast<std::uint8_t>(index + 1)));
            bar.base |= high << 32;
        }
        return present(bar);
    }

    // Sets these bits of the command register and leaves the others.
    void enable(PciAddress address, std::uint16_t command_bits) {
        const std::uint16_t command = read16(address, kCommandOffset);
        write16(address, kCommandOffset, static_cast<std::uint16_t>(command | command_bits));
    }

  private:
    static constexpr std::uint16_t kAddressPort = 0xCF8;
    static constexpr std::uint16_t kDataPort = 0xCFC;
    static constexpr std::uint32_t kAddressEnable = 0x8000'0000;

    static constexpr std::size_t kBuses = 256;
    static constexpr std::uint8_t kDevices = 32;
    static constexpr std::uint8_t kFunctions = 8;

    static constexpr std::uint8_t kIdOffset = 0x00;
    static constexpr std::uint8_t kCommandOffset = 0x04;
    static constexpr std::uint8_t kHeaderTypeOffset = 0x0E;
    static constexpr std::uint8_t kHeaderTypeMask = 0x7F;
    static constexpr std::uint8_t kHeaderTypeBridge = 0x01;
    static constexpr std::uint8_t kHeaderMultiFunction = 0x80;
    static constexpr std::uint8_t kBarOffset = 0x10;
    static constexpr std::uint32_t kBarIo = 0x1;
    static constexpr std::uint32_t kBarTypeMask = 0x6;
    static constexpr std::uint32_t kBarType64 = 0x4;
    static constexpr std::uint8_t kSecondaryBusOffset = 0x19; // bridges only

    static constexpr std::uint16_t kNoVendor = 0xFFFF;

    static constexpr std::uint16_t data_port(std::uint8_t offset) {
        return static_cast<std::uint16_t>(kDataPort + offset % 4);
    }

    static constexpr std::uint8_t bar_offset(std::uint8_t index) {
        return static_cast<std::uint8_t>(kBarOffset + 4 * index);
    }

    static lib::Result<PciBar> present(const PciBar& bar) {
        if (bar.base == 0) {
            return lib::Error::not_found;
        }
        return bar;
    }

    void select(PciAddress address, std::uint8_t offset) {
        ASSERT(address.device < kDevices && address.function < kFunctions);
        m_ports.out32(kAddressPort, kAddressEnable | std::uint32_t{address.bus} << 16 |
                                        std::uint32_t{address.device} << 11 | std::uint32_t{address.function} << 8 |
                                        (offset & 0xFCU));
    }

    [[nodiscard]] PciId id(PciAddress address) {
        const std::uint32_t word = read32(address, kIdOffset);
        return {static_cast<std::uint16_t>(word), static_cast<std::uint16_t>(word >> 16)};
    }

    // A host bridge with several functions has one root bus per function.
    void note_root_buses(std::array<bool, kBuses>& reachable) {
        const PciAddress host_bridge{0, 0, 0};
        if (id(host_bridge).vendor == kNoVendor ||
            (read8(host_bridge, kHeaderTypeOffset) & kHeaderMultiFunction) == 0) {
            return;
        }
        for (std::uint8_t function = 1; function < kFunctions; ++function) {
            const PciAddress address{0, 0, function};
            if (id(address).vendor != kNoVendor) {
                reachable[function] = true;
            }
        }
    }

    template <typename Visit>
    bool scan_bus(std::uint8_t bus, std::array<bool, kBuses>& reachable, Visit& visit) {
        for (std::uint8_t device = 0; device < kDevices; ++device) {
            // Without the multi-function bit only function 0 is decoded: the others may mirror it.
            std::uint8_t functions = 1;
            for (std::uint8_t function = 0; function < functions; ++function) {
                const PciAddress address{bus, device, function};
                const PciId found = id(address);
                if (found.vendor == kNoVendor) {
                    continue; // without function 0 there is no device, else a gap in the functions
                }
                const std::uint8_t header_type = read8(address, kHeaderTypeOffset);
                if (function == 0 && (header_type & kHeaderMultiFunction) != 0) {
                    functions = kFunctions;
                }
                if (visit(address, found)) {
                    return true;
                }
                if ((header_type & kHeaderTypeMask) == kHeaderTypeBridge) {
                    reachable[read8(address, kSecondaryBusOffset)] = true;
                }
            }
        }
        return false;
    }

    Ports& m_ports;
};

} // namespace drivers
