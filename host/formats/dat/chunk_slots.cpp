// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_slots.hpp"

#include "host/text/format.hpp"
#include "lib/assert.hpp"
#include "tracer/compact/decoder.hpp"

#include <algorithm>

namespace host::formats::dat {

namespace {

using tracer::kRecordBytes;
using tracer::compact::Decoder;

constexpr std::size_t kWindowBytes = 4 * Decoder::kLookaheadBytes;

std::vector<Stretch> stretches_of(const Segment& segment) {
    if (segment.oldest_bytes != 0) {
        return {{.begin_bytes = segment.oldest_bytes, .end_bytes = segment.end_bytes},
                {.begin_bytes = segment.begin_bytes, .end_bytes = segment.oldest_bytes}};
    }
    return segment.stretches.empty()
               ? std::vector<Stretch>{{.begin_bytes = segment.begin_bytes, .end_bytes = segment.end_bytes}}
               : segment.stretches;
}

} // namespace

// A compact stream, which is taken piece by piece from the slots that contain it.
struct ChunkSlots::Stream {
    Stream(std::uint64_t stream_bytes, std::uint64_t offset_bytes)
        : slots((stream_bytes + kRecordBytes - 1) / kRecordBytes)
        , slots_left(slots)
        , begin_bytes(offset_bytes) {
        decoder.restart(stream_bytes);
    }

    Decoder decoder;
    std::uint64_t slots; // in the stream, padding included
    std::uint64_t slots_left;
    std::uint64_t begin_bytes; // of the stream in the file
    std::vector<std::byte> window;
    std::uint64_t window_begin = 0; // of the window in the stream
    std::uint64_t event_offset = 0; // of the decoder's records in the stream
    std::size_t next_record = 0;    // of the decoder's records
    bool is_reported = false;       // its fault, or the skipping, was reported
};

ChunkSlots::ChunkSlots(ChunkScope& scope, std::shared_ptr<trace::ByteSource> source, SlotBuffer memory)
    : m_scope(scope)
    , m_source(std::move(source))
    , m_stretches(stretches_of(scope.segment()))
    , m_memory(std::move(memory)) {
    const Segment& segment = scope.segment();
    ASSERT(segment.begin_bytes <= m_stretches.front().begin_bytes);
    ASSERT(m_stretches.front().begin_bytes <= segment.end_bytes);
    begin_stretch(m_stretches.front().begin_bytes, m_stretches.front().end_bytes);
    if (segment.oldest_bytes != 0) {
        m_scope.report("W-ROTATED", segment.oldest_bytes,
                       "time falls here and nowhere else: a cyclic chunk in memory order, read from its oldest record "
                       "on");
    }
}

ChunkSlots::~ChunkSlots() = default;

// --- the buffer ------------------------------------------------------------------------------------------------------

void ChunkSlots::begin_stretch(std::uint64_t begin_bytes, std::uint64_t end_bytes) {
    ASSERT(begin_bytes <= end_bytes);
    const std::size_t size =
        std::clamp<std::uint64_t>(end_bytes - begin_bytes, kRecordBytes, m_scope.segment().buffer_bytes);
    m_memory.reserve(size);
    m_buffer = m_memory.first(size);
    m_buffer_offset = begin_bytes;
    m_end = end_bytes;
    m_position = 0;
    m_filled = 0;
    m_shrunk = false;
}

bool ChunkSlots::begin_next_stretch() {
    if (m_failed || m_stretch + 1 == m_stretches.size()) {
        return false;
    }
    const Stretch& next = m_stretches[++m_stretch];
    if (next.place_bytes) {
        m_scope.report("W-TAIL", *next.place_bytes,
                       fmt::format("bytes were lost or added here: {} bytes are left out, and the records from 0x{:x} "
                                   "on are read; copy or receive the file again",
                                   next.begin_bytes - *next.place_bytes, next.begin_bytes));
    } else {
        report_tail();
    }
    begin_stretch(next.begin_bytes, next.end_bytes);
    m_next_index = std::max(m_next_index, next.index);
    return true;
}

// Takes the next slot of the stretch. Returns false at its end, or once a read has failed.
bool ChunkSlots::take(tracer::Record& record) {
    if (m_position + kRecordBytes > m_filled && !refill()) {
        return false;
    }
    record = tracer::decode_record(m_buffer.subspan(m_position, kRecordBytes));
    m_position += kRecordBytes;
    return true;
}

std::optional<tracer::Record> ChunkSlots::peek() {
    if (m_position + kRecordBytes > m_filled && (!is_seekable() || !refill())) {
        return std::nullopt;
    }
    return tracer::decode_record(m_buffer.subspan(m_position, kRecordBytes));
}

lib::Result<std::size_t> ChunkSlots::read(std::uint64_t offset_bytes, std::span<std::byte> out) {
    if (m_source != nullptr) {
        return m_source->read(offset_bytes, out);
    }
    const auto file = trace::ByteSource::open_file(m_scope.segment().path);
    return file ? file.value()->read(offset_bytes, out) : lib::Result<std::size_t>(file.error());
}

// Reads more; the part of a slot that is left moves to the beginning of the buffer.
bool ChunkSlots::refill() {
    if (m_failed) {
        return false;
    }
    add_to_sum();
    const std::size_t kept = m_filled - m_position;
    std::ranges::copy(m_buffer.first(m_filled).subspan(m_position), m_buffer.begin());
    m_buffer_offset += m_position;
    m_position = 0;
    m_filled = kept;
    const std::uint64_t read_at = m_buffer_offset + kept;
    const std::uint64_t left = m_end > read_at ? m_end - read_at : 0;
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left, m_buffer.size() - kept));
    const auto count = read(read_at, m_buffer.subspan(kept, wanted));
    if (!count) {
        m_failed = true;
        return false;
    }
    m_filled += count.value();
    m_shrunk = m_shrunk || (is_seekable() && m_end != kToTheEnd && count.value() < wanted);
    return m_filled >= kRecordBytes;
}

