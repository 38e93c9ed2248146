// SPDX-License-Identifier: MIT
// Reads the heads and ends of chunks, and searches by halving.
#include "host/sql/record_index.hpp"

#include "host/formats/dat/chunk_cursor.hpp"
#include "host/formats/dat/chunk_sum.hpp"
#include "tracer/chunk/chunk_seal.hpp"

#include <algorithm>
#include <array>
#include <utility>

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
    // No more than the head, or its checksum would be compared: that is done when a query needs the chunk.
    const std::uint64_t end = std::min(segment.end_bytes, segment.begin_bytes + tracer::kCombineSlotsMax * kSlot);
    formats::dat::ChunkCursor cursor({.path = segment.path, .begin_bytes = segment.begin_bytes, .end_bytes = end},
                                     std::move(source), facts, silent);
    trace::Event event;
    if (cursor.next(event)) {
        constexpr std::size_t kLengthBytes = 2; // before the payload
        statistics.visited +=
            event.is(trace::kCodeOf<"chunk_begin">) ? tracer::combine_slots(kLengthBytes + event.payload.size()) : 1;
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

// Whether the bytes are those that the checksum in the chunk's head was computed of; true if it states none.
bool sum_holds(const formats::dat::Segment& segment, trace::ByteSource& source, Statistics& statistics) {
    formats::dat::CombinedAssembler assembler;
    std::uint64_t offset = segment.begin_bytes;
    const auto first = record_at(source, offset, statistics);
    for (auto record = first; record && assembler.feed(*record) == formats::dat::CombinedAssembler::Outcome::open;) {
        offset += kSlot;
        record = record_at(source, offset, statistics);
    }
    const auto head = tracer::decode_payload<tracer::ChunkBegin>(assembler.payload());
    if (!first || !head) {
        return false;
    }
    if (!tracer::is_sealed(head.value())) {
        return true;
    }
    offset += kSlot;
    return check_bytes(source, offset, segment.end_bytes - offset,
                       formats::dat::ChunkSum(assembler.payload(), first->stamp(), assembler.other_bits()),
                       head.value().crc32c) == formats::dat::ChunkBytes::whole;
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
    std::vector<formats::dat::Segment> segments;
    formats::dat::SlotWindow window;
    for (const trace::NamedSource& input : sources) {
        const std::size_t first = segments.size();
        const auto bytes = input.bytes != nullptr ? lib::Result(input.bytes) : trace::ByteSource::open_file(input.name);
        if (!bytes) {
            continue; // who reads everything reports it
        }
        m_bytes += bytes.value()->size_bytes();
        window.begin(*bytes.value(), bytes.value()->size_bytes());
        index_file(window, header_of(window), input.name, segments, diagnostics);
        for (std::size_t i = first; i < segments.size() && input.keep_open; ++i) {
            segments[i].source = input.bytes;
        }
    }
    drop_duplicates(segments, diagnostics);
    std::ranges::stable_sort(segments, {}, [](const auto& segment) { return segment.first_stamp.value; });
    add(std::move(segments), statistics);
}

RecordIndex::RecordIndex(std::vector<formats::dat::Segment> segments, Statistics& statistics) {
    add(std::move(segments), statistics);
}

void RecordIndex::add(std::vector<formats::dat::Segment> segments, Statistics& statistics) {
    std::optional<std::uint64_t> boot_id;
    m_chunks.reserve(segments.size());
    for (formats::dat::Segment& segment : segments) {
        IndexedChunk chunk{.segment = std::move(segment)};
        const auto source = source_of(chunk.segment);
        const auto head = source != nullptr ? head_of(chunk.segment, source, statistics) : std::nullopt;
        chunk.tsc_khz = head ? head->tsc_khz : 0;
        m_all_described = m_all_described && head && trace::is_plausible_rate(head->tsc_khz);
        if (head) {
            boot_id = boot_id.value_or(head->boot_id);
            chunk.searchable = head->boot_id == *boot_id && is_searchable(*head, *source, chunk, statistics);
        }
        m_chunks.push_back(std::move(chunk));
    }
}

bool RecordIndex::is_intact(std::size_t number, trace::ByteSource& source, Statistics& statistics) {
    IndexedChunk& chunk = m_chunks[number];
    if (!std::exchange(chunk.sum_compared, true)) {
        chunk.searchable = sum_holds(chunk.segment, source, statistics);
    }
    return chunk.searchable;
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
