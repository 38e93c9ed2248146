// SPDX-License-Identifier: MIT
#include "foreign/tlog/process.hpp"

#include "host/text/format.hpp"

#include <algorithm>
#include <utility>

namespace host::formats::tlog {

namespace {

constexpr std::size_t kReadBytes = 64 * 1024;

class Indexer {
  public:
    Indexer(RunIndex& index, const std::string& name, trace::Diagnostics& diagnostics)
        : m_index(index)
        , m_name(name)
        , m_diagnostics(diagnostics)
        , m_seen(65'536) {}

    void take(const Record& record, std::uint64_t offset_bytes) {
        if (record.undefined()) {
            return;
        }
        ++m_index.records;
        if (m_open && m_process == record.process) {
            ++m_records;
            m_end_bytes = offset_bytes + kRecordBytes;
            return;
        }
        check_start(record, offset_bytes);
        close();
        m_open = true;
        m_process = record.process;
        m_records = 1;
        m_begin_bytes = offset_bytes;
        m_end_bytes = offset_bytes + kRecordBytes;
    }

    void close() {
        if (!m_open || m_index.too_many_runs) {
            return;
        }
        if (m_index.runs.size() == kRunsMax) {
            m_diagnostics.report("W-CAP", {.file = m_name, .offset_bytes = m_begin_bytes},
                                 fmt::format("processes take turns more than {} times: the file is read from front to "
                                             "back, and events are not put in order of time",
                                             kRunsMax));
            m_index.too_many_runs = true;
            m_index.runs = {};
            return;
        }
        m_index.runs.push_back({m_process, m_begin_bytes, m_end_bytes, m_records});
    }

  private:
    void check_start(const Record& record, std::uint64_t offset_bytes) {
        const trace::Place place{.file = m_name, .offset_bytes = offset_bytes};
        if (m_seen[record.process]) {
            m_diagnostics.report("W-ORDER", place,
                                 fmt::format("process {} comes again: its blocks are not one run", record.process));
        } else if (m_open && m_end_bytes > offset_bytes / kBlockBytes * kBlockBytes) {
            m_diagnostics.report(
                "W-ORDER", place,
                fmt::format("process {} begins inside a block of process {}", record.process, m_process));
        }
        m_seen[record.process] = true;
    }

    RunIndex& m_index;
    const std::string& m_name;
    trace::Diagnostics& m_diagnostics;
    std::vector<bool> m_seen;
    bool m_open = false;
    std::uint16_t m_process = 0;
    std::uint64_t m_begin_bytes = 0;
    std::uint64_t m_end_bytes = 0;
    std::uint64_t m_records = 0;
};

} // namespace

std::span<const Run> RunIndex::process_at(std::size_t first) const {
    std::size_t last = first;
    while (last < runs.size() && runs[last].process == runs[first].process) {
        ++last;
    }
    return std::span(runs).subspan(first, last - first);
}

lib::Result<RunIndex> index_runs(trace::ByteSource& source, const std::string& name, Layout layout,
                                 trace::Diagnostics& diagnostics) {
    RunIndex index;
    index.table = layout == Layout::openmp ? Table::openmp : Table::nine_pairs;
    Indexer indexer(index, name, diagnostics);
    std::vector<std::byte> buffer(kReadBytes);
    std::uint64_t offset = 0;
    std::size_t filled = 0;
    do {
        const auto count = source.read(offset, buffer);
        if (!count) {
            diagnostics.report("E-IO", {.file = name, .offset_bytes = offset}, error_name(count.error()));
            diagnostics.unusable_input();
            return count.error();
        }
        filled = count.value();
        for (std::size_t at = 0; at + kRecordBytes <= filled; at += kRecordBytes) {
            const Record record = decode(std::span(buffer).subspan(at), layout);
            indexer.take(record, offset + at);
            if (index.table == Table::nine_pairs && needs_fifteen_pairs(record.type)) {
                index.table = Table::fifteen_pairs;
            }
        }
        offset += filled;
    } while (filled == buffer.size());
    indexer.close();
    if (offset == 0) {
        diagnostics.report("E-EMPTY", {.file = name}, "the file is empty");
        return lib::Error::corrupt;
    }
    if (offset % kBlockBytes != 0) {
        diagnostics.report("E-TRUNC", {.file = name, .offset_bytes = offset},
                           fmt::format("the last block has {} of {} bytes", offset % kBlockBytes, kBlockBytes));
    }
    if (offset < kRecordBytes) {
        return lib::Error::corrupt;
    }
    std::ranges::stable_sort(index.runs, {}, &Run::process);
    return index;
}

ProcessCursor::ProcessCursor(std::shared_ptr<trace::ByteSource> source, std::span<const Run> runs, Layout layout,
                             std::size_t buffer_bytes)
    : m_source(std::move(source))
    , m_runs(runs)
    , m_layout(layout)
    , m_buffer_bytes(buffer_bytes / kRecordBytes * kRecordBytes)
    , m_buffer_offset(runs.empty() ? 0 : runs.front().begin_bytes) {}

bool ProcessCursor::next(Slot& slot) {
    while (m_position < m_filled || refill()) {
        slot.offset_bytes = m_buffer_offset + m_position;
        slot.record = decode(std::span(m_buffer).subspan(m_position, kRecordBytes), m_layout);
        m_position += kRecordBytes;
        if (!slot.record.undefined()) {
            return true;
        }
    }
    return false;
}

bool ProcessCursor::refill() {
    m_buffer_offset += m_filled;
    m_position = 0;
    m_filled = 0;
    while (!m_runs.empty() && m_buffer_offset >= m_runs.front().end_bytes) {
        m_runs = m_runs.subspan(1);
        m_buffer_offset = m_runs.empty() ? m_buffer_offset : m_runs.front().begin_bytes;
    }
    if (m_runs.empty() || m_failed) {
        return false;
    }
    m_buffer.resize(m_buffer_bytes);
    const auto wanted =
        static_cast<std::size_t>(std::min<std::uint64_t>(m_runs.front().end_bytes - m_buffer_offset, m_buffer.size()));
    const auto count = m_source->read(m_buffer_offset, std::span(m_buffer).first(wanted));
    m_failed = !count || count.value() < wanted;
    m_filled = m_failed ? 0 : wanted;
    return !m_failed;
}

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