bool ChunkSlots::next(Slot& slot, bool is_skipped) {
    if (m_scope.chunk().compact() && !is_skipped && next_of_stream(slot)) {
        return true;
    }
    slot.compact = false;
    while (!take(slot.record)) {
        if (!begin_next_stretch()) {
            return false;
        }
    }
    slot.offset_bytes = offset_bytes() - kRecordBytes;
    ASSERT(slot.offset_bytes >= m_scope.segment().begin_bytes);
    slot.index = m_next_index++;
    return true;
}

void ChunkSlots::restart(Slot& slot) {
    m_stream.reset();
    slot.index = 0;
    m_next_index = 1;
}

std::optional<tracer::Record> ChunkSlots::look_ahead(std::uint8_t code) const {
    const auto source = m_source != nullptr ? m_source : source_of(m_scope.segment());
    if (source == nullptr || !source->seekable()) {
        return std::nullopt;
    }
    SlotWindow window(*source, m_end);
    for (std::uint64_t offset = offset_bytes();; offset += kRecordBytes) {
        const auto record = window.at(offset);
        if (!record || record->event_code() == code) {
            return record;
        }
    }
}

void ChunkSlots::report_tail() {
    if (m_filled != m_position) {
        m_scope.report("W-TAIL", offset_bytes(),
                       fmt::format("{} trailing bytes after the last record", m_filled - m_position));
    }
}

void ChunkSlots::report_end() {
    if (m_failed || m_shrunk) {
        m_scope.report("E-IO", offset_bytes(), m_failed ? "reading failed" : "the file became shorter");
    }
    report_tail();
}

// --- the checksum of the chunk ---------------------------------------------------------------------------------------

void ChunkSlots::check_sum(const ChunkSum& sum, std::uint32_t stated, std::uint64_t size_bytes) {
    const Segment& segment = m_scope.segment();
    const std::uint64_t begin = offset_bytes();
    if (!is_seekable()) {
        m_sum = sum;
        m_summed_to = begin;
        m_sum_end = begin + size_bytes;
        m_stated_sum = stated;
        return;
    }
    // A chunk that is not complete is reported by its counts.
    const bool is_all_there =
        segment.stretches.empty() && begin <= segment.end_bytes && segment.end_bytes - begin >= size_bytes;
    const auto source = m_source != nullptr ? m_source : source_of(segment);
    if (!is_all_there || source == nullptr) {
        return;
    }
    // Empty slots explain a wrong checksum only if a receiver states that it has lost them and nothing else has
    // changed.
    const ChunkBytes bytes = check_bytes(*source, begin, size_bytes, sum, stated, buffered());
    if (bytes == ChunkBytes::damaged || (bytes == ChunkBytes::holed && !segment.holes_listed)) {
        report_sum();
        realign(*source);
    }
}

// Adds what was taken since the last call to the sum.
void ChunkSlots::add_to_sum() {
    const std::uint64_t taken = std::min(offset_bytes(), m_sum_end);
    if (m_sum && taken > m_summed_to) {
        m_sum->add(m_buffer.subspan(m_summed_to - m_buffer_offset, taken - m_summed_to));
        m_summed_to = taken;
    }
}

// Compares the sum, unless the chunk is incomplete.
void ChunkSlots::finish_sum() {
    add_to_sum();
    const std::optional<ChunkSum> sum = std::exchange(m_sum, std::nullopt);
    if (sum && m_summed_to == m_sum_end && sum->value() != m_stated_sum) {
        report_sum();
    }
}

void ChunkSlots::report_sum() {
    m_scope.chunk().damaged = true;
    m_scope.report("W-CRC", m_scope.chunk().begin_bytes,
                   "the checksum of the chunk is wrong: its records are read, and nothing is concluded from them");
}

