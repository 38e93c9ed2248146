// SPDX-License-Identifier: MIT
#include "foreign/tlog/run_index.hpp"

#include "host/text/format.hpp"

#include <algorithm>

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

} // namespace host::formats::tlog
