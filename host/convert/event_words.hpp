// SPDX-License-Identifier: MIT
// What an event says, as one line of words, for formats that carry text: `context=3 (sensor) wait=1/2 (semaphore bus)`.
// Text from the trace is escaped, so a line stays a line.
#pragma once

#include "host/trace/event.hpp"

#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <vector>

namespace host::convert {

class EventWords {
  public:
    EventWords()
        : m_meanings(kMeanings) {}

    // The parameters of a record with their names, the fields of a typed event, the text of a formatted one, the words
    // of another system's event; the state and raw code of a damaged one.
    void append(fmt::memory_buffer& out, const trace::Event& event);

  private:
    // What was looked up last: few numbers occur again and again.
    static constexpr std::size_t kMeanings = 1024;

    struct Meaning {
        std::uint64_t turn = 0;
        std::uint64_t key = 0;
        std::string text;
    };

    void append_parameter(fmt::memory_buffer& out, const trace::Event& event, const tracer::Parameter& parameter,
                          std::uint32_t value);
    [[nodiscard]] const std::string& meaning(const trace::Event& event, tracer::Unit unit, std::uint32_t value);

    std::vector<Meaning> m_meanings;
    const trace::Names* m_names = nullptr; // whose meanings they are
    std::uint32_t m_source = 0;
    std::uint64_t m_turn = 0;
};

// The text of a formatted event; if nobody has its format, the format's number and the arguments. Not escaped.
[[nodiscard]] std::string formatted_text(const trace::Event& event);

// What stands behind the number of a parameter: the name of a task, mutex and so on, or the words of the event table.
// Empty if it has none. Escaped.
[[nodiscard]] std::string meaning_of(const trace::Event& event, tracer::Unit unit, std::uint32_t value);

} // namespace host::convert
