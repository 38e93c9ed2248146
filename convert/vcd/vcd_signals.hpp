// SPDX-License-Identifier: MIT
// Writes the signals of a value change dump (IEEE 1364-2001, section 18), which are declared first, then changed. A
// signal that changes several times at one time is written once, with its last value. Text signals are an extension of
// GTKWave.
#pragma once

#include "convert/writer/writer.hpp"
#include "host/text/digits.hpp"

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace host::convert::vcd {

class VcdSignals {
  public:
    using Id = std::uint32_t;
    using TextId = std::uint64_t;

    explicit VcdSignals(OutputFile& file);

    // Opens a scope and returns its name. Names are adapted: letters, digits and underscores, and different from others
    // in the scope.
    std::string open_scope(std::string_view name);
    void close_scope();
    [[nodiscard]] Id add_wire(std::string_view name);
    [[nodiscard]] Id add_number(std::string_view name); // 64 bits
    [[nodiscard]] Id add_text(std::string_view name);

    // Ends the declarations. Signals that were set before have their value at time 0; all others are unknown there.
    void end_declarations();

    // Sets the time of the following changes, which must never fall.
    void at(std::uint64_t time) {
        if (time != m_time) {
            if (m_changes != 0) {
                flush();
            }
            m_time = time;
        }
    }

    void set(Id id, std::uint64_t value) {
        Signal& signal = m_signals[id];
        if (signal.value == value && signal.known) {
            return;
        }
        signal.known = true;
        signal.value = value;
        if (!signal.changed) {
            signal.changed = true;
            m_changed[m_changes++] = id;
        }
    }

    void set(Id signal, std::string_view of_text) { set(signal, std::uint64_t{text(of_text)}); }

    // Returns the value with which a text signal shows this text, for texts that are set often.
    [[nodiscard]] TextId text(std::string_view text);

    // text: without "$end".
    void comment(std::string_view text);

    // Writes the changes at the present time, with which the dump ends.
    void finish();

  private:
    enum class Kind : std::uint8_t { wire, number, text };

    struct Signal {
        Kind kind;
        bool known = false;
        bool changed = false;    // since the last flush
        std::uint64_t value = 0; // for a wire and a text: the number of its word
        text::TextOf<8> end;     // the end of each of its lines: its code in the dump
    };

    static constexpr std::size_t kLineRoom = 128; // for a change without a long text

    // A word is a value in its written form.
    struct Word {
        text::TextOf<32> text;
        std::string longer; // used instead if the text is longer
    };

    // These are the first words. 0 and 1 are also those of a wire.
    static constexpr std::uint64_t kUnknownWire = 2;
    static constexpr std::uint64_t kUnknownText = 3;

    [[nodiscard]] Id add(Kind kind, std::string_view type, std::string_view name);
    [[nodiscard]] std::string fit(std::string_view name);
    [[nodiscard]] TextId add_word(std::string word);
    void flush();
    [[nodiscard]] char* put_value(char* at, const Signal& signal) const;

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void; // NOLINT(readability-identifier-naming): the name is the library's
    };

    OutputFile& m_file;
    std::vector<Signal> m_signals;
    std::vector<std::set<std::string>> m_scopes = {{}}; // the names in each open scope
    std::vector<Id> m_changed;                          // each signal at most once; there is room for all
    std::size_t m_changes = 0;                          // used entries of m_changed
    std::unordered_map<std::string, TextId, Hash, std::equal_to<>> m_text_ids;
    std::vector<Word> m_words;           // by number
    std::size_t m_line_room = kLineRoom; // for one change with the longest text
    std::uint64_t m_time = 0;
    text::RisingNumber m_time_text;
};

} // namespace host::convert::vcd
