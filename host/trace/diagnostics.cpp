// SPDX-License-Identifier: MIT
#include "host/trace/diagnostics.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <iterator>
#include <utility>

namespace host::trace {

Diagnostics::Diagnostics(Sink sink)
    : m_sink(std::move(sink)) {}

void Diagnostics::report(Code code, const Place& place, std::string_view text) {
    ++m_reports;
    m_damages += kCodes[code.row()].damage == Damage::yes ? 1U : 0U;
    if (++m_counts[code.row()] > kLinesPerCode) {
        return;
    }
    fmt::memory_buffer line;
    const auto out = std::back_inserter(line);
    fmt::format_to(out, "{}:0x{:x} ", text::escaped(place.file), place.offset_bytes);
    if (place.chunk >= 0) {
        fmt::format_to(out, "chunk {} ", place.chunk);
    }
    if (place.cpu >= 0) {
        fmt::format_to(out, "cpu {} ", place.cpu);
    }
    fmt::format_to(out, "{} {}", kCodes[code.row()].text, text);
    m_sink({line.data(), line.size()});
}

void Diagnostics::count_unknown(std::uint8_t event_code, const Place& place) {
    Unknown& unknown = m_unknown[event_code];
    if (++unknown.count == 1) {
        unknown.file = place.file;
        unknown.offset_bytes = place.offset_bytes;
    }
}

void Diagnostics::finish() {
    for (std::size_t code = 0; code < m_unknown.size(); ++code) {
        const Unknown& unknown = m_unknown[code];
        if (unknown.count != 0) {
            report("W-UNKNOWN", {.file = unknown.file, .offset_bytes = unknown.offset_bytes},
                   fmt::format("code 0x{:02x} is in no row of the event table: {} record{}, kept as raw words", code,
                               unknown.count, unknown.count == 1 ? "" : "s"));
        }
    }
    for (std::size_t row = 0; row < kCodes.size(); ++row) {
        if (const std::uint64_t count = m_counts[row]; count > kLinesPerCode) {
            m_sink(fmt::format("{} {} in all, {} not shown", kCodes[row].text, count, count - kLinesPerCode));
        }
    }
}

std::string Diagnostics::damage() const {
    std::string codes;
    for (std::size_t row = 0; row < kCodes.size(); ++row) {
        if (m_counts[row] != 0 && kCodes[row].damage == Damage::yes) {
            codes.append(codes.empty() ? "" : ", ").append(kCodes[row].text);
        }
    }
    return codes;
}

ExitStatus Diagnostics::exit_status(bool usable) const {
    if (m_unusable_input) {
        return *m_unusable_input;
    }
    if (!usable) {
        return ExitStatus::nothing;
    }
    return damaged() ? ExitStatus::damaged : ExitStatus::clean;
}

} // namespace host::trace
