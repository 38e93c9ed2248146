// SPDX-License-Identifier: MIT
// A trace is a session directory, a file of any format that this library reads, or a pipe. It is one stream of events
// in time order, over all processors. The kind of a file is found from its first bytes. Memory does not depend on the
// length of the trace.
//
// Usage:
//   Diagnostics diagnostics(print_line);
//   auto trace = Trace::open("out/udp", {}, diagnostics);
//   trace.value()->for_each([](const Event& event) { ... });
//   diagnostics.finish();
#pragma once

#include "host/formats/dat/manifest.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event_stream.hpp"
#include "lib/result.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace host::formats::dat {
class RecordStream;
struct SessionIndex;
} // namespace host::formats::dat

namespace host::formats {

// Opens a file or a stream, as Trace::open() does: says that a pipe is waited for, and ends the wait by
// options.follow.stop.
[[nodiscard]] lib::Result<std::shared_ptr<trace::ByteSource>>
open_source(const std::string& path, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

class Trace {
  public:
    // path is a session directory, a file, or "-"; index is what index() of an earlier pass over this path returned.
    // Any error is reported to diagnostics, which must outlive the trace.
    [[nodiscard]] static lib::Result<std::unique_ptr<Trace>>
    open(const std::string& path, const trace::OpenOptions& options, trace::Diagnostics& diagnostics,
         const std::shared_ptr<const dat::SessionIndex>& index = nullptr);
    // Opens bytes instead of a path, which are not a session. They are read from their beginning; a stream is read from
    // its position.
    [[nodiscard]] static lib::Result<std::unique_ptr<Trace>>
    open(const trace::NamedSource& input, const trace::OpenOptions& options, trace::Diagnostics& diagnostics);
    Trace(const Trace&) = delete;
    Trace& operator=(const Trace&) = delete;

    // Returns the next events in time order, as EventStream does; empty at the end. They are valid until the next call.
    // Once nothing came, nothing comes: --strict may have ended the trace before its last byte.
    [[nodiscard]] std::span<const trace::Event> next_batch() {
        if (m_exhausted) {
            return {};
        }
        const auto batch = m_stream->next_batch();
        m_exhausted = batch.empty();
        count(batch.size());
        return batch;
    }

    // Calls each(event) for all events of all batches to the end.
    template <typename Each>
    void for_each(Each each) {
        for (auto batch = next_batch(); !batch.empty(); batch = next_batch()) {
            for (const trace::Event& event : batch) {
                each(event);
            }
        }
    }

    // Sets a function that is called from time to time with the number of events that were taken, and at the end of the
    // trace.
    void report_to(std::function<void(std::uint64_t events)> report) { m_report = std::move(report); }

    // The facts grow while events are taken and are complete after the last one.
    [[nodiscard]] const trace::TraceFacts& facts() const { return m_stream->facts(); }

    // Returns the codes of the damage that was reported so far (Diagnostics::damage()).
    [[nodiscard]] std::string damage() const { return m_diagnostics.damage(); }

    // Returns whether next_batch() has returned nothing.
    [[nodiscard]] bool exhausted() const { return m_exhausted; }

    // Returns the kind of the input, never `detect`.
    [[nodiscard]] trace::InputKind kind() const { return m_kind; }

    // Returns null unless the trace is a session: a directory, or a packed one with its manifest.
    [[nodiscard]] const dat::Manifest* manifest() const;

    // Returns the image of the kernel that ran, for a few look-ups at the end of the trace: with the lines of its
    // source if its ELF file is found. Null if nothing of it is.
    [[nodiscard]] const trace::KernelImage* symbols() const;

    // Returns what to say of a trace without a usable event: of a session also why it is not complete.
    [[nodiscard]] std::string nothing_text() const;

    // Returns the index of a session directory if nothing was reported when it was opened; else null.
    [[nodiscard]] std::shared_ptr<const dat::SessionIndex> index() const;

    // Returns the files of the session. Precondition: manifest() is not null.
    [[nodiscard]] const dat::SessionFiles& files() const;

  private:
    static constexpr std::uint64_t kEventsPerReport = 1 << 16;

    Trace(std::unique_ptr<trace::EventStream> stream, const trace::Diagnostics& diagnostics);

    void count(std::size_t events) {
        m_events += events;
        if (m_events >= m_next_report || m_exhausted) {
            m_next_report = m_events + kEventsPerReport;
            if (m_report) {
                m_report(m_events);
            }
        }
    }

    const trace::Diagnostics& m_diagnostics;
    std::unique_ptr<trace::EventStream> m_stream;
    dat::RecordStream* m_records = nullptr; // the same stream, if it is a RecordStream
    trace::InputKind m_kind = trace::InputKind::records;
    bool m_exhausted = false;
    std::uint64_t m_events = 0;
    std::uint64_t m_next_report = kEventsPerReport;
    std::function<void(std::uint64_t)> m_report;
};

} // namespace host::formats
