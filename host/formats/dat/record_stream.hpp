// SPDX-License-Identifier: MIT
// The events of 16-byte records, wherever they are stored: in the files of a session, in sources that were unpacked, in
// a pipe. Puts together what the parts do: ChunkMerge orders, TraceTime converts stamps, ImageLookup finds the image.
#pragma once

#include "host/formats/dat/chunk_merge.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/dat/trace_time.hpp"
#include "host/trace/byte_source.hpp"
#include "host/trace/diagnostics.hpp"
#include "host/trace/event.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/facts.hpp"
#include "host/trace/kernel_image.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::formats::dat {

// Which kernel image the numbers in a trace are looked up in: the one that the user names, else the copy that a session
// keeps, else the first that is found with the build id of the trace: a kernel.elf or formats.json beside the trace, in
// a directory of the environment variable REMORA_KERNELS (or a file there, all separated by colons), in build/kernel.
// An image other than the one that ran is never used.
class ImageLookup {
  public:
    // diagnostics outlive the look-up.
    explicit ImageLookup(trace::Diagnostics& diagnostics)
        : m_diagnostics(diagnostics) {}

    // directory, manifest: of a session; else empty and null. False, with E-IO: the image that the user named cannot be
    // read. A session's own copy that is damaged costs the texts and names only: W-FORMATS.
    [[nodiscard]] bool load(const trace::OpenOptions& options, const std::string& directory, const Manifest* manifest);

    [[nodiscard]] std::optional<trace::KernelImage>& image() { return m_image; }

    // The image of this event, null if there is none that ran; reports once why not.
    [[nodiscard]] const trace::KernelImage* find(const trace::Event& event, const trace::TraceFacts& facts);

  private:
    void report_once(std::string_view text);

    // True if `place`, or a file in it, is the image.
    [[nodiscard]] bool found_at(const std::string& place, std::uint64_t image_id);
    void search(std::uint64_t image_id, const std::string& trace_file);

    trace::Diagnostics& m_diagnostics;
    std::optional<trace::KernelImage> m_image;
    std::string m_file;
    bool m_reported = false;
    bool m_searched = false; // or is not to be
};

// What opening a session found, for another pass over it.
struct SessionIndex {
    Manifest manifest;
    trace::Absent absent;
    std::vector<Segment> segments; // in the order of their first stamps
};

class RecordStream final : public trace::EventStream {
  public:
    // path: a directory with manifest.json. known: its index, or null. Any error was reported to diagnostics.
    [[nodiscard]] static lib::Result<std::unique_ptr<RecordStream>>
    of_session(const std::string& path, const trace::OpenOptions& options, trace::Diagnostics& diagnostics,
               std::shared_ptr<const SessionIndex> known);

    // One pipe, or any number of sources that can be positioned.
    [[nodiscard]] static lib::Result<std::unique_ptr<RecordStream>>
    of_sources(std::span<const trace::NamedSource> sources, const trace::OpenOptions& options,
               trace::Diagnostics& diagnostics);

    [[nodiscard]] std::span<const trace::Event> next_batch() override;

    // What carried these records states that so much of it was lost.
    void note_absent(const trace::Absent& absent) { m_facts.absent = absent; }

    // What carried these records has the machine's totals beside them.
    void note_totals(const tracer::ExportEnd& totals) { m_facts.export_end = totals; }

    // Only for a session.
    [[nodiscard]] const Manifest* manifest() const { return m_session != nullptr ? &m_session->manifest : nullptr; }

    // Returns the index of a session. It is null if opening reported something: whoever opens it again must see that.
    [[nodiscard]] std::shared_ptr<const SessionIndex> index() const { return m_is_sound ? m_session : nullptr; }

  private:
    RecordStream(const trace::OpenOptions& options, trace::Diagnostics& diagnostics);

    [[nodiscard]] bool must_stop() const { return m_strict && m_diagnostics.damages() != m_damages; }

    [[nodiscard]] lib::Result<void> add_session(SessionIndex& index);
    void finish();

    trace::Diagnostics& m_diagnostics;
    std::shared_ptr<const SessionIndex> m_session;
    bool m_is_sound = false;
    std::string m_directory;
    ChunkMerge m_merge;
    TraceTime m_time;
    ImageLookup m_images;
    bool m_strict;
    bool m_followed = false;
    std::uint64_t m_damages; // before anything was read
    bool m_exhausted = false;
};

} // namespace host::formats::dat
