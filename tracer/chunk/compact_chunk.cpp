// SPDX-License-Identifier: MIT
// Starts compact chunks, counts their records, and compresses a chunk of plain records.
#include "tracer/chunk/compact_chunk.hpp"

#include "tracer/compact/stream_header.hpp"
#include "tracer/names/metadata.hpp"

#include <algorithm>

namespace tracer {

namespace {

using compact::Kind;
using compact::Layout;
using compact::LayoutRow;

constexpr auto kLiveHeaders = [] {
    std::array<compact::LiveHeaders, compact::kLayouts> headers{};
    for (const LayoutRow& row : compact::kLayoutRows) {
        headers[static_cast<std::size_t>(row.layout)] = compact::live_headers(row.layout);
    }
    return headers;
}();

// States by position in the map whether the payload is a word.
constexpr auto kWordForms = [] {
    std::array<std::array<bool, kEvents.size()>, compact::kLayouts> forms{};
    for (const LayoutRow& row : compact::kLayoutRows) {
        const compact::IdMap map = compact::live_map(row.layout);
        for (std::size_t i = 0; i < map.size(); ++i) {
            forms[static_cast<std::size_t>(row.layout)][i] = map.entries()[i].form == compact::Form::word;
        }
    }
    return forms;
}();

// Holds what precedes the first heartbeat: header and map, made at compile time.
struct LiveStart {
    // The largest map has an entry of four bytes for each event.
    std::array<std::byte, compact::kHeaderBytes + 4 * kEvents.size()> bytes{};
    std::size_t size = 0;

