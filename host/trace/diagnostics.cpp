// SPDX-License-Identifier: MIT
// Formatting and counting of diagnostics; see the header for the contract.
#include "host/trace/diagnostics.hpp"

#include "host/trace/escape.hpp"

#include <fmt/format.h>
#include <iterator>
#include <utility>

namespace host::trace {

Diagnostics::Diagnostics(Sink sink)
    : m_sink(std::move(sink)) {}

void Diagnostics::report(Code code, const Place& place, std::string_view text) {
    if (++m_counts[static_cast<std::size_t>(code)] > kLinesPerCode) {
        return;
    }
    fmt::memory_buffer line;
    const auto out = std::back_inserter(line);
    fmt::format_to(out, "{}:0x{:x} ", escaped(place.file), place.offset_bytes);
    if (place.chunk >= 0) {
        fmt::format_to(out, "chunk {} ", place.chunk);
    }
    if (place.cpu >= 0) {
        fmt::format_to(out, "cpu {} ", place.cpu);
    }
    fmt::format_to(out, "{} {}", code_text(code), text);
    m_sink({line.data(), line.size()});
}

void Diagnostics::finish() {
    for (std::size_t code = 0; code < m_unknown.size(); ++code) {
        if (m_unknown[code] != 0) {
            ++m_counts[static_cast<std::size_t>(Code::unknown)];
            m_sink(fmt::format("{} code 0x{:02x} is in no row of the event table: {} record{}, kept as raw words",
                               code_text(Code::unknown), code, m_unknown[code], m_unknown[code] == 1 ? "" : "s"));
        }
    }
    for (const CodeRow& row : kCodes) {
        if (count(row.code) > kLinesPerCode && row.code != Code::unknown) {
            m_sink(
                fmt::format("{} {} in all, {} not shown", row.text, count(row.code), count(row.code) - kLinesPerCode));
        }
    }
}

bool Diagnostics::damaged() const {
    for (const CodeRow& row : kCodes) {
        if (row.damage == Damage::yes && count(row.code) != 0) {
            return true;
        }
    }
    return false;
}

ExitStatus Diagnostics::exit_status(bool usable) const {
    if (m_unusable_input) {
        return ExitStatus::usage;
    }
    if (!usable) {
        return ExitStatus::nothing;
    }
    return damaged() ? ExitStatus::damaged : ExitStatus::clean;
}

} // namespace host::trace
