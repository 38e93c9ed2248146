// SPDX-License-Identifier: MIT
// The events of 16-byte records, wherever they lie: in the files of a session, in sources that somebody unpacked, in a
// pipe. Chunks are merged by time; the order within a chunk is never changed. Memory is one buffer per chunk that is
// being merged, not per chunk of the session.
#pragma once

#include "host/trace/chunk_cursor.hpp"
#include "host/trace/event_stream.hpp"
#include "host/trace/kernel_clock.hpp"
#include "host/trace/kernel_image.hpp"
#include "host/trace/manifest.hpp"
#include "host/trace/open_options.hpp"
#include "host/trace/segment.hpp"
#include "host/trace/tick_scale.hpp"
#include "lib/result.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace host::trace {

class RecordStream final : public EventStream {
  public:
    // path: a directory with manifest.json. Any error was reported to diagnostics.
    [[nodiscard]] static lib::Result<std::unique_ptr<RecordStream>>
    of_session(const std::string& path, const OpenOptions& options, Diagnostics& diagnostics);

    // One pipe, or any number of sources that can be positioned.
    [[nodiscard]] static lib::Result<std::unique_ptr<RecordStream>>
    of_sources(std::span<const NamedSource> sources, const OpenOptions& options, Diagnostics& diagnostics);

    [[nodiscard]] bool next(Event& event) override;
    [[nodiscard]] std::span<const Event> next_batch() override;

    // What carried these records knows that so much of it never came.
    void note_absent(const Absent& absent) { m_facts.absent = absent; }

    // Only for a session.
    [[nodiscard]] const std::optional<Manifest>& manifest() const { return m_manifest; }

  private:
    struct Head {
        std::unique_ptr<ChunkCursor> cursor;
        Event event;
        std::uint64_t key = 0; // of the merge: the event's stamp, never falling within one cursor
        std::size_t order = 0;
    };

    RecordStream(const OpenOptions& options, Diagnostics& diagnostics);

    [[nodiscard]] bool must_stop() const { return m_strict && m_diagnostics.damages() != m_damages; }

    void finish();
    [[nodiscard]] lib::Result<void> open_directory(const std::string& path);
    void add_source(const NamedSource& input);
    void order_segments();
    void open_due_segments();
    void advance(Head head);
    [[nodiscard]] bool next_alone(Event& event);
    [[nodiscard]] bool next_plain(Event& event);
    [[nodiscard]] bool next_slowly(Event& event);
    [[nodiscard]] std::uint64_t time_of_next_turn() const;
    [[nodiscard]] bool convert_time(Event& event);
    void report_range(const Event& event);
    void set_time(Event& event);
    [[nodiscard]] bool load_image(const OpenOptions& options);
    void set_image(Event& event);
    void begin_kernel_clock(const Event& event);
    void report_image(std::string_view text);

    Diagnostics& m_diagnostics;
    std::optional<Manifest> m_manifest;
    std::string m_directory;
    std::vector<Segment> m_segments;    // in the order of their first stamps
    std::shared_ptr<ByteSource> m_pipe; // instead of segments, when the input cannot be positioned
    std::size_t m_next_segment = 0;
    std::vector<Head> m_heads; // a heap: the earliest event on top
    Head m_current;            // whose event the caller holds
    std::uint64_t m_turn = 0;  // at this stamp another chunk may have its turn
    KernelClock m_kernel_clock;
    bool m_machine_clock = false; // stamps stay as they are
    TickScale m_scale;
    std::optional<lib::Ticks> m_start;
    bool m_strict;
    Condemned m_condemned;
    std::uint64_t m_damages; // before anything was read
    bool m_exhausted = false;
    std::optional<KernelImage> m_image;
    std::string m_image_file;
    bool m_image_told = false;
};

} // namespace host::trace
