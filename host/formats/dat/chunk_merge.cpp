// SPDX-License-Identifier: MIT
// Opens the chunks at their first stamps and gives the earliest event of those that are open.
#include "host/formats/dat/chunk_cursor.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace host::formats::dat {

namespace {

// At most so many chunks at once are read with a whole buffer, each from a file that stays open.
constexpr std::size_t kWholeReadersMax = 128;

// Each further chunk has a small buffer, so memory stays small, and a read brings 64 slots.
constexpr std::size_t kSmallBufferBytes = 1024;

constexpr auto kLaterFirst = [](const auto& a, const auto& b) {
    return a.key != b.key ? a.key > b.key : a.order > b.order;
};

// Returns the key of an event in the merge: stamps of metadata and of damaged events are ignored.
std::uint64_t key_of(const trace::Event& event, std::uint64_t previous) {
    return !event.metadata && event.is_sound() ? std::max(previous, event.ticks.value) : previous;
}

// Compares byte by byte. Sources that cannot be read are not equal.
bool are_equal(const Segment& a, const Segment& b) {
    const std::uint64_t size = a.end_bytes - a.begin_bytes;
    const auto source_a = source_of(a);
    const auto source_b = source_of(b);
    if (source_a == nullptr || source_b == nullptr || size != b.end_bytes - b.begin_bytes) {
        return false;
    }
    std::vector<std::byte> bytes_a(std::min<std::uint64_t>(trace::ByteSource::kBufferBytes, size));
    std::vector<std::byte> bytes_b(bytes_a.size());
    for (std::uint64_t at = 0; at < size; at += bytes_a.size()) {
        const auto piece = std::min<std::uint64_t>(bytes_a.size(), size - at);
        const auto got_a = source_a->read(a.begin_bytes + at, std::span(bytes_a).first(piece));
        const auto got_b = source_b->read(b.begin_bytes + at, std::span(bytes_b).first(piece));
        if (!got_a || !got_b || got_a.value() != got_b.value() || bytes_a != bytes_b) {
            return false;
        }
    }
    return true;
}

// Keeps the first of several chunks of one number. Each other one is compared with it: W-DUP if all bytes are equal,
// E-CONFLICT if not.
void drop_duplicates(std::vector<Segment>& segments, trace::Diagnostics& diagnostics) {
    // Chunks of one number are next to each other, the first one in front.
    std::vector<const Segment*> by_key;
    by_key.reserve(segments.size());
    for (const Segment& segment : segments) {
        if (segment.key) {
            by_key.push_back(&segment);
        }
    }
    std::ranges::stable_sort(by_key, {}, [](const Segment* segment) { return *segment->key; });
    std::map<const Segment*, const Segment*> first_of; // for each segment that is dropped, in their order
    for (std::size_t first = 0, i = 1; i < by_key.size(); ++i) {
        if (by_key[i]->key == by_key[first]->key) {
            first_of.emplace(by_key[i], by_key[first]);
        } else {
            first = i;
        }
    }
    for (const auto& [segment, first] : first_of) {
        const bool same = are_equal(*first, *segment);
        diagnostics.report(
            same ? trace::Code("W-DUP") : trace::Code("E-CONFLICT"),
            {.file = segment->path,
             .offset_bytes = segment->begin_bytes,
             .chunk = segment->key->chunk,
             .cpu = segment->key->cpu},
            fmt::format("{} {}:0x{:x}: this one is dropped",
                        same ? "the same chunk is at" : "a chunk of this number, with other contents, is at",
                        text::escaped(first->path), first->begin_bytes));
    }
    std::size_t kept = 0;
    for (Segment& segment : segments) {
        if (first_of.contains(&segment)) {
            continue;
        }
        if (&segment != &segments[kept]) {
            segments[kept] = std::move(segment);
        }
        ++kept;
    }
    segments.erase(segments.begin() + static_cast<std::ptrdiff_t>(kept), segments.end());
}

} // namespace

void ChunkMerge::add(const trace::NamedSource& input) {
    if (!input.bytes->seekable()) {
        ASSERT(m_added.empty());
        m_pipe = input.bytes;
        m_added.push_back({.path = input.name, .followed = input.followed});
        return;
    }
    SlotWindow window(*input.bytes, input.bytes->size_bytes());
    add_file(window, header_of(window), input.name, {.source = input.keep_open ? input.bytes : nullptr});
}

void ChunkMerge::add_file(SlotWindow& window, const std::optional<tracer::ChunkBegin>& header, const std::string& path,
                          const Listed& listed) {
    const auto first = static_cast<std::ptrdiff_t>(m_added.size());
    index_file(window, header, path, m_added, m_diagnostics);
    std::for_each(m_added.begin() + first, m_added.end(), [&listed](Segment& segment) {
        segment.damaged = listed.is_damaged;
        segment.holes_listed = listed.holes_listed;
        segment.source = listed.source;
    });
}

