// SPDX-License-Identifier: MIT
// Reads the heads and ends of chunks, and searches by halving.
#include "host/sql/record_index.hpp"

#include "host/formats/dat/chunk_cursor.hpp"

#include <algorithm>
#include <array>

namespace host::sql {

namespace {

constexpr std::uint64_t kSlot = tracer::kRecordBytes;

std::optional<tracer::Record> record_at(trace::ByteSource& source, std::uint64_t offset, Statistics& statistics) {
    std::array<std::byte, kSlot> bytes{};
    const auto count = source.read(offset, bytes);
    if (!count || count.value() != bytes.size()) {
        return std::nullopt;
    }
    ++statistics.visited;
    return tracer::decode_record(bytes);
}

// The head of a chunk; nothing if it has none, or an invalid one.
std::optional<tracer::ChunkBegin> head_of(const formats::dat::Segment& segment,
                                          std::shared_ptr<trace::ByteSource> source, Statistics& statistics) {
    trace::Diagnostics silent([](std::string_view) {});
    trace::TraceFacts facts;
    formats::dat::ChunkCursor cursor(segment, std::move(source), facts, silent);
    trace::Event event;
    if (cursor.next(event)) {
        statistics.visited += event.is(trace::kCodeOf<"chunk_begin">) ? tracer::combine_slots(event.payload.size()) : 1;
    }
    const trace::ChunkReport& report = facts.chunks.front();
    return report.described ? std::optional(report.description) : std::nullopt;
}

bool may_use_emergency_area(const tracer::Record& record) {
    const tracer::EventRow* const row = tracer::find_event(record.event_code());
    return row != nullptr && row->space == tracer::Space::emergency;
}

// Where the records at the end of the chunk begin that may be its emergency area.
std::optional<std::uint64_t> begin_of_emergency(trace::ByteSource& source, std::uint64_t begin, std::uint64_t end,
                                                Statistics& statistics) {
    while (end > begin) {
        const auto record = record_at(source, end - kSlot, statistics);
        if (!record) {
            return std::nullopt;
        }
        if (!may_use_emergency_area(*record)) {
            break;
        }
        end -= kSlot;
    }
    return end;
}

// Whether the checked stamps never fall. Stores the first and the last one.
bool stamps_rise(trace::ByteSource& source, IndexedChunk& chunk, Statistics& statistics) {
    std::uint64_t previous = 0;
    for (std::uint64_t offset = chunk.main_bytes; offset < chunk.emergency_bytes;) {
        const auto record = record_at(source, offset, statistics);
        if (!record || record->empty() || record->stamp().value < previous) {
            return false;
        }
        previous = record->stamp().value;
        if (offset == chunk.main_bytes) {
            chunk.first_stamp = previous;
        }
        const std::uint64_t last = chunk.emergency_bytes - kSlot;
        offset = offset == last ? chunk.emergency_bytes : std::min(offset + RecordIndex::kStride * kSlot, last);
    }
    chunk.last_stamp = previous;
    return true;
}

bool is_searchable(const tracer::ChunkBegin& head, trace::ByteSource& source, IndexedChunk& chunk,
                   Statistics& statistics) {
    const std::uint64_t begin = chunk.segment.begin_bytes + std::uint64_t{head.preamble_slots} * kSlot;
    const std::uint64_t end = begin + std::uint64_t{head.records} * kSlot;
    if (head.encoding != tracer::Encoding::records || end != chunk.segment.end_bytes) {
        return false;
    }
    const auto emergency = begin_of_emergency(source, begin, end, statistics);
    if (!emergency) {
        return false;
    }
    chunk.cpu = head.cpu;
    chunk.main_bytes = begin;
    chunk.emergency_bytes = *emergency;
    chunk.empty = begin == *emergency;
    return stamps_rise(source, chunk, statistics);
}

// Halving within [low, high): the first record for which `reached` is true; high if there is none.
template <typename Reached>
std::optional<std::uint64_t> first_where(trace::ByteSource& source, const IndexedChunk& chunk, Statistics& statistics,
                                         Reached reached) {
    std::uint64_t low = 0;
    std::uint64_t high = (chunk.emergency_bytes - chunk.main_bytes) / kSlot;
    std::uint64_t least = chunk.first_stamp;
    std::uint64_t greatest = chunk.last_stamp;
    while (low < high) {
        const std::uint64_t middle = low + (high - low) / 2;
        const auto record = record_at(source, chunk.main_bytes + middle * kSlot, statistics);
        if (!record || record->stamp().value < least || record->stamp().value > greatest) {
            return std::nullopt;
        }
        if (reached(record->stamp().value)) {
            high = middle;
            greatest = record->stamp().value;
        } else {
            low = middle + 1;
            least = record->stamp().value;
        }
    }
    return chunk.main_bytes + low * kSlot;
}

} // namespace

RecordIndex::RecordIndex(std::span<const trace::NamedSource> sources, trace::Diagnostics& diagnostics,
                         Statistics& statistics) {
    for (const trace::NamedSource& input : sources) {
        std::vector<formats::dat::Segment> segments;
        index_file(*input.bytes, input.name, segments, diagnostics);
        for (formats::dat::Segment& segment : segments) {
            if (input.keep_open) {
                segment.source = input.bytes;
            }
            IndexedChunk chunk{.segment = std::move(segment)};
            const auto head = head_of(chunk.segment, input.bytes, statistics);
            chunk.tsc_khz = head ? head->tsc_khz : 0;
            m_all_described = m_all_described && head && trace::is_plausible_rate(head->tsc_khz);
            chunk.searchable = head && is_searchable(*head, *input.bytes, chunk, statistics);
            m_chunks.push_back(std::move(chunk));
        }
    }
    std::ranges::stable_sort(m_chunks, {}, [](const IndexedChunk& chunk) { return chunk.segment.first_stamp.value; });
}

std::optional<Window> RecordIndex::find(const IndexedChunk& chunk, trace::ByteSource& source, const TickRange& range,
                                        Statistics& statistics) {
    const auto begin =
        first_where(source, chunk, statistics, [&](std::uint64_t stamp) { return stamp >= range.first; });
    const auto end = first_where(source, chunk, statistics, [&](std::uint64_t stamp) { return stamp > range.last; });
    if (!begin || !end || *end < *begin) {
        return std::nullopt;
    }
    return Window{*begin, *end};
}

} // namespace host::sql
