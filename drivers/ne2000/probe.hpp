// SPDX-License-Identifier: MIT
// Detects an NE2000 at an I/O base and reads its address; finds the I/O base of the PCI variety. Probing ends within
// 100 ms for any result: an empty bus, another card, or a defective NE2000. Source: DP8390D data sheet; the PROM layout
// is the NE2000 board's: sixteen bytes, each read twice, 57h 57h at the end.
#pragma once

#include "drivers/ne2000/chip.hpp"
#include "drivers/net/address.hpp"
#include "drivers/pci.hpp"
#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace drivers::ne2000 {

inline constexpr std::uint16_t kIsaBase = 0x300; // the factory setting of the cards
inline constexpr PciId kPciId{0x10EC, 0x8029};   // RTL8029

// Finds the first RTL8029, enables its I/O decoder and returns its first port. not_found: the bus has no such function.
// corrupt: its first base address is not an I/O range of the right kind.
template <PortIo Ports>
[[nodiscard]] lib::Result<std::uint16_t> locate_on_pci(PciConfig<Ports>& pci) {
    const auto address = pci.find(kPciId);
    if (!address) {
        return address.error();
    }
    const auto bar = pci.bar(address.value(), 0);
    if (!bar || bar.value().space != PciSpace::io || bar.value().base > 0x1'0000 - kPorts) {
        return lib::Error::corrupt;
    }
    pci.enable(address.value(), PciConfig<Ports>::kCommandIo);
    return static_cast<std::uint16_t>(bar.value().base);
}

// Holds the sixteen PROM bytes as they are read: each one twice.
using PromImage = std::array<std::byte, 32>;

// Decodes the PROM. corrupt: the bytes are not doubled, the signature is missing, or the address is not that of a
// single card.
[[nodiscard]] lib::Result<net::MacAddress> decode_prom(const PromImage& image_untrusted);

// Resets the card and reads its address. Afterwards it is stopped, in loopback, with all interrupts masked. not_found:
// no device with the behaviour of a DP8390 answers. corrupt: one does, but its PROM is not an NE2000's. timeout: its
// remote DMA does not complete.
template <PortIo Ports>
[[nodiscard]] lib::Result<net::MacAddress> probe(Chip<Ports>& chip) {
    constexpr std::uint8_t kFloatingBus = 0xFF;
    if (chip.read(kRegCR) == kFloatingBus || !chip.reset()) {
        return lib::Error::not_found;
    }
    chip.command(kCommandStop);
    if (chip.read(kRegCR) != kCommandStop) {
        return lib::Error::not_found;
    }
    chip.set_width(DataWidth::byte8);
    chip.write(kRegDCR, kDcrBytes);
    chip.write(kRegRBCR0, 0);
    chip.write(kRegRBCR1, 0);
    chip.write(kRegRCR, kRcrMON);
    chip.write(kRegTCR, kTcrLoop1);
    chip.write(kRegIMR, 0);

    PromImage image{};
    const auto read = chip.read_memory(0, image);
    chip.command(kCommandStop);
    if (!read) {
        return read.error();
    }
    return decode_prom(image);
}

} // namespace drivers::ne2000
