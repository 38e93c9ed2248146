// SPDX-License-Identifier: MIT
// What the format promises of one process's records: START first, END last, time that never falls, pairs that nest.
// Each violation is reported with the record that shows it.
#pragma once

#include "foreign/tlog/process_cursor.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace host::formats::tlog {

class ProcessCheck {
  public:
    // Pairs open at a time that are followed; deeper ones are reported.
    static constexpr std::size_t kDepthMax = 64;

    struct Verdict {
        trace::EventState state = trace::EventState::ok;
        std::uint64_t time_ns = 0; // of a record whose time cannot be used: that of the record before
    };

    // Takes the next record. Reports E-LINE (a time that cannot be used), W-TIME, W-ORDER, W-NESTING.
    [[nodiscard]] Verdict take(const Slot& slot, Table table, std::string_view file, trace::Diagnostics& diagnostics);

    // After the last record. Reports W-ORDER, W-NESTING.
    void finish(Table table, std::string_view file, trace::Diagnostics& diagnostics);

    // Pairs that are open.
    [[nodiscard]] std::size_t depth() const { return m_depth; }

    // The greatest time so far.
    [[nodiscard]] std::uint64_t time_ns() const { return m_time_ns; }

  private:
    void check_order(const Slot& slot, Role role, const trace::Place& place, trace::Diagnostics& diagnostics);
    void check_nesting(const Slot& slot, Table table, const Kind& kind, const trace::Place& place,
                       trace::Diagnostics& diagnostics);
    void report_open(Table table, const trace::Place& place, trace::Diagnostics& diagnostics);

    std::array<std::uint8_t, kDepthMax> m_stack{}; // types that opened
    std::size_t m_depth = 0;
    std::uint64_t m_time_ns = 0;
    std::uint64_t m_records = 0;
    std::uint64_t m_last_bytes = 0; // where the last record is
    std::uint16_t m_process = 0;
    bool m_ended = false;
};

} // namespace host::formats::tlog
