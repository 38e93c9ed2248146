// SPDX-License-Identifier: MIT
// The trace that the tables of `remora sql` show. Each query may walk over it several times, whole or in part; a pipe
// is therefore copied to a file without a name. Damage is reported once, by the first walk that meets it.
#pragma once

#include "host/formats/trace.hpp"
#include "host/sql/range_scan.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace host::sql {

struct ScanRequest {
    TickRange ticks{};
    // Bounds of time_ns, both included.
    std::optional<std::int64_t> first_ns{};
    std::optional<std::int64_t> last_ns{};
    std::optional<std::uint16_t> cpu{};
};

class Source {
  public:
    // whole: never search, read everything.
    struct Options {
        std::string path;
        trace::OpenOptions open{};
        bool whole = false;
        // Called now and then with the number of events that were read, for all walks together; false: the walks end,
        // and so does the query.
        std::function<bool(std::uint64_t events)> watch{};
    };

    // Any error was reported to the sink.
    [[nodiscard]] static lib::Result<std::unique_ptr<Source>> open(const Options& options,
                                                                   trace::Diagnostics::Sink sink);
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    // Events that fulfil the request, and perhaps others. Null if the trace cannot be opened any more. The source
    // outlives the scan.
    [[nodiscard]] std::unique_ptr<Scan> scan(const ScanRequest& request);

    // The scan's next event; false at its end, or when the watch has ended it.
    [[nodiscard]] bool take(Scan& scan, trace::Event& event) {
        if (++m_taken % kEventsPerWatch == 0 && !may_continue()) {
            return false;
        }
        return !m_stopped && scan.next(event);
    }

    // Asks the watch.
    [[nodiscard]] bool may_continue() {
        m_stopped = m_stopped || (m_options.watch && !m_options.watch(m_taken));
        return !m_stopped;
    }

    // The watch has ended the walks.
    [[nodiscard]] bool stopped() const { return m_stopped; }

    enum class FactsOf : std::uint8_t { metadata, events };

    // The names and chunks of the whole trace; of its events the process ids, too, for which all of it is read.
    [[nodiscard]] const trace::TraceFacts& facts(FactsOf what);

    [[nodiscard]] const Statistics& statistics() const { return m_statistics; }

    // How many records the trace has, about.
    [[nodiscard]] std::uint64_t records_estimate() const { return m_records_estimate; }

    // What the walks so far have met.
    [[nodiscard]] trace::ExitStatus status() const { return std::max(m_status, m_diagnostics.exit_status(true)); }

  private:
    friend class WholeScan;

    static constexpr std::uint64_t kEventsPerWatch = 1 << 16;

    explicit Source(const Options& options, trace::Diagnostics::Sink sink);

    [[nodiscard]] bool prepare();
    [[nodiscard]] std::vector<trace::NamedSource> files(const formats::dat::Manifest* manifest) const;

    // Precondition: m_may_search.
    [[nodiscard]] RecordIndex& index();
    [[nodiscard]] lib::Result<std::unique_ptr<formats::Trace>> open_trace(trace::Diagnostics& diagnostics) const;
    [[nodiscard]] std::optional<TickRange> range_of(const ScanRequest& request);
    void end_walk(trace::Diagnostics& diagnostics, bool usable);

    Options m_options;
    trace::Diagnostics::Sink m_sink;
    trace::Diagnostics m_diagnostics; // of the index and of searching
    std::shared_ptr<trace::ByteSource> m_kept;
    std::shared_ptr<const formats::dat::SessionIndex> m_session; // of a sound session, for each walk
    bool m_may_search = false;                                   // there is an index, or can be
    std::optional<RecordIndex> m_index;                          // of a session: once something is searched for
    formats::dat::ImageLookup m_images;
    std::optional<trace::TraceFacts> m_facts;
    bool m_facts_have_events = false;
    std::uint64_t m_records_estimate = 0;
    std::set<std::string> m_reported;
    Statistics m_statistics;
    std::uint64_t m_taken = 0;
    bool m_stopped = false;
    trace::ExitStatus m_status = trace::ExitStatus::clean;
};

} // namespace host::sql