    [[nodiscard]] constexpr std::span<const std::byte> view() const { return std::span(bytes).first(size); }
};

constexpr auto kLiveStarts = [] {
    std::array<LiveStart, compact::kLayouts> starts{};
    for (const LayoutRow& row : compact::kLayoutRows) {
        LiveStart& start = starts[static_cast<std::size_t>(row.layout)];
        const compact::IdMap map = compact::live_map(row.layout);
        compact::encode_stream_header({.layout = row.layout, .entries = map.size()}, start.bytes);
        lib::ByteWriter writer(std::span(start.bytes).subspan(compact::kHeaderBytes));
        for (const compact::MapEntry& entry : map.entries()) {
            compact::encode_entry(entry, writer);
        }
        ASSERT(!writer.failed());
        start.size = compact::kHeaderBytes + writer.offset();
    }
    return starts;
}();

constexpr const LiveStart& live_start(Layout layout) {
    return kLiveStarts[static_cast<std::size_t>(layout)];
}

constexpr std::size_t events_begin(Layout layout) {
    return live_start(layout).size + compact::heartbeat_bytes(compact::row_of(layout));
}

constexpr std::uint32_t kLongEventMax =
    TRACER_COMPACT_HEARTBEAT_MAX + TRACER_COMPACT_LARGE_HEADER_MAX + kCombineSlotsMax * kPayloadBytesPerSlot + 8;

static_assert(static_cast<int>(compact::Form::none) == TRACER_FORM_NONE);
static_assert(static_cast<int>(compact::Form::word) == TRACER_FORM_WORD && TRACER_FORM_LARGE == 0);
static_assert(compact::kLargeFast == TRACER_COMPACT_FAST_BIT && compact::kLargeLong == TRACER_COMPACT_LONG_BIT);
static_assert(compact::kHeartbeatWord == 4);

std::uint32_t mode_of(Kind kind) {
    switch (kind) {
    case Kind::select:
    case Kind::large64:
        return TRACER_MODE_COMPACT;
    case Kind::bare:
        return TRACER_MODE_COMPACT | TRACER_MODE_ESCAPE;
    case Kind::large96:
        return TRACER_MODE_COMPACT | TRACER_MODE_WIDE;
    }
    return TRACER_MODE_COMPACT;
}

} // namespace

std::size_t compact_chunk_bytes_min(Layout layout) {
    return events_begin(layout) + kLongEventMax;
}

lib::Result<void> start_compact_chunk(ChunkControl& control, Layout layout, std::uint32_t area_bytes) {
    if (area_bytes < compact_chunk_bytes_min(layout)) {
        return lib::Error::no_space;
    }
    const LayoutRow& row = compact::row_of(layout);
    // The record path reads the same counter; its later stamps are not less.
    const lib::Ticks now{__builtin_ia32_rdtsc()};
    const std::span<std::byte> area(control.data, area_bytes);
    const auto start = live_start(layout).view();
    std::ranges::copy(start, area.begin());
    const std::size_t position = start.size() + compact::write_heartbeat(row, area.subspan(start.size()), now);
    control.limit = 0; // the fast path writes plain records: it must find no space
    control.compact_limit = area_bytes;
    control.mode = (control.mode & (TRACER_MODE_JTN | TRACER_MODE_STOP)) | mode_of(row.kind);
    control.compact_headers = kLiveHeaders[static_cast<std::size_t>(layout)].data();
    control.compact_escape = compact::escape_word(row);
    // Wide headers hold the whole stamp: with this shift the turn is constant.
    control.compact_turn_shift = static_cast<std::uint8_t>(row.kind == Kind::large96 ? 63 : row.turn_bits());
    control.compact_left = static_cast<std::uint8_t>(64 - (row.kind == Kind::large96 ? 32 : row.turn_bits()));
    control.compact_right = static_cast<std::uint8_t>(64 - (row.kind == Kind::large96 ? 32 : row.tsc_bits));
    ASSERT(position <= area_bytes && position % 4 == 0);
    const std::uint64_t turn = now.value >> control.compact_turn_shift;
    write_shared(control.word, turn << 32 | position);
    return {};
}

// Reads only the headers, which are trusted, because the record path wrote them.
std::uint64_t count_compact_records(std::span<const std::byte> stream) {
    if (stream.empty()) {
        return 0; // not started yet
    }
    const auto word_at = [stream](std::size_t at) { return lib::load_le<std::uint32_t>(stream.subspan(at)); };
    const auto layout = static_cast<Layout>(std::to_integer<std::uint8_t>(stream[5]));
    const LayoutRow& row = compact::row_of(layout);
    const auto& has_word = kWordForms[static_cast<std::size_t>(layout)];
    std::uint64_t records = 0;
    for (std::size_t at = events_begin(layout); at + 4 <= stream.size();) {
        const std::uint32_t word = word_at(at);
        if (compact::is_compact(row, word)) {
            at += has_word[compact::unpack_compact(row, word).id - row.first_id()] ? 8U : 4U;
            ++records;
            continue;
        }
        at += row.kind == Kind::bare ? 4U : 0U; // the escape
        const compact::LargeHeader large = compact::unpack_large(word_at(at));
        records += (large.id & compact::kLargeLong) != 0 ? large.size_bytes / kPayloadBytesPerSlot
                   : large.id != 0                       ? 1U
                                                         : 0U;
        at += row.kind == Kind::large96 ? compact::large_header_bytes(row, at) : 8U;
        at += compact::padded(large.size_bytes);
        ASSERT(at <= stream.size()); // the record path commits whole events
    }
    return records;
}

namespace {

constexpr std::size_t whole_slots(std::size_t bytes) {
    return (bytes + kRecordBytes - 1) / kRecordBytes * kRecordBytes;
}

} // namespace

lib::Result<void> ChunkCompressor::begin(Chunk& chunk, compact::Layout layout) {
    if (m_encoder == nullptr) {
        return lib::Error::unsupported;
    }
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
    m_encoder->begin(m_layout);
    for (const auto part : {contents.older, contents.newer}) {
        if (const auto counted = m_encoder->count(part); !counted) {
            return counted;
        }
    }
    m_records_bytes = contents.older.size() + contents.newer.size();
    m_stream_bytes = m_encoder->plan();
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
    if (const auto started = m_encoder->start(m_region.first(m_stream_bytes)); !started) {
        return started;
    }
    for (const auto part : {contents.older, contents.newer}) {
        if (const auto written = m_encoder->write(part); !written) {
            return written;
        }
    }
    const auto bytes = m_encoder->finish();
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
                           .records = m_encoder->records(),
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
