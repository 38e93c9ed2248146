// SPDX-License-Identifier: MIT
#include "tracer/chunk/chunk_compress.hpp"

namespace tracer {

namespace {

constexpr std::size_t whole_slots(std::size_t bytes) {
    return (bytes + kRecordBytes - 1) / kRecordBytes * kRecordBytes;
}

} // namespace

lib::Result<void> ChunkCompressor::begin(Chunk& chunk, compact::Layout layout) {
    if (chunk.busy || m_store.is_active(chunk)) {
        return lib::Error::busy;
    }
    const ChunkContents contents = ChunkStore::contents(chunk);
    if (contents.compact) {
        return lib::Error::exists;
    }
    if ((chunk.flags & kFlagFree) != 0 || (contents.older.empty() && contents.newer.empty())) {
        return lib::Error::not_found;
    }
    if (const auto begun = m_store.begin_conversion(chunk); !begun) {
        return begun;
    }
    m_chunk = &chunk;
    m_layout = layout;
    return {};
}

lib::Result<void> ChunkCompressor::measure() {
    ASSERT(m_chunk != nullptr && m_chunk->busy); // frozen: the records stay as they are
    const ChunkContents contents = ChunkStore::contents(*m_chunk);
    m_encoder.begin(m_layout);
    for (const auto part : {contents.older, contents.newer}) {
        if (const auto counted = m_encoder.count(part); !counted) {
            return counted;
        }
    }
    m_records_bytes = contents.older.size() + contents.newer.size();
    m_stream_bytes = m_encoder.plan();
    if (whole_slots(m_stream_bytes) >= m_records_bytes) {
        return lib::Error::no_space;
    }
    return {};
}

lib::Result<void> ChunkCompressor::reserve() {
    ASSERT(m_stream_bytes != 0 && whole_slots(m_stream_bytes) < m_records_bytes);
    const auto region = m_store.reserve(whole_slots(m_stream_bytes) + whole_slots(m_chunk->emergency_bytes));
    if (!region) {
        return region.error();
    }
    m_region = region.value();
    return {};
}

lib::Result<void> ChunkCompressor::encode() {
    ASSERT(m_region.size() >= whole_slots(m_stream_bytes));
    const ChunkContents contents = ChunkStore::contents(*m_chunk);
    if (const auto started = m_encoder.start(m_region.first(m_stream_bytes)); !started) {
        return started;
    }
    for (const auto part : {contents.older, contents.newer}) {
        if (const auto written = m_encoder.write(part); !written) {
            return written;
        }
    }
    const auto bytes = m_encoder.finish();
    if (!bytes) {
        return bytes.error();
    }
    ASSERT(bytes.value() <= m_stream_bytes);
    for (std::size_t at = bytes.value(); at < whole_slots(m_stream_bytes); ++at) {
        m_region[at] = std::byte{0};
    }
    m_stream_bytes = bytes.value();
    return {};
}

void ChunkCompressor::finish() {
    m_store.replace_areas({.present = true,
                           .layout = m_layout,
                           .stream_bytes = static_cast<std::uint32_t>(m_stream_bytes),
                           .records = m_encoder.records(),
                           .counts = ChunkStore::counts(*m_chunk)});
}

// --- the store's part ------------------------------------------------------------------------------------------------

lib::Result<void> ChunkStore::begin_conversion(Chunk& chunk) {
    if (m_converted != nullptr || chunk.busy) {
        return lib::Error::busy;
    }
    m_was_open = (read_shared(chunk.control.word) & TRACER_WORD_CLOSED) == 0;
    m_was_selected = m_cpu.selected == &chunk.control;
    if (const auto frozen = freeze(chunk); !frozen) {
        return lib::Error::busy; // an interrupt's record opened it meanwhile
    }
    m_converted = &chunk;
    chunk.busy = true;
    assert_whole(chunk);
    return {};
}

lib::Result<std::span<std::byte>> ChunkStore::reserve(std::size_t bytes) {
    ASSERT(m_converted != nullptr && m_reserved.empty());
    const auto gap = find_gap(bytes);
    if (!gap) {
        return gap.error();
    }
    m_reserved = m_arena.subspan(gap.value(), bytes);
    return m_reserved;
}

void ChunkStore::replace_areas(const CompressedArea& compressed) {
    ASSERT(m_converted != nullptr && !m_reserved.empty());
    Chunk& chunk = *m_converted;
    ChunkControl& control = chunk.control;
    const auto emergency = contents(chunk).emergency;
    const auto size = static_cast<std::uint32_t>(whole_slots(compressed.stream_bytes));
    ASSERT(chunk.busy && size + emergency.size() <= m_reserved.size());
    std::byte* const emergency_data = m_reserved.data() + size;
    for (std::size_t i = 0; i < emergency.size(); ++i) {
        emergency_data[i] = emergency[i];
    }
    constexpr std::uint64_t kFlags = 0xFFFF'FFFF & ~std::uint64_t{TRACER_WORD_POSITION_MASK};
    control.word = (control.word & kFlags) | TRACER_WORD_CLOSED | size;
    control.data = m_reserved.data();
    control.limit = size;
    control.lap_base = {};
    control.lap_end = {};
    control.scribbled = 0;
    control.emergency_data = emergency_data;
    chunk.size_bytes = size;
    chunk.compressed = compressed;
    chunk.busy = false;
    m_converted = nullptr;
    m_reserved = {};
    assert_whole(chunk);
    assert_apart(chunk);
}

void ChunkStore::abandon_conversion() {
    if (m_converted == nullptr) {
        return;
    }
    m_converted->busy = false;
    if (m_was_open) {
        clear_shared_bits(m_converted->control.word, TRACER_WORD_CLOSED);
    }
    if (m_was_selected && m_cpu.selected == nullptr && read_shared(m_cpu.mask) == 0) {
        m_cpu.selected = &m_converted->control;
    }
    m_converted = nullptr;
    m_reserved = {};
}

} // namespace tracer