void ChunkMerge::start() {
    if (m_pipe == nullptr) {
        drop_duplicates(m_added, m_diagnostics);
    }
    for (std::size_t i = 0; i < m_added.size(); ++i) {
        m_added[i].order = i;
    }
    std::ranges::stable_sort(m_added, {}, [](const Segment& segment) { return segment.first_stamp.value; });
    start(m_added);
}

void ChunkMerge::start(std::span<const Segment> segments) {
    m_segments = segments;
    m_facts.chunks.reserve(m_segments.size());
}

std::optional<lib::Ticks> ChunkMerge::first_stamp() const {
    return m_pipe == nullptr && !m_segments.empty() ? std::optional(m_segments.front().first_stamp) : std::nullopt;
}

bool ChunkMerge::is_segment_due(std::uint64_t key) const {
    return m_next_segment < m_segments.size() && m_segments[m_next_segment].first_stamp.value <= key;
}

void ChunkMerge::open_due_segments() {
    while (m_next_segment < m_segments.size() && (m_heads.empty() || is_segment_due(m_heads.front().key))) {
        const std::size_t order = m_next_segment++;
        open(m_segments[order], order);
    }
}

void ChunkMerge::open(Segment segment, std::size_t order) {
    const bool crowded = m_heads.size() >= kWholeReadersMax;
    if (crowded) {
        segment.buffer_bytes = kSmallBufferBytes;
    }
    std::shared_ptr<trace::ByteSource> source = m_pipe != nullptr ? m_pipe : segment.source;
    if (source == nullptr && !crowded) {
        const auto opened = trace::ByteSource::open_file(segment.path);
        if (!opened) {
            m_diagnostics.report("E-IO", {.file = segment.path}, trace::file_error(opened.error()));
            m_facts.absent.records = std::max<std::uint64_t>(m_facts.absent.records, 1); // it had one at least
            return;
        }
        source = opened.value();
    }
    const std::uint64_t key = segment.first_stamp.value;
    advance({.cursor = std::make_unique<ChunkCursor>(std::move(segment), std::move(source), m_facts, m_diagnostics,
                                                     m_damaged, std::exchange(m_memory, {})),
             .event = {},
             .key = key,
             .order = order});
}

void ChunkMerge::advance(Head head) {
    ASSERT(head.cursor != nullptr);
    if (!head.cursor->next(head.event)) {
        close(*head.cursor);
        return;
    }
    head.key = key_of(head.event, head.key);
    m_heads.push_back(std::move(head));
    std::ranges::push_heap(m_heads, kLaterFirst);
}

// Takes over the memory of a cursor that has ended.
void ChunkMerge::close(ChunkCursor& cursor) {
    m_memory = cursor.take_memory();
}

// Returns the stamp at which another chunk may come before the next event of the current one.
std::uint64_t ChunkMerge::time_of_next_turn() const {
    std::uint64_t turn = ~std::uint64_t{0};
    if (!m_heads.empty()) {
        turn = m_heads.front().key;
    }
    if (m_next_segment < m_segments.size()) {
        turn = std::min(turn, m_segments[m_next_segment].first_stamp.value);
    }
    return turn;
}

std::span<trace::Event> ChunkMerge::next_plain() {
    if (m_current.cursor == nullptr) {
        return {};
    }
    const std::span<trace::Event> batch = m_current.cursor->next_plain(m_current.key, m_turn);
    if (!batch.empty()) {
        m_current.key = std::max(m_current.key, batch.back().ticks.value);
    }
    return batch;
}

bool ChunkMerge::next(trace::Event& event) {
    const bool taken = take_next(event);
    m_turn = time_of_next_turn();
    ASSERT(!taken || m_current.key <= m_turn); // no other chunk has an earlier event
    return taken;
}

bool ChunkMerge::take_next(trace::Event& event) {
    if (m_current.cursor != nullptr) {
        if (m_heads.empty() && take_from_current(event)) {
            return true;
        }
        if (m_current.cursor != nullptr) {
            advance(std::move(m_current));
        }
        m_current = Head{};
    }
    open_due_segments();
    if (m_heads.empty()) {
        ASSERT(m_next_segment == m_segments.size());
        return false;
    }
    std::ranges::pop_heap(m_heads, kLaterFirst);
    m_current = std::move(m_heads.back());
    m_heads.pop_back();
    event = m_current.event;
    return true;
}

// Takes the next event if one chunk is being read and no other begins before that event. Returns false if the merge
// must decide, or if the chunk has ended; then there is no current cursor.
bool ChunkMerge::take_from_current(trace::Event& event) {
    ASSERT(m_heads.empty());
    if (is_segment_due(m_current.key)) {
        return false;
    }
    if (!m_current.cursor->next(event)) {
        close(*m_current.cursor);
        m_current.cursor.reset();
        return false;
    }
    m_current.key = key_of(event, m_current.key);
    if (is_segment_due(m_current.key)) {
        m_current.event = event;
        m_heads.push_back(std::move(m_current));
        m_current = Head{};
        return false;
    }
    return true;
}

} // namespace host::formats::dat
