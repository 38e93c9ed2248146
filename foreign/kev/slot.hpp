// SPDX-License-Identifier: MIT
// A slot of a QNX .kev file has 16 bytes, four words of 32 bits in the byte order that the file's header names.
//
//   0                4                8                12               16
//   +----------------+----------------+----------------+----------------+
//   |     header     |     stamp      |     data 1     |     data 2     |
//   +----------------+----------------+----------------+----------------+
//   header:  31..30  29..24  23..15  14..10  9..0
//             kind    cpu      0     class  event
//
// An event with more than two data words takes several slots: begin, continue..., end, with the same processor, class,
// event and stamp; other slots may come between them. The stamp is the low half of a 64-bit clock. Source: QNX System
// Analysis Toolkit, "User Data Interpretation", and the contents of its files (docs/kev.md).
#pragma once

#include "lib/endian.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace host::formats::kev {

inline constexpr std::size_t kSlotBytes = 16;
inline constexpr std::size_t kWordsPerSlot = 2;
inline constexpr std::size_t kProcessorsMax = 64;
inline constexpr std::uint32_t kEventMax = 0x3FF; // greatest number of an event within its class
inline constexpr std::uint32_t kReservedBits = 0x00FF'8000;

enum class Kind : std::uint8_t {
    simple,
    begin,
    middle,
    end,
};

// The classes have the numbers in slots. Users of the published library know them by other ("external") numbers.
enum class Class : std::uint8_t {
    empty = 0,
    control = 1,
    kernel_call = 2,
    interrupt = 3,
    thread = 4, // and processes
    system = 5,
    user = 6,
    comm = 7,
};

inline constexpr std::uint8_t kClassLast = 7;

// These numbers are those of the control class.
inline constexpr std::uint16_t kControlTime = 1;   // data: high and low half of the clock
inline constexpr std::uint16_t kControlBuffer = 2; // data: number of the buffer, modulo 2048; slots in it
inline constexpr std::uint32_t kBufferModulus = 2048;

enum class ByteOrder : std::uint8_t { little, big };

struct Slot {
    std::uint32_t header = 0;
    std::uint32_t stamp = 0;
    std::uint32_t data[kWordsPerSlot] = {};

    friend bool operator==(const Slot&, const Slot&) = default;

    [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(header >> 30); }

    [[nodiscard]] constexpr std::uint8_t cpu() const { return (header >> 24) & 0x3F; }

    [[nodiscard]] constexpr std::uint8_t class_number() const { return (header >> 10) & 0x1F; }

    [[nodiscard]] constexpr std::uint16_t event() const { return header & kEventMax; }

    [[nodiscard]] constexpr bool is(Class of_class, std::uint16_t of_event) const {
        return class_number() == static_cast<std::uint8_t>(of_class) && event() == of_event;
    }

    // Returns what all slots of one event have in common, and no other slot.
    [[nodiscard]] constexpr std::uint64_t key() const {
        return (static_cast<std::uint64_t>(header & 0x3F00'7FFF) << 32) | stamp;
    }
};

static_assert(sizeof(Slot) == kSlotBytes);

// cpu: below kProcessorsMax; class: below 32; event: at most kEventMax. Higher bits are cut off.
[[nodiscard]] constexpr std::uint32_t make_header(Kind kind, std::uint32_t cpu, std::uint32_t class_number,
                                                  std::uint32_t event) {
    return (static_cast<std::uint32_t>(kind) << 30) | ((cpu & 0x3F) << 24) | ((class_number & 0x1F) << 10) |
           (event & kEventMax);
}

// Precondition: bytes.size() >= kSlotBytes.
[[nodiscard]] constexpr Slot decode_slot(std::span<const std::byte> bytes, ByteOrder order) {
    const auto word = [&](std::size_t index) {
        const auto at = bytes.subspan(4 * index);
        return order == ByteOrder::little ? lib::load_le<std::uint32_t>(at) : lib::load_be<std::uint32_t>(at);
    };
    return {word(0), word(1), {word(2), word(3)}};
}

} // namespace host::formats::kev
