// SPDX-License-Identifier: MIT
// Tests whether a card's data port takes accesses of a width: data that they write must be read by accesses that are
// known to work, and the reverse. Some cards and bridges ignore half of a double word, or complete no transfer with
// them. A frame would then be damaged without a sign, because the card's CRC covers the data that it got. Context: that
// of Chip.
#pragma once

#include "drivers/ne2000/chip.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace drivers::ne2000 {

// Returns the width with which `width` is compared. Every card for a 16-bit slot is built for words; where they do not
// work either, only bytes can show whether there is memory at all.
constexpr DataWidth known_width(DataWidth width) {
    return width == DataWidth::dword32 ? DataWidth::word16 : width;
}

// Tries a width. It overwrites kTriedBytes of buffer memory from `address` on; the chip's width is `width` afterwards.
// After a false answer the card must be reset, because a transfer may not have completed. Precondition: DCR is that of
// the width.
inline constexpr std::size_t kTriedBytes = 64;

template <PortIo Ports>
[[nodiscard]] bool takes_width(Chip<Ports>& chip, std::uint16_t address, DataWidth width) {
    using Bytes = std::array<std::byte, kTriedBytes - 1>; // the last unit is not whole
    const auto passes = [&](DataWidth writing, DataWidth reading, std::uint8_t seed) {
        Bytes written{};
        for (std::byte& byte : written) {
            byte = std::byte{seed = static_cast<std::uint8_t>(seed * 5 + 113)}; // bytes of all kinds, in no order
        }
        Bytes read{};
        chip.set_width(writing);
        const bool completed = chip.write_memory(address, written, 0).ok();
        chip.set_width(reading);
        return completed && chip.read_memory(address, read).ok() && read == written;
    };
    const DataWidth known = known_width(width);
    const bool taken = passes(width, known, 1) && passes(known, width, 2);
    chip.set_width(width);
    return taken;
}

} // namespace drivers::ne2000
