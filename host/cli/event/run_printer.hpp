// SPDX-License-Identifier: MIT
// Prints the events of a trace with several workers: each formats a piece of about a thousand events, and the texts are
// written in the order of the trace. The caller reads and writes, and formats pieces, too, while the next text is not
// ready. So many pieces are in progress at once that no thread waits; if there is not enough memory, there are fewer.
#pragma once

#include "host/cli/event/event_lines.hpp"
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
    // Holds the writers with prepared texts, for lines and for objects.
    struct Writers {
        EventLines lines;
        JsonLines objects;
    };

    // Appends the texts of the events, if any; several workers call it, each with its own writers. tasks: by event, in
    // which it was logged if it is one of the application.
    using Format = std::function<void(fmt::memory_buffer&, Writers&, std::span<const trace::Event>,
                                      std::span<const trace::OptionalTask> tasks)>;

    RunPrinter(Output& out, unsigned workers, TimeUnit unit, Format format);
    RunPrinter(const RunPrinter&) = delete;
    RunPrinter& operator=(const RunPrinter&) = delete;
    ~RunPrinter();

    // Prints to the end of the trace, or until the output fails.
    void print(formats::Trace& trace);

  private:
    struct Piece;

    [[nodiscard]] bool add_next(formats::Trace& trace);
    [[nodiscard]] std::unique_ptr<Piece> new_piece();
    void format(const Piece& piece, std::size_t worker, fmt::memory_buffer& text, bool is_flushed);
    void write_down_to(std::size_t pieces);
    void write_first();

    Output& m_out;
    Format m_format;
    std::vector<Writers> m_writers; // by worker
    trace::RunningTasks m_running;
    std::size_t m_pieces_max; // in progress at once
    std::deque<std::unique_ptr<Piece>> m_pieces;
    std::vector<std::unique_ptr<Piece>>
        m_written;        // their memory is used again, because new memory costs more than the text
    workers::Pool m_pool; // last member, because it uses the others
};

} // namespace host::cli
