// SPDX-License-Identifier: MIT
// Choosing between a walk over everything, which Trace does, and a search.
#include "host/sql/source.hpp"

#include "host/formats/dat/record_stream.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace host::sql {

namespace {

using trace::ExitStatus;

// Of other formats no count is known beforehand.
constexpr std::uint64_t kRecordsUnknown = 1'000'000;

} // namespace

// Everything, in order. What it meets is reported when it meets it, and judged when it ends.
class WholeScan final : public Scan {
  public:
    WholeScan(Source& source, trace::Diagnostics::Sink sink)
        : m_source(source)
        , m_diagnostics(std::move(sink)) {
        if (auto opened = source.open_trace(m_diagnostics)) {
            m_trace = std::move(opened.value());
        }
    }

    ~WholeScan() override {
        const bool usable = m_trace != nullptr && (!m_trace->exhausted() || m_trace->facts().usable_events != 0);
        m_source.m_statistics.scanned += m_trace != nullptr ? m_trace->facts().chunks.size() : 0;
        if (m_trace != nullptr && m_trace->exhausted() && !usable) {
            m_diagnostics.report("E-NOTHING", {.file = m_source.m_options.path}, "no record of a known event");
        }
        m_source.end_walk(m_diagnostics, usable);
    }

    bool next(trace::Event& event) override {
        do {
            if (m_batch.empty() && m_trace != nullptr) {
                m_batch = m_trace->next_batch();
            }
            if (m_batch.empty()) {
                return false;
            }
            event = m_batch.front();
            m_batch = m_batch.subspan(1);
            ++m_source.m_statistics.visited;
        } while (event.metadata);
        return true;
    }

    const trace::TraceFacts& facts() const override { return m_trace != nullptr ? m_trace->facts() : m_none; }

  private:
    Source& m_source;
    trace::Diagnostics m_diagnostics;
    std::unique_ptr<formats::Trace> m_trace;
    std::span<const trace::Event> m_batch; // the rest of it
    trace::TraceFacts m_none;
};

Source::Source(const Options& options, trace::Diagnostics::Sink sink)
    : m_options(options)
    , m_sink([this, report = std::move(sink)](std::string_view line) {
        if (m_reported.emplace(line).second) {
            report(line);
        }
    })
    , m_diagnostics(m_sink)
    , m_images(m_diagnostics) {}

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

bool Source::prepare() {
    if (trace::ByteSource::is_stream(m_options.path)) {
        if (auto input = trace::ByteSource::open(m_options.path)) {
            if (auto kept = trace::ByteSource::positioned(input.value())) {
                m_kept = kept.value();
            }
        }
        if (m_kept == nullptr) {
            m_diagnostics.report("E-IO", {.file = m_options.path}, "cannot be kept in a file: TMPDIR names one");
            return false;
        }
    }
    // Opening says what kind it is, and refuses what cannot be read.
    trace::Diagnostics diagnostics(m_sink);
    const auto trace = open_trace(diagnostics);
    if (!trace) {
        m_status = diagnostics.exit_status(false);
        return false;
    }
    m_session = trace.value()->index();
    m_records_estimate = kRecordsUnknown;
    if (trace.value()->kind() != trace::InputKind::records || m_options.open.strict || m_options.open.salvage) {
        return true;
    }
    m_may_search = true;
    std::uint64_t bytes = 0;
    if (m_session != nullptr) {
        for (const formats::dat::Segment& segment : m_session->segments) {
            bytes += segment.end_bytes - segment.begin_bytes;
        }
    } else {
        m_index.emplace(files(trace.value()->manifest()), m_diagnostics, m_statistics);
        bytes = m_index->size_bytes();
    }
    m_records_estimate = bytes / tracer::kRecordBytes;
    return m_images.load(m_options.open, m_options.path, trace.value()->manifest());
}

RecordIndex& Source::index() {
    if (!m_index) {
        m_index.emplace(m_session->segments, m_statistics);
    }
    return *m_index;
}

// Of a session those that its manifest lists and that are there; a reader of everything gets the others reported.
std::vector<trace::NamedSource> Source::files(const formats::dat::Manifest* manifest) const {
    std::vector<trace::NamedSource> sources;
    if (m_kept != nullptr) {
        sources.push_back({.name = "<stdin>", .bytes = m_kept, .keep_open = true});
    } else if (manifest != nullptr) {
        for (const formats::dat::ManifestChunk& chunk : manifest->chunks) {
            sources.push_back({.name = m_options.path + '/' + chunk.file, .bytes = nullptr});
        }
    } else {
        sources.push_back({.name = m_options.path, .bytes = nullptr});
    }
    return sources;
}

void Source::end_walk(trace::Diagnostics& diagnostics, bool usable) {
    diagnostics.finish();
    m_status = std::max(m_status, diagnostics.exit_status(usable));
}

const trace::TraceFacts& Source::facts(FactsOf what) {
    const bool events = what == FactsOf::events;
    if (!m_facts || (events && !m_facts_have_events)) {
        m_facts_have_events = events || m_options.whole || !m_may_search || !index().all_described();
        // A range that holds nothing: the metadata alone is read.
        const auto walk = m_facts_have_events ? scan({}) : scan({.ticks = {.first = 1, .last = 0}});
        trace::Event event;
        while (take(*walk, event)) {
        }
        m_facts = walk->facts();
    }
    return *m_facts;
}

// Rounded outwards: time_ns is (stamp - start) * 10^6 / khz, rounded down. Nothing if all of the trace must be read.
std::optional<TickRange> Source::range_of(const ScanRequest& request) {
    const bool wants_all = request.ticks.whole() && !request.first_ns && !request.last_ns && !request.cpu;
    if (wants_all || m_options.whole || !m_may_search || !index().all_described()) {
        return std::nullopt;
    }
    TickRange range = request.ticks;
    // The rate that times are converted with is the first one that the trace names.
    const std::uint32_t first_khz = index().chunks().empty() ? 0 : index().chunks().front().tsc_khz;
    const std::uint32_t khz = m_options.open.tsc_khz != 0 ? m_options.open.tsc_khz : first_khz;
    if (khz != 0) {
        const lib::TickRate rate{khz};
        const lib::Ticks start{index().start_ticks()};
        if (request.first_ns && *request.first_ns > 0) {
            const lib::Ticks first = start + rate.to_ticks({static_cast<std::uint64_t>(*request.first_ns)});
            range.first = std::max(range.first, first.value);
        }
        if (request.last_ns && *request.last_ns < std::numeric_limits<std::int64_t>::max()) {
            const auto after = static_cast<std::uint64_t>(std::max<std::int64_t>(*request.last_ns, 0)) + 1;
            const lib::Ticks last = start + rate.to_ticks({after});
            range.last = std::min(range.last, last.value);
        }
    }
    const bool spares_chunks = request.cpu && std::ranges::any_of(index().chunks(), [&](const IndexedChunk& chunk) {
                                   return chunk.searchable && chunk.cpu != *request.cpu;
                               });
    return range.whole() && !spares_chunks ? std::nullopt : std::optional(range);
}

std::unique_ptr<Scan> Source::scan(const ScanRequest& request) {
    if (const auto range = range_of(request)) {
        return std::make_unique<RangeScan>(
            index(), RangeRequest{.range = *range, .cpu = request.cpu, .tsc_khz = m_options.open.tsc_khz}, m_images,
            m_diagnostics, m_statistics);
    }
    return std::make_unique<WholeScan>(*this, m_sink);
}

} // namespace host::sql
