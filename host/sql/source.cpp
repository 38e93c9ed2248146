// SPDX-License-Identifier: MIT
#include "host/sql/source.hpp"

#include "host/formats/dat/record_stream.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

namespace host::sql {

namespace {

constexpr std::uint64_t kRecordsUnknown = 1'000'000;

} // namespace

Source::Source(const Options& options, trace::Diagnostics::Sink sink)
    : m_options(options)
    , m_sink([this, report = std::move(sink)](std::string_view line) {
        if (m_reported.emplace(line).second) {
            report(line);
        }
    }) {}

lib::Result<std::unique_ptr<Source>> Source::open(const Options& options, trace::Diagnostics::Sink sink) {
    auto source = std::unique_ptr<Source>(new Source(options, std::move(sink)));
    if (!source->prepare()) {
        return lib::Error::io;
    }
    return source;
}

lib::Result<std::unique_ptr<formats::Trace>> Source::open_trace(trace::Diagnostics& diagnostics) const {
    return m_kept != nullptr ? formats::Trace::open({.name = "<stdin>", .bytes = m_kept, .keep_open = true},
                                                    m_options.open, diagnostics)
                             : formats::Trace::open(m_options.path, m_options.open, diagnostics, m_session);
}

// Opening says what kind of trace it is, and refuses what cannot be read.
bool Source::prepare() {
    trace::Diagnostics diagnostics(m_sink);
    if (trace::ByteSource::is_stream(m_options.path)) {
        const auto input = trace::ByteSource::open(m_options.path);
        const auto kept = input ? trace::ByteSource::positioned(input.value()) : lib::Error::io;
        if (!kept) {
            diagnostics.report("E-IO", {.file = m_options.path}, "cannot be kept in a file: TMPDIR names one");
            return false;
        }
        m_kept = kept.value();
    }
    const auto trace = open_trace(diagnostics);
    if (!trace) {
        m_status = diagnostics.exit_status(false);
        return false;
    }
    m_session = trace.value()->index();
    m_records_estimate = kRecordsUnknown;
    if (trace.value()->kind() == trace::InputKind::records) {
        std::uint64_t bytes = 0;
        if (const formats::dat::Manifest* const manifest = trace.value()->manifest()) {
            for (const formats::dat::ManifestChunk& chunk : manifest->chunks) {
                bytes += chunk.bytes;
            }
        } else {
            std::error_code ignored;
            bytes = m_kept != nullptr ? m_kept->size_bytes() : std::filesystem::file_size(m_options.path, ignored);
        }
        m_records_estimate = bytes / tracer::kRecordBytes;
    }
    return true;
}

Walk::Walk(Source& source)
    : m_source(source)
    , m_diagnostics(source.m_sink) {
    if (auto opened = source.open_trace(m_diagnostics)) {
        m_trace = std::move(opened.value());
    }
}

bool Walk::read() {
    if (m_trace == nullptr || m_source.m_stopped) {
        return false;
    }
    std::uint64_t& visited = m_source.m_statistics.visited;
    const std::uint64_t asked = visited / kEventsPerWatch;
    m_batch = m_trace->next_batch();
    visited += m_batch.size();
    if (visited / kEventsPerWatch != asked && !m_source.may_continue()) {
        m_batch = {};
    }
    return !m_batch.empty();
}

Walk::~Walk() {
    const bool has_ended = m_trace != nullptr && m_trace->exhausted();
    const bool usable = m_trace != nullptr && (!has_ended || m_trace->facts().usable_events != 0);
    if (has_ended && !usable) {
        m_diagnostics.report("E-NOTHING", {.file = m_source.m_options.path}, "no record of a known event");
    }
    m_source.m_statistics.chunks += facts().chunks.size();
    m_diagnostics.finish();
    m_source.m_status = std::max(m_source.m_status, m_diagnostics.exit_status(usable));
}

} // namespace host::sql
