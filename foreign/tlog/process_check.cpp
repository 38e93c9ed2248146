// SPDX-License-Identifier: MIT
#include "foreign/tlog/process_check.hpp"

#include "host/text/format.hpp"

namespace host::formats::tlog {

ProcessCheck::Verdict ProcessCheck::take(const Slot& slot, Table table, std::string_view file,
                                         trace::Diagnostics& diagnostics) {
    const Record& record = slot.record;
    const Kind kind = kind_of(table, record.type);
    const trace::Place place{.file = file, .offset_bytes = slot.offset_bytes, .cpu = record.process};
    check_order(slot, kind.role, place, diagnostics);
    check_nesting(slot, table, kind, place, diagnostics);
    const std::uint64_t number = m_records++;
    m_last_bytes = slot.offset_bytes;
    m_process = record.process;
    const auto time = to_nanoseconds(record.seconds);
    if (!time) {
        diagnostics.report("E-LINE", place,
                           fmt::format("record {}: a time of {} s cannot be used", number, record.seconds));
        return {trace::EventState::malformed, m_time_ns};
    }
    if (*time < m_time_ns) {
        diagnostics.report("W-TIME", place,
                           fmt::format("record {}: time goes back from {} ns to {} ns", number, m_time_ns, *time));
        return {trace::EventState::late, *time};
    }
    m_time_ns = *time;
    return {trace::EventState::ok, *time};
}

void ProcessCheck::check_order(const Slot& slot, Role role, const trace::Place& place,
                               trace::Diagnostics& diagnostics) {
    if (m_records == 0 && role != Role::start) {
        diagnostics.report("W-ORDER", place,
                           fmt::format("record 0: type {}, but the first is START", slot.record.type));
    } else if (m_records != 0 && role == Role::start) {
        diagnostics.report("W-ORDER", place, fmt::format("record {}: START is not the first", m_records));
    }
    if (m_ended) {
        diagnostics.report("W-ORDER", place, fmt::format("record {}: END was not the last", m_records));
    }
    m_ended = role == Role::end;
}

void ProcessCheck::check_nesting(const Slot& slot, Table table, const Kind& kind, const trace::Place& place,
                                 trace::Diagnostics& diagnostics) {
    const std::uint8_t type = slot.record.type;
    if (kind.role == Role::enter) {
        if (m_depth == m_stack.size()) {
            diagnostics.report("W-NESTING", place,
                               fmt::format("record {}: {} is opened at a depth of {}: pairs this deep are not followed",
                                           m_records, kind.name, m_depth));
            return;
        }
        m_stack[m_depth++] = type;
    } else if (kind.role == Role::leave) {
        std::size_t depth = m_depth;
        while (depth > 0 && m_stack[depth - 1] != Kind::opener(type)) {
            --depth;
        }
        if (depth == 0) {
            diagnostics.report("W-NESTING", place,
                               fmt::format("record {}: {} closes what is not open", m_records, kind.name));
        } else if (depth != m_depth) {
            diagnostics.report("W-NESTING", place,
                               fmt::format("record {}: {} comes while {} is open", m_records, kind.name,
                                           kind_of(table, m_stack[m_depth - 1]).name));
        }
        m_depth = depth == 0 ? m_depth : depth - 1;
    } else if (kind.role == Role::end) {
        report_open(table, place, diagnostics);
    }
}

void ProcessCheck::report_open(Table table, const trace::Place& place, trace::Diagnostics& diagnostics) {
    if (m_depth != 0) {
        diagnostics.report("W-NESTING", place,
                           fmt::format("{} pair{} still open at the end, the innermost is {}", m_depth,
                                       m_depth == 1 ? " is" : "s are", kind_of(table, m_stack[m_depth - 1]).name));
    }
    m_depth = 0;
}

void ProcessCheck::finish(Table table, std::string_view file, trace::Diagnostics& diagnostics) {
    const trace::Place place{.file = file, .offset_bytes = m_last_bytes, .cpu = m_process};
    if (m_records != 0 && !m_ended) {
        diagnostics.report("W-ORDER", place, fmt::format("record {}: the last is not END", m_records - 1));
    }
    report_open(table, place, diagnostics);
}

} // namespace host::formats::tlog
