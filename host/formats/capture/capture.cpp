// SPDX-License-Identifier: MIT
#include "host/formats/capture/capture.hpp"

#include "host/formats/capture/datagram.hpp"
#include "host/formats/capture/frame_source.hpp"
#include "host/formats/capture/session.hpp"
#include "host/text/format.hpp"

#include <array>

namespace host::formats::capture {

namespace {

class Tally {
  public:
    void count(Verdict verdict, std::uint64_t offset_bytes) {
        const auto index = static_cast<std::size_t>(verdict);
        m_first[index] = m_counts[index]++ == 0 ? offset_bytes : m_first[index];
    }

    // Worth stopping for.
    [[nodiscard]] static bool is_damage(Verdict verdict) { return !verdict_text(verdict).empty(); }

    void report(const std::string& file, trace::Diagnostics& diagnostics, bool salvage) const {
        for (std::size_t i = 0; i < m_counts.size(); ++i) {
            const std::string_view why = verdict_text(static_cast<Verdict>(i));
            if (m_counts[i] != 0 && !why.empty()) {
                const bool used = salvage && static_cast<Verdict>(i) == Verdict::bad_checksum;
                diagnostics.report(
                    "W-PACKET", {.file = file, .offset_bytes = m_first[i]},
                    fmt::format("{} frames {}: {}", m_counts[i], used ? "used all the same" : "skipped", why));
            }
        }
    }

  private:
    std::array<std::uint64_t, kVerdicts> m_counts{};
    std::array<std::uint64_t, kVerdicts> m_first{}; // place
};

} // namespace

lib::Result<std::unique_ptr<dat::RecordStream>> open(const trace::NamedSource& input, const trace::OpenOptions& options,
                                                     trace::Diagnostics& diagnostics) {
    auto spool = trace::Spool::create();
    if (!spool) {
        diagnostics.report("E-IO", {.file = input.name}, "no temporary file can be made: see TMPDIR");
        diagnostics.unusable_input(spool.error());
        return spool.error();
    }
    FrameSource frames(input, diagnostics);
    Session session(std::move(spool.value()), input.name, diagnostics);
    Tally tally;
    std::uint64_t count = 0;
    const std::uint64_t damages = diagnostics.damages();
    for (Frame frame; frames.next(frame); ++count) {
        if (options.strict && diagnostics.damages() != damages) {
            break;
        }
        Datagram datagram;
        const Verdict verdict = find_datagram(frame.link_type, frame.bytes, datagram);
        tally.count(verdict, frame.offset_bytes);
        if (options.strict && Tally::is_damage(verdict)) {
            break;
        }
        if (verdict == Verdict::unknown_link) {
            diagnostics.report("E-LINKTYPE", {.file = input.name, .offset_bytes = frame.offset_bytes},
                               fmt::format("link type {} cannot be read: frame skipped", frame.link_type));
        } else if (verdict == Verdict::datagram || (verdict == Verdict::bad_checksum && options.salvage)) {
            session.take(datagram, frame.offset_bytes);
        }
    }
    const auto finished = session.finish();
    tally.report(input.name, diagnostics, options.salvage);
    if (!finished) {
        diagnostics.report("E-IO", {.file = input.name},
                           fmt::format("the temporary file: {}", error_name(finished.error())));
        diagnostics.unusable_input(finished.error());
        return finished.error();
    }
    if (session.delivered() == 0) {
        diagnostics.report("E-EMPTY", {.file = input.name},
                           fmt::format("none of {} frames holds a TRACER-V1.0 packet", count));
        return lib::Error::corrupt;
    }
    const trace::NamedSource records{.name = input.name, .bytes = session.records(), .keep_open = true};
    auto stream = dat::RecordStream::of_sources(std::span(&records, 1), options, diagnostics);
    if (stream) {
        stream.value()->note_absent({.parts = session.lost()});
    }
    return stream;
}

} // namespace host::formats::capture
