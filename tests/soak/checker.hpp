// SPDX-License-Identifier: MIT
// Reads the chunks of one round in the order in which they were written and reports records that are torn, doubled, out
// of order or missing in the middle. It serves the hosted soak and the one in the guest; there the kernel's own
// interrupt records are included, and must be nested like interrupts.
#pragma once

#include "tests/soak/sources.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace soak {

class Checker {
  public:
    // Bytes of whole records, main areas one after the other.
    void read(std::span<const std::byte> bytes);

    // An emergency area: only the tracer's own records are allowed.
    void read_emergency(std::span<const std::byte> bytes);

    // Empty if there is no fault; else the first one, with the record and its number (from 1).
    [[nodiscard]] std::string_view fault() const { return m_fault; }

    [[nodiscard]] const tracer::Record& faulty_record() const { return m_faulty; }

    [[nodiscard]] std::uint64_t faulty_number() const { return m_faulty_number; }

    [[nodiscard]] std::uint64_t slots() const { return m_slots; } // of the sources

    [[nodiscard]] std::uint64_t tracer_made() const { return m_tracer_made; } // blackout_start and blackout_end

    [[nodiscard]] std::uint64_t reported_losses() const { return m_reported; } // by blackout_end records

    [[nodiscard]] std::uint64_t interrupt_records() const { return m_interrupt_records; }

    // Events missing between two of the same source, and the number of such gaps.
    [[nodiscard]] std::uint64_t gaps() const { return m_gaps; }

  private:
    struct Seen {
        bool any = false;
        std::uint32_t next = 0;
    };

    void begin(const tracer::Record& record);
    void check_continuation(const tracer::Record& record);
    void interrupt(const tracer::Record& record);
    void object(std::string_view what, const tracer::Record& record);

    std::array<Seen, kSources> m_seen{};
    lib::Ticks m_last_stamp;
    std::uint64_t m_read = 0;
    std::uint64_t m_slots = 0;
    std::uint64_t m_tracer_made = 0;
    std::uint64_t m_reported = 0;
    std::uint64_t m_gaps = 0;
    // Of the long event that is being read.
    std::size_t m_source = 0;
    std::uint32_t m_serial = 0;
    std::uint32_t m_count = 0;
    std::uint32_t m_slot = 0; // the next one; 0: none is being read
    // Active interrupts, by their records.
    std::array<std::uint16_t, 4> m_vectors{};
    std::size_t m_depth = 0;
    bool m_depth_known = false; // once a record of the program was read: a cyclic chunk may begin during an interrupt
    std::uint64_t m_interrupt_records = 0;
    std::string_view m_fault;
    tracer::Record m_faulty;
    std::uint64_t m_faulty_number = 0;
};

} // namespace soak
