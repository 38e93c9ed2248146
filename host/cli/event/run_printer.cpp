// SPDX-License-Identifier: MIT
#include "host/cli/event/run_printer.hpp"

#include <algorithm>
#include <array>
#include <memory>
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
    , m_pool(workers) {}

void RunPrinter::print(formats::Trace& trace) {
    while (!m_out.failed()) {
        if (auto run = trace.next_run()) {
            add(std::move(*run));
        } else if (const auto batch = trace.next_batch(); !batch.empty()) {
            add(batch);
        } else {
            break;
        }
        while (m_pieces.size() > kPiecesPerWorker * m_pool.size()) {
            write_first();
        }
    }
    while (!m_pieces.empty() && !m_out.failed()) {
        write_first();
    }
}

void RunPrinter::add(formats::dat::RecordRun run) {
    const auto shared = std::make_shared<const formats::dat::RecordRun>(std::move(run));
    const auto room = std::make_shared<fmt::memory_buffer>();
    if (!m_written.empty()) {
        *room = std::move(m_written.back());
        m_written.pop_back();
    }
    m_pieces.emplace_back().coming = m_pool.submit([this, shared, room](std::size_t worker) {
        fmt::memory_buffer text = std::move(*room);
        std::array<trace::Event, kEventsAtOnce> events;
        events.fill(shared->common());
        for (std::size_t at = 0; at < shared->size(); at += events.size()) {
            const auto some = std::span(events).first(std::min(events.size(), shared->size() - at));
            shared->decode(at, some);
            m_format(text, m_writers[worker], some);
        }
        return text;
    });
}

// After the text before it, if that is not a run's.
void RunPrinter::add(std::span<const trace::Event> events) {
    if (m_pieces.empty() || m_pieces.back().coming.valid() || m_pieces.back().text.size() >= Output::kFlushBytes) {
        m_pieces.emplace_back();
    }
    m_format(m_pieces.back().text, m_writers.back(), events);
}

void RunPrinter::write_first() {
    Piece& piece = m_pieces.front();
    const bool of_run = piece.coming.valid();
    fmt::memory_buffer text = of_run ? m_pool.take(std::move(piece.coming)) : std::move(piece.text);
    m_out.write({text.data(), text.size()});
    if (of_run) {
        text.clear();
        m_written.push_back(std::move(text));
    }
    m_pieces.pop_front();
}

} // namespace host::cli
