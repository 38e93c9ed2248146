// SPDX-License-Identifier: MIT
// Prints the events of a trace with several workers: each formats whole runs of records, and the texts are written in
// the order of the trace, each as it is. The caller reads, writes, formats what is no run, and runs, too, while the
// next text to be written is not there. So many runs are under way at once that no thread waits, and memory is theirs;
// where there is none, fewer are.
#pragma once

#include "host/cli/event/event_lines.hpp"
#include "host/cli/event/json_lines.hpp"
#include "host/cli/terminal/output.hpp"
#include "host/formats/trace.hpp"
#include "host/text/format.hpp"
#include "host/workers/pool.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <span>
#include <vector>

namespace host::cli {

class RunPrinter {
  public:
    // What has texts prepared: as lines, and as objects.
    struct Writers {
        EventLines lines;
        JsonLines objects;
    };

    // Appends the events' texts, if any; called by several workers, each with writers of its own.
    using Format = std::function<void(fmt::memory_buffer&, Writers&, std::span<const trace::Event>)>;

    RunPrinter(Output& out, unsigned workers, TimeUnit unit, Format format);

    // To the end of the trace, or until the output fails.
    void print(formats::Trace& trace);

  private:
    struct Piece {
        fmt::memory_buffer text;
        std::shared_ptr<const formats::dat::RecordRun> run; // instead of `text`, if it is not null
        std::future<fmt::memory_buffer> coming;             // its text
    };

    [[nodiscard]] bool add_next(formats::Trace& trace);
    void add(formats::dat::RecordRun run);
    void add(std::span<const trace::Event> events);
    void format(const formats::dat::RecordRun& run, std::size_t worker, fmt::memory_buffer& text, bool is_flushed);
    void write_down_to(std::size_t pieces);
    void write_first();

    Output& m_out;
    Format m_format;
    std::vector<Writers> m_writers; // by worker
    std::size_t m_pieces_max;       // under way at once
    std::deque<Piece> m_pieces;
    std::vector<fmt::memory_buffer> m_written; // their memory is used again: new memory costs more than the text
    workers::Pool m_pool;                      // last: it uses the others
};

} // namespace host::cli