// Searches a chunk whose size is right and whose checksum is wrong: its records may be off their slots, if as many
// bytes were lost at one place as were added at another. Its header has been read.
void ChunkSlots::realign(trace::ByteSource& source) {
    const Segment& segment = m_scope.segment();
    const tracer::ChunkBegin& header = m_scope.chunk().description;
    std::vector<Stretch> stretches =
        find_stretches(source, segment.begin_bytes, segment.end_bytes, Announced{header.preamble_slots, header.records})
            .stretches;
    if (!stretches.empty() && !m_scope.chunk().compact()) {
        const std::uint64_t here = offset_bytes();
        m_stretches = stretches;
        m_scope.set_stretches(std::move(stretches));
        begin_stretch(here, std::max(here, m_stretches.front().end_bytes));
    }
}

// --- a compact stream ------------------------------------------------------------------------------------------------

// Takes the next slot from the compact stream, which follows the preamble. Returns false before and after the stream.
bool ChunkSlots::next_of_stream(Slot& slot) {
    if (m_stream == nullptr) {
        if (m_next_index != m_scope.chunk().description.preamble_slots) {
            return false;
        }
        m_stream = std::make_unique<Stream>(m_scope.chunk().description.compact_bytes, offset_bytes());
        if (!is_stream_sound()) {
            skip_stream();
            return false;
        }
    }
    Stream& stream = *m_stream;
    while (stream.next_record == stream.decoder.records().size()) {
        if (!decode_more()) {
            if (stream.decoder.fault() != tracer::compact::Fault::none && !std::exchange(stream.is_reported, true)) {
                report_fault();
            }
            return false;
        }
    }
    slot = {.record = stream.decoder.records()[stream.next_record++],
            .index = m_next_index++,
            .offset_bytes = stream.begin_bytes + stream.event_offset,
            .compact = true};
    return true;
}

// Decodes more of the stream. Returns false at its end or at a fault; then the slots after the stream, or the
// end of the file, follow.
bool ChunkSlots::decode_more() {
    Stream& stream = *m_stream;
    const std::size_t used = stream.decoder.offset() - stream.window_begin;
    if (stream.window.size() - used < Decoder::kLookaheadBytes && stream.slots_left != 0) {
        stream.window.erase(stream.window.begin(), stream.window.begin() + static_cast<std::ptrdiff_t>(used));
        stream.window_begin = stream.decoder.offset();
        while (stream.window.size() < kWindowBytes && take_into_window()) {
        }
    }
    stream.event_offset = stream.decoder.offset();
    stream.next_record = 0;
    const auto window = std::span<const std::byte>(stream.window);
    if (stream.decoder.next(window.subspan(stream.event_offset - stream.window_begin)) == Decoder::Step::records) {
        return true;
    }
    skip_stream(); // the rest of the stream cannot be decoded
    return false;
}

bool ChunkSlots::take_into_window() {
    tracer::Record piece;
    if (m_stream->slots_left == 0 || !take(piece)) {
        return false;
    }
    --m_stream->slots_left;
    ++m_scope.chunk().records;
    m_stream->window.resize(m_stream->window.size() + kRecordBytes);
    tracer::encode_record(piece, std::span(m_stream->window).last(kRecordBytes));
    return true;
}

// Takes the rest of the stream without decoding it.
void ChunkSlots::skip_stream() {
    do {
        m_stream->window.clear();
    } while (take_into_window());
    m_stream->window_begin = m_stream->decoder.offset();
}

void ChunkSlots::report_fault() {
    trace::ChunkReport& chunk = m_scope.chunk();
    const Decoder& decoder = m_stream->decoder;
    const std::uint64_t emergency =
        chunk.description.records - std::min(std::uint64_t{chunk.description.records}, m_stream->slots);
    const std::uint64_t lost = chunk.description.events - std::min(chunk.description.events, chunk.events + emergency);
    m_scope.report("E-COMPACT", m_stream->begin_bytes + decoder.offset(),
                   fmt::format("{}; {} records of the chunk are lost", fault_text(decoder.fault()), lost));
    chunk.skipped += std::max<std::uint64_t>(lost, 1);
}

// Checks the checksum of the stream before any of its records is used, which is not possible on a pipe. Returns false
// if it is wrong, which is reported, and the stream is skipped.
bool ChunkSlots::is_stream_sound() {
    trace::ChunkReport& chunk = m_scope.chunk();
    const auto source = m_source != nullptr ? m_source : source_of(m_scope.segment());
    if (!is_seekable() || source == nullptr ||
        compact_checksum_holds(*source, m_stream->begin_bytes, chunk.description.compact_bytes)) {
        return true;
    }
    m_scope.report("W-BCRC", m_stream->begin_bytes,
                   m_scope.salvages() ? "the checksum of the compact stream is wrong: decoded all the same"
                                      : "the checksum of the compact stream is wrong: skipped");
    if (!m_scope.salvages()) {
        ASSERT(chunk.description.records >= m_stream->slots); // the header was checked
        const std::uint64_t emergency = chunk.description.records - m_stream->slots;
        chunk.skipped +=
            std::max<std::uint64_t>(chunk.description.events - std::min(chunk.description.events, emergency), 1);
        m_stream->is_reported = true;
    }
    return m_scope.salvages();
}

} // namespace host::formats::dat
