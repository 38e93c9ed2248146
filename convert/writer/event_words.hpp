// SPDX-License-Identifier: MIT
// Writes the contents of an event as one line of words, for formats with text: `context=3 (sensor) wait=1/2 (semaphore
// bus)`. Text from the trace is escaped, so that it stays one line.
#pragma once

#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "host/trace/event.hpp"
#include "host/trace/value_text.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace host::convert {

class EventWords {
  public:
    enum class Encoding : std::uint8_t {
        plain,
        json, // for text inside a JSON string
    };

    explicit EventWords(Encoding encoding = Encoding::plain);

    // Returns the parameters of a record with their names, the fields of a typed event, the text of a formatted one,
    // the words of another system's event, or the state and raw code of a damaged one. Valid until the next call.
    [[nodiscard]] std::string_view of(const trace::Event& event);

    static constexpr std::size_t kShortMax = 4 * text::ShortText::kBytes;

    // Writes the words in place into kShortMax bytes of room, and returns their end. Null if of() must be used instead.
    [[nodiscard]] char* put_short(char* at, const trace::Event& event);

  private:
    // These are the constant pieces of an event's words.
    struct Prepared {
        text::ShortText to_par1; // "context="
        text::ShortText to_par2; // " level="
        bool prepared = false;   // if false, append() prepares it
        trace::ValueKind par1 = trace::ValueKind::nothing;
        trace::ValueKind par2 = trace::ValueKind::nothing;
    };

    [[nodiscard]] char* put_value(char* at, const trace::Event& event, trace::ValueKind kind, tracer::Unit unit,
                                  std::uint32_t value);
    void encode(fmt::memory_buffer& text) const;
    static void append(fmt::memory_buffer& out, const trace::Event& event);
    static void append_parameter(fmt::memory_buffer& out, const trace::Event& event, const tracer::Parameter& parameter,
                                 std::uint32_t value);

    Encoding m_encoding;
    std::vector<Prepared> m_prepared; // by code
    trace::ValueTexts m_values;       // encoded, with their meaning: "3 (sensor)"
    std::array<char, kShortMax> m_short{};
    fmt::memory_buffer m_long;
};

// Returns the text of a formatted event; if its format is unknown, the format's number and the arguments. It is not
// escaped.
[[nodiscard]] std::string formatted_text(const trace::Event& event);

} // namespace host::convert
