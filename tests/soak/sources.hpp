// SPDX-License-Identifier: MIT
// The sources of records in the soak, and the contents of a record. Each of the three contexts (program, lower
// interrupt, upper interrupt) numbers its events; number and source determine the other fields, so that a record mixed
// from two is detected. Long events repeat the number in each slot and count the slots.
#pragma once

#include "tracer/log.hpp"
#include "tracer/record/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace soak {

inline constexpr std::size_t kSources = 3;
inline constexpr std::uint32_t kLongSlotsMax = 64;

inline constexpr std::array<std::uint16_t, kSources> kCodes = {
    tracer::event_code("user_event_0"), tracer::event_code("user_event_1"), tracer::event_code("user_event_2")};

// par1 of a slot: every bit depends on number, source and slot.
[[nodiscard]] constexpr std::uint16_t checksum(std::size_t source, std::uint32_t serial, std::uint32_t slot) {
    std::uint32_t mixed =
        serial * 0x9E37'79B1U + static_cast<std::uint32_t>(source) * 0x85EB'CA77U + slot * 0xC2B2'AE3DU;
    mixed ^= mixed >> 15;
    return static_cast<std::uint16_t>((mixed * 0x27D4'EB2FU) >> 16);
}

// The number of slots of the event with this number: occasionally a long one.
[[nodiscard]] constexpr std::uint32_t slots_of(std::size_t source, std::uint32_t serial) {
    const std::uint16_t dice = checksum(source, serial, 999);
    return dice % 61 != 0 ? 1 : 1 + dice / 61 % (dice % 7 == 0 ? kLongSlotsMax : 6);
}

class Source {
  public:
    constexpr explicit Source(std::size_t number)
        : m_number(number) {}

    [[nodiscard]] std::uint32_t next_serial() const { return m_next_serial; }

    [[nodiscard]] std::uint64_t slots() const { return m_slots; } // attempted

    // Only by its own context.
    void log() {
        const std::uint32_t serial = m_next_serial++;
        const std::uint32_t count = slots_of(m_number, serial);
        m_slots += count;
        if (count == 1) {
            tracer::detail::record(kCodes[m_number], checksum(m_number, serial, 0), serial);
        } else {
            log_long(serial, count);
        }
    }

  private:
    void log_long(std::uint32_t serial, std::uint32_t count) {
        for (std::uint32_t i = 0; i < count; ++i) {
            const auto combine = i == 0           ? tracer::Combine::first
                                 : i + 1 == count ? tracer::Combine::last
                                                  : tracer::Combine::middle;
            m_event[i] = {.code = static_cast<std::uint16_t>(kCodes[m_number] | static_cast<std::uint16_t>(combine)),
                          .par1 = checksum(m_number, serial, i),
                          .par2 = serial};
        }
        tracer::detail::record_long(m_event.data(), count);
    }

    std::size_t m_number;
    std::uint32_t m_next_serial = 0;
    std::uint64_t m_slots = 0;
    std::array<tracer::Record, kLongSlotsMax> m_event{};
};

} // namespace soak
