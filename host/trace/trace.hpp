// SPDX-License-Identifier: MIT
// A trace, wherever it lies: a session directory, one .dat file (with our preamble, several behind one another, or a
// plain S.Ha.R.K. file), or a pipe. One stream of events in time order; the order within each CPU's chunk is never
// changed. Memory is one buffer per chunk that is being merged, not per chunk of the session.
//
// Usage:
//   Diagnostics diagnostics(print_line);
//   auto trace = Trace::open("out/udp", {}, diagnostics);
//   Event event;
//   while (trace.value()->next(event)) { ... }
//   diagnostics.finish();
#pragma once

#include "host/trace/chunk_cursor.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/formats.hpp"
#include "host/trace/manifest.hpp"
#include "host/trace/segment.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

struct OpenOptions {
    std::uint32_t tsc_khz = 0; // 0: as the trace says
    std::string kernel{};      // image that ran, for the formats of trace_printf; empty: the session's copy, if any
};

class Trace {
  public:
    // path: a session directory, a file, or "-". Any error was reported to diagnostics.
    [[nodiscard]] static lib::Result<std::unique_ptr<Trace>> open(const std::string& path, const OpenOptions& options,
                                                                  Diagnostics& diagnostics);
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    // The next event in time order; false at the end. The event is valid until the next call.
    [[nodiscard]] bool next(Event& event);

    // Grows while events are taken; complete after the last one.
    [[nodiscard]] const TraceFacts& facts() const { return m_facts; }

    // next() has returned false.
    [[nodiscard]] bool exhausted() const { return m_exhausted; }

    // Only for a session directory.
    [[nodiscard]] const std::optional<Manifest>& manifest() const { return m_manifest; }

    // For a session directory; else empty.
    [[nodiscard]] const std::string& directory() const { return m_directory; }

  private:
    struct Head {
        std::unique_ptr<ChunkCursor> cursor;
        Event event;
        std::uint64_t key = 0; // of the merge: the event's stamp, never falling within one cursor
        std::size_t order = 0;
    };

    Trace(const OpenOptions& options, Diagnostics& diagnostics);

    [[nodiscard]] lib::Result<void> open_directory(const std::string& path);
    [[nodiscard]] lib::Result<void> add_file(const std::string& path);
    void open_due_segments();
    void advance(Head head);
    void set_time(Event& event);
    [[nodiscard]] bool load_formats(const OpenOptions& options);
    void set_formats(Event& event);
    void report_formats(std::string_view text);

    Diagnostics& m_diagnostics;
    TraceFacts m_facts;
    std::optional<Manifest> m_manifest;
    std::string m_directory;
    std::vector<Segment> m_segments;      // in the order of their first stamps
    std::shared_ptr<ByteSource> m_stream; // instead of segments, when the input cannot be positioned
    std::size_t m_next_segment = 0;
    std::vector<Head> m_heads; // a heap: the earliest event on top
    Head m_current;            // whose event the caller holds
    std::optional<lib::Ticks> m_start;
    bool m_exhausted = false;
    std::optional<FormatTable> m_formats;
    std::string m_formats_file;
    bool m_formats_told = false;
};

} // namespace host::trace
