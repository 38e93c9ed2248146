// SPDX-License-Identifier: MIT
#include "convert/vcd/vcd_signals.hpp"

#include "host/text/digits.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

namespace host::convert::vcd {

namespace {

using text::put;

// Returns a number in printable characters, shortest codes first.
std::string code_of(std::uint32_t number) {
    constexpr std::uint32_t kDigits = '~' - '!' + 1;
    std::string code;
    for (;;) {
        code += static_cast<char>('!' + number % kDigits);
        if (number < kDigits) {
            return code;
        }
        number = number / kDigits - 1;
    }
}

bool is_word(char character) {
    return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z') ||
           (character >= '0' && character <= '9') || character == '_';
}

// Escapes white space as in C, which GTKWave reads, because it would end the value.
std::string written(std::string_view text) {
    std::string out;
    for (const char character : text) {
        if (character > ' ' && character < 0x7F && character != '\\') {
            out += character;
        } else {
            fmt::format_to(std::back_inserter(out), "\\{:03o}", static_cast<unsigned char>(character));
        }
    }
    return out;
}

} // namespace

VcdSignals::VcdSignals(OutputFile& file)
    : m_file(file) {
    for (const char* const word : {"0", "1", "x", "s? "}) {
        static_cast<void>(add_word(word));
    }
}

std::string VcdSignals::fit(std::string_view name) {
    std::string fitting;
    for (const char character : name) {
        fitting += is_word(character) ? character : '_';
    }
    if (fitting.empty() || (fitting.front() >= '0' && fitting.front() <= '9')) {
        fitting.insert(fitting.begin(), '_');
    }
    std::string unlike = fitting;
    for (unsigned i = 2; !m_scopes.back().insert(unlike).second; ++i) {
        unlike = fmt::format("{}_{}", fitting, i);
    }
    return unlike;
}

std::string VcdSignals::open_scope(std::string_view name) {
    std::string fitting = fit(name);
    m_file.append(fmt::format("$scope module {} $end\n", fitting));
    m_scopes.emplace_back();
    return fitting;
}

void VcdSignals::close_scope() {
    m_file.append("$upscope $end\n");
    m_scopes.pop_back();
}

VcdSignals::Id VcdSignals::add(Kind kind, std::string_view type, std::string_view name) {
    const auto id = static_cast<Id>(m_signals.size());
    const std::string code = code_of(id);
    Signal& signal = m_signals.emplace_back();
    signal.kind = kind;
    signal.value = kind == Kind::wire ? kUnknownWire : kind == Kind::text ? kUnknownText : 0;
    m_changed.push_back(id);
    const bool fits = signal.end.set(code + '\n');
    ASSERT(fits);
    m_file.append(fmt::format("$var {} {} {} $end\n", type, code, fit(name)));
    return id;
}

VcdSignals::Id VcdSignals::add_wire(std::string_view name) {
    return add(Kind::wire, "wire 1", name);
}

VcdSignals::Id VcdSignals::add_number(std::string_view name) {
    return add(Kind::number, "integer 64", name);
}

VcdSignals::Id VcdSignals::add_text(std::string_view name) {
    return add(Kind::text, "string 1", name);
}

void VcdSignals::end_declarations() {
    m_file.append("$enddefinitions $end\n#0\n$dumpvars\n");
    for (Signal& signal : m_signals) {
        char* const begin = m_file.room(m_line_room);
        m_file.used(static_cast<std::size_t>(put_value(begin, signal) - begin));
        signal.changed = false;
    }
    m_changes = 0;
    m_file.append("$end\n");
}

// Writes a change; m_line_room bytes of room are needed.
char* VcdSignals::put_value(char* at, const Signal& signal) const {
    if (signal.kind == Kind::number) {
        return signal.end.put(signal.known ? fmt::format_to(at, "b{:b} ", signal.value) : put(at, "bx "));
    }
    const Word& word = m_words[signal.value];
    return signal.end.put(word.longer.empty() ? word.text.put(at) : put(at, word.longer));
}

VcdSignals::TextId VcdSignals::add_word(std::string word) {
    Word& added = m_words.emplace_back();
    if (!added.text.set(word)) {
        m_line_room = std::max(m_line_room, kLineRoom + word.size());
        added.longer = std::move(word);
    }
    return m_words.size() - 1;
}

VcdSignals::TextId VcdSignals::text(std::string_view text) {
    if (const auto known = m_text_ids.find(text); known != m_text_ids.end()) {
        return known->second;
    }
    const TextId id = add_word(fmt::format("s{} ", written(text)));
    m_text_ids.emplace(text, id);
    return id;
}

void VcdSignals::comment(std::string_view text) {
    if (m_changes != 0) {
        flush();
    }
    m_file.append(fmt::format("$comment {} $end\n", text));
}

void VcdSignals::flush() {
    const std::span<const Id> changed(m_changed.data(), m_changes);
    m_changes = 0;
    char* const begin = m_file.room(m_line_room * (1 + changed.size()));
    *begin = '#';
    char* at = m_time_text.put(begin + 1, m_time);
    *at++ = '\n';
    for (const Id id : changed) {
        Signal& signal = m_signals[id];
        at = put_value(at, signal);
        signal.changed = false;
    }
    m_file.used(static_cast<std::size_t>(at - begin));
}

void VcdSignals::finish() {
    flush(); // writes the time at least
}

} // namespace host::convert::vcd
