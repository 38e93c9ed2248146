// SPDX-License-Identifier: MIT
#include "host/cli/event/run_printer.hpp"

#include "host/trace/names.hpp"

#include <algorithm>
#include <list>
#include <new>
#include <utility>

namespace host::cli {

namespace {

constexpr std::size_t kPiecesPerWorker = 4;
constexpr std::size_t kEvents = 1024;     // of a piece, which may exceed this by less than a batch
constexpr std::size_t kEventsAtOnce = 64; // events that are formatted before a full output is written

} // namespace

// Events, and copies of everything that they point to, because reading continues while they are formatted.
struct RunPrinter::Piece {
    std::vector<trace::Event> events;
    std::vector<trace::OptionalTask> tasks; // by event
    std::list<trace::Names> names;          // each differs from the others
    std::list<std::vector<std::byte>> payloads;
    std::list<std::vector<std::uint32_t>> words;
    fmt::memory_buffer text;
    std::future<void> coming; // the text

    void keep(std::span<const trace::Event> batch, trace::RunningTasks& running) {
        for (const trace::Event& event : batch) {
            tasks.push_back(running.take(event));
            trace::Event& kept = events.emplace_back(event);
            if (names.empty() || names.back().version() != event.names->version()) {
                names.push_back(*event.names);
            }
            kept.names = &names.back();
            if (!event.payload.empty()) {
                kept.payload = payloads.emplace_back(event.payload.begin(), event.payload.end());
            }
            if (!event.words.empty()) {
                kept.words = words.emplace_back(event.words.begin(), event.words.end());
            }
        }
    }

    void clear() {
        events.clear();
        tasks.clear();
        names.clear();
        payloads.clear();
        words.clear();
        text.clear();
    }
};

RunPrinter::RunPrinter(Output& out, unsigned workers, TimeUnit unit, Format format)
    : m_out(out)
    , m_format(std::move(format))
    , m_writers(workers, Writers{.lines = EventLines(unit), .objects = JsonLines()})
    , m_pieces_max(kPiecesPerWorker * workers)
    , m_pool(workers) {}

RunPrinter::~RunPrinter() = default;

void RunPrinter::print(formats::Trace& trace) {
    while (!m_out.failed() && add_next(trace)) {
        write_down_to(m_pieces_max);
    }
    write_down_to(0);
}

// If there is no memory for one more piece, the pieces in progress are written, and one of them is used again.
std::unique_ptr<RunPrinter::Piece> RunPrinter::new_piece() {
    if (m_written.empty()) {
        try {
            auto piece = std::make_unique<Piece>();
            piece->events.reserve(2 * kEvents);
            return piece;
        } catch (const std::bad_alloc&) {
            if (m_pieces.empty()) {
                throw;
            }
            m_pieces_max = 1;
            write_down_to(0);
        }
    }
    auto piece = std::move(m_written.back());
    m_written.pop_back();
    return piece;
}

// Returns false at the end of the trace.
bool RunPrinter::add_next(formats::Trace& trace) {
    auto piece = new_piece();
    while (piece->events.size() < kEvents) {
        const auto batch = trace.next_batch();
        if (batch.empty()) {
            break;
        }
        piece->keep(batch, m_running);
    }
    if (piece->events.empty()) {
        return false;
    }
    piece->coming =
        m_pool.submit([this, piece = piece.get()](std::size_t worker) { format(*piece, worker, piece->text, false); });
    m_pieces.push_back(std::move(piece));
    return true;
}

// is_flushed: the text is appended to the output, which is written whenever it is full.
void RunPrinter::format(const Piece& piece, std::size_t worker, fmt::memory_buffer& text, bool is_flushed) {
    std::span<const trace::OptionalTask> tasks = piece.tasks;
    for (std::span<const trace::Event> rest = piece.events; !rest.empty();) {
        const auto some = rest.first(std::min(kEventsAtOnce, rest.size()));
        m_format(text, m_writers[worker], some, tasks.first(some.size()));
        tasks = tasks.subspan(some.size());
        if (is_flushed) {
            m_out.flush_if_full();
        }
        rest = rest.subspan(some.size());
    }
}

// Writes texts until at most so many pieces are in progress, or until the output fails.
void RunPrinter::write_down_to(std::size_t pieces) {
    while (m_pieces.size() > pieces && !m_out.failed()) {
        write_first();
    }
}

void RunPrinter::write_first() {
    auto piece = std::move(m_pieces.front());
    m_pieces.pop_front();
    try {
        m_pool.take(std::move(piece->coming));
    } catch (const std::bad_alloc&) { // there is no memory for the whole text
        m_written.clear();
        m_pieces_max = 1;
        piece->text = fmt::memory_buffer();
        format(*piece, m_pool.size() - 1, m_out.buffer(), true);
    }
    m_out.write({piece->text.data(), piece->text.size()});
    piece->clear();
    m_written.push_back(std::move(piece));
}

} // namespace host::cli
