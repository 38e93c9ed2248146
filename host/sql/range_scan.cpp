// SPDX-License-Identifier: MIT
// Merging windows. A window is read by the cursor that reads plain records; what a chunk's head would have given it
// (processor, names) is handed to it.
#include "host/sql/range_scan.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace host::sql {

namespace {

constexpr auto kLaterFirst = [](const auto& a, const auto& b) {
    return a.key != b.key ? a.key > b.key : a.order > b.order;
};

} // namespace

RangeScan::RangeScan(RecordIndex& index, const RangeRequest& request, formats::dat::ImageLookup& images,
                     trace::Diagnostics& diagnostics, Statistics& statistics)
    : m_index(index)
    , m_request(request)
    , m_images(images)
    , m_diagnostics(diagnostics)
    , m_statistics(statistics) {
    m_facts.clock.khz = request.tsc_khz;
    m_facts.clock.overridden = request.tsc_khz != 0;
}

// The names of a chunk are those of all chunks that were opened before it, overlaid by its own: so the metadata of
// every chunk is read, in order, and the records only where they are asked for.
void RangeScan::read_metadata(const IndexedChunk& chunk, std::shared_ptr<trace::ByteSource> source) {
    trace::Diagnostics silent([](std::string_view) {}); // the chunk seems cut, for it ends after its metadata
    formats::dat::Segment head = chunk.segment;
    head.end_bytes = chunk.main_bytes;
    formats::dat::ChunkCursor cursor(head, std::move(source), m_facts, silent);
    trace::Event event;
    while (cursor.next(event)) {
        ++m_statistics.visited;
    }
}

void RangeScan::open(const IndexedChunk& chunk, std::size_t order) {
    Head head;
    head.chunk = &chunk;
    head.order = order;
    head.key = chunk.segment.first_stamp.value;
    head.source = source_of(chunk.segment);
    head.report = static_cast<std::uint32_t>(m_facts.chunks.size());
    if (head.source == nullptr) {
        m_diagnostics.report("E-IO", {.file = chunk.segment.path}, "cannot be opened");
        return;
    }
    std::optional<Window> window;
    if (chunk.searchable) {
        window = Window{chunk.main_bytes, chunk.main_bytes};
        const bool other_cpu = m_request.cpu && *m_request.cpu != chunk.cpu;
        const TickRange& range = m_request.range;
        const bool wanted = range.first <= range.last && !other_cpu;
        const bool has_emergency = chunk.emergency_bytes != chunk.segment.end_bytes;
        const bool meets = !chunk.empty && range.first <= chunk.last_stamp && range.last >= chunk.first_stamp;
        if (wanted && (meets || has_emergency) && !m_index.is_intact(order, *head.source, m_statistics)) {
            window.reset();
        } else if (wanted && meets) {
            window = RecordIndex::find(chunk, *head.source, range, m_statistics);
        }
        if (window) {
            read_metadata(chunk, head.source);
            const auto part = [&](std::uint64_t begin, std::uint64_t end, std::uint64_t key) {
                if (begin < end) {
                    head.rest.push_back({{.path = chunk.segment.path, .begin_bytes = begin, .end_bytes = end}, key});
                }
            };
            if (wanted) {
                part(chunk.emergency_bytes, chunk.segment.end_bytes, chunk.last_stamp);
            }
            part(window->begin_bytes, window->end_bytes, head.key);
            ++(window->begin_bytes < window->end_bytes ? m_statistics.searched : m_statistics.skipped);
            if (begin_part(head)) {
                advance(std::move(head));
            }
            return;
        }
    }
    ++m_statistics.scanned;
    head.cursor = std::make_unique<formats::dat::ChunkCursor>(chunk.segment, head.source, m_facts, m_diagnostics);
    advance(std::move(head));
}

bool RangeScan::begin_part(Head& head) {
    if (head.rest.empty()) {
        return false;
    }
    const Part part = std::move(head.rest.back());
    head.rest.pop_back();
    if (head.facts == nullptr) {
        head.facts = std::make_unique<trace::TraceFacts>();
        head.facts->names = m_facts.names;
        head.facts->clock = m_facts.clock;
        head.facts->clock.overridden = true; // the window has nothing to say about it
    }
    head.key = std::max(head.key, part.least_key);
    head.cursor = std::make_unique<formats::dat::ChunkCursor>(part.segment, head.source, *head.facts, m_diagnostics);
    return true;
}

void RangeScan::advance(Head head) {
    while (!head.cursor->next(head.event)) {
        if (!begin_part(head)) {
            return;
        }
    }
    ++m_statistics.visited;
    if (!head.event.metadata && head.event.is_sound()) {
        head.key = std::max(head.key, head.event.ticks.value);
    }
    m_heads.push_back(std::move(head));
    std::ranges::push_heap(m_heads, kLaterFirst);
}

void RangeScan::open_due() {
    const std::vector<IndexedChunk>& chunks = m_index.chunks();
    while (m_next_chunk < chunks.size() &&
           (m_heads.empty() || chunks[m_next_chunk].segment.first_stamp.value <= m_heads.front().key)) {
        const std::size_t order = m_next_chunk++;
        open(chunks[order], order);
    }
}

bool RangeScan::next(trace::Event& event) {
    do {
        if (m_current) {
            Head head = std::move(*m_current);
            m_current.reset();
            advance(std::move(head));
        }
        open_due();
        if (m_heads.empty()) {
            return false;
        }
        std::ranges::pop_heap(m_heads, kLaterFirst);
        m_current = std::move(m_heads.back());
        m_heads.pop_back();
        event = m_current->event;
    } while (event.metadata);
    finish_event(*m_current, event);
    return true;
}

void RangeScan::finish_event(const Head& head, trace::Event& event) const {
    if (head.facts != nullptr) {
        const tracer::ChunkBegin& description = m_facts.chunks[head.report].description;
        event.cpu = description.cpu;
        event.chunk = description.chunk;
        event.generation = description.generation;
        event.record = (event.offset_bytes - head.chunk->segment.begin_bytes) / tracer::kRecordBytes;
    }
    event.source = head.report;
    event.image = m_images.find(event, m_facts);
    event.timed = m_facts.clock.khz != 0;
    if (!event.timed) {
        return;
    }
    const std::uint64_t start = m_index.start_ticks();
    const bool before = event.ticks.value < start;
    const std::uint64_t distance = before ? start - event.ticks.value : event.ticks.value - start;
    const auto time_ns =
        static_cast<std::int64_t>(std::min(lib::TickRate{m_facts.clock.khz}.to_nanoseconds({distance}).value,
                                           std::uint64_t{std::numeric_limits<std::int64_t>::max()}));
    event.time_ns = before ? -time_ns : time_ns;
}

} // namespace host::sql
