// SPDX-License-Identifier: MIT
#include "host/cli/event/run_printer.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <optional>
#include <utility>

namespace host::cli {

namespace {

constexpr std::size_t kPiecesPerWorker = 4;
constexpr std::size_t kEventsAtOnce = 64; // decoded events that stay in the first cache

} // namespace

RunPrinter::RunPrinter(Output& out, unsigned workers, TimeUnit unit, Format format)
    : m_out(out)
    , m_format(std::move(format))
    , m_writers(workers, Writers{.lines = EventLines(unit), .objects = JsonLines()})
    , m_pieces_max(kPiecesPerWorker * workers)
    , m_pool(workers) {}

void RunPrinter::print(formats::Trace& trace) {
    while (!m_out.failed() && add_next(trace)) {
        write_down_to(m_pieces_max);
    }
    write_down_to(0);
}

// False at the end of the trace.
bool RunPrinter::add_next(formats::Trace& trace) {
    std::optional<formats::dat::RecordRun> run;
    try {
        run = trace.next_run();
    } catch (const std::bad_alloc&) { // nothing was taken: again, with the memory of what is under way
        if (m_pieces.empty()) {
            throw;
        }
        m_pieces_max = 1;
        write_down_to(0);
        return true;
    }
    const auto batch = run ? std::span<const trace::Event>() : trace.next_batch();
    if (run) {
        add(std::move(*run));
    } else if (!batch.empty()) {
        add(batch);
    }
    return run || !batch.empty();
}

void RunPrinter::add(formats::dat::RecordRun run) {
    Piece& piece = m_pieces.emplace_back();
    piece.run = std::make_shared<const formats::dat::RecordRun>(std::move(run));
    const auto room = std::make_shared<fmt::memory_buffer>();
    if (!m_written.empty()) {
        *room = std::move(m_written.back());
        m_written.pop_back();
    }
    piece.coming = m_pool.submit([this, run = piece.run, room](std::size_t worker) {
        fmt::memory_buffer text = std::move(*room);
        format(*run, worker, text, false);
        return text;
    });
}

// is_flushed: into the output, which is written whenever it is full.
void RunPrinter::format(const formats::dat::RecordRun& run, std::size_t worker, fmt::memory_buffer& text,
                        bool is_flushed) {
    std::array<trace::Event, kEventsAtOnce> events;
    events.fill(run.common());
    for (std::size_t at = 0; at < run.size(); at += events.size()) {
        const auto some = std::span(events).first(std::min(events.size(), run.size() - at));
        run.decode(at, some);
        m_format(text, m_writers[worker], some);
        if (is_flushed) {
            m_out.flush_if_full();
        }
    }
}

// After the text before it, if that is not a run's.
void RunPrinter::add(std::span<const trace::Event> events) {
    if (m_pieces.empty() || m_pieces.back().coming.valid() || m_pieces.back().text.size() >= Output::kFlushBytes) {
        m_pieces.emplace_back();
    }
    m_format(m_pieces.back().text, m_writers.back(), events);
}

// Until no more than so many pieces are under way, or the output fails.
void RunPrinter::write_down_to(std::size_t pieces) {
    while (m_pieces.size() > pieces && !m_out.failed()) {
        write_first();
    }
}

void RunPrinter::write_first() {
    Piece piece = std::move(m_pieces.front());
    m_pieces.pop_front();
    if (piece.run == nullptr) {
        m_out.write({piece.text.data(), piece.text.size()});
        return;
    }
    try {
        piece.text = m_pool.take(std::move(piece.coming));
    } catch (const std::bad_alloc&) { // its text has no room as a whole
        m_written.clear();
        m_pieces_max = 1;
        format(*piece.run, m_pool.size() - 1, m_out.buffer(), true);
        return;
    }
    m_out.write({piece.text.data(), piece.text.size()});
    piece.text.clear();
    m_written.push_back(std::move(piece.text));
}

} // namespace host::cli
