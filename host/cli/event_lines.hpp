// SPDX-License-Identifier: MIT
// Lines of events for traces of millions: the same text as append_line(), byte for byte, with everything prepared that
// does not change from event to event. What is not a sound event of one slot goes through append_line() itself.
#pragma once

#include "host/cli/event_text.hpp"
#include "tracer/event_table.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <string_view>
#include <vector>

namespace host::cli {

// A short text in a place of fixed size: it is copied whole, which takes a few moves and no loop, and what lies behind
// its end is overwritten next.
struct ShortText {
    static constexpr std::size_t kBytes = 48;
    std::array<char, kBytes> bytes{};
    std::uint8_t size = 0;

    // False if it does not fit.
    [[nodiscard]] bool set(std::string_view text);

    // kBytes of room.
    [[nodiscard]] char* put(char* at) const {
        __builtin_memcpy(at, bytes.data(), kBytes);
        return at + size;
    }
};

class EventLines {
  public:
    explicit EventLines(TimeUnit unit);

    void append(fmt::memory_buffer& out, const trace::Event& event);

  private:
    enum class Kind : std::uint8_t {
        nothing, // the event has no such parameter
        number,  // digits alone
        named,   // digits, and what they stand for
        other,
    };

    // The constant pieces of an event's line.
    struct Prepared {
        ShortText to_par1; // the name, padded to its column, and " context="
        ShortText to_par2;
        Kind par1 = Kind::other;
        Kind par2 = Kind::other;
    };

    // A value with its name, "12 (sensor)". Finding the name costs a search, so the text is kept in the one place that
    // its unit and value lead to, until another pushes it out.
    struct Known {
        std::uint64_t key = 0; // 0: none
        ShortText text;
    };

    static constexpr std::size_t kKnown = 512;

    [[nodiscard]] char* put_line(char* at, const trace::Event& event, const Prepared& prepared);
    [[nodiscard]] char* put_value(char* at, const trace::Event& event, Kind kind, tracer::Unit unit,
                                  std::uint32_t value);
    [[nodiscard]] static Kind kind_of(tracer::Unit unit);

    TimeUnit m_unit;
    std::vector<Prepared> m_prepared; // by code
    std::vector<Known> m_known;
    std::uint64_t m_names_version = 0; // of the names that m_known comes from
};

} // namespace host::cli
