// SPDX-License-Identifier: MIT
// From frames to a stream of records.
#include "host/trace/capture/capture.hpp"

#include "host/trace/capture/datagram.hpp"
#include "host/trace/capture/frame_source.hpp"
#include "host/trace/capture/session.hpp"

#include <array>
#include <fmt/format.h>

namespace host::trace::capture {

namespace {

class Tally {
  public:
    void count(Verdict verdict) { ++m_counts[static_cast<std::size_t>(verdict)]; }

    void tell(const std::string& file, Diagnostics& diagnostics) const {
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            const std::string_view why = verdict_text(static_cast<Verdict>(i));
            if (m_counts[i] != 0 && !why.empty()) {
                diagnostics.report(Code::packet, {.file = file},
                                   fmt::format("{} frames skipped: {}", m_counts[i], why));
            }
        }
    }

  private:
    std::array<std::uint64_t, kVerdicts> m_counts{};
};

} // namespace

lib::Result<std::unique_ptr<RecordStream>> open(const NamedSource& input, const OpenOptions& options,
                                                Diagnostics& diagnostics) {
    auto spool = Spool::create();
    if (!spool) {
        diagnostics.report(Code::io, {.file = input.name}, "no temporary file can be made: see TMPDIR");
        diagnostics.unusable_input();
        return spool.error();
    }
    FrameSource frames(input, diagnostics);
    Session session(std::move(spool.value()), input.name, diagnostics);
    Tally tally;
    std::uint64_t count = 0;
    for (Frame frame; frames.next(frame); ++count) {
        Datagram datagram;
        const Verdict verdict = find_datagram(frame.link_type, frame.bytes, datagram);
        tally.count(verdict);
        if (verdict == Verdict::unknown_link) {
            diagnostics.report(Code::link_type, {.file = input.name, .offset_bytes = frame.offset_bytes},
                               fmt::format("link type {} cannot be read: frame skipped", frame.link_type));
        } else if (verdict == Verdict::datagram) {
            session.take(datagram, frame.offset_bytes);
        }
    }
    const auto finished = session.finish();
    tally.tell(input.name, diagnostics);
    if (!finished) {
        diagnostics.report(Code::io, {.file = input.name},
                           fmt::format("the temporary file: {}", error_name(finished.error())));
        diagnostics.unusable_input();
        return finished.error();
    }
    if (session.delivered() == 0) {
        diagnostics.report(Code::empty, {.file = input.name},
                           fmt::format("none of {} frames holds a TRACER-V1.0 packet", count));
        return lib::Error::corrupt;
    }
    const NamedSource records{.name = input.name, .bytes = session.records(), .keep_open = true};
    auto stream = RecordStream::of_sources(std::span(&records, 1), options, diagnostics);
    if (stream) {
        stream.value()->note_absent({.parts = session.lost()});
    }
    return stream;
}

} // namespace host::trace::capture
