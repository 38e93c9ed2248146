// SPDX-License-Identifier: MIT
// The block at the start of a compact stream states what the stream is and maps its ids. Host-safe. Context: any.
//
//   0       4         5        6       7       8         12        16         20        24
//   +-------+---------+--------+-------+-------+---------+---------+----------+---------+----------------
//   | "RCMP"| version | layout | flags |   0   | entries | records |  bytes  |  crc32c  | map entries ...
//   +-------+---------+--------+-------+-------+---------+---------+----------+---------+----------------
//
// A map entry is 4 bytes (u16 code, u8 form, u8 order) and, for the form `constant` alone, 8 more (u32 par1, u32 par2).
// Ids follow from the order: the first entry has the first id of the layout. crc32c covers the whole stream without its
// own field. A stream that is written live has no totals and no checksum (all three are 0), and its flags show this.
#pragma once

#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/record/event_table.hpp"
#include "tracer/record/record.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::compact {

inline constexpr std::uint32_t kMagic = 0x504D'4352; // "RCMP"
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kChecksumAt = 20;

inline constexpr std::uint8_t kFlagSealed = 0x01;   // records, bytes and crc32c are valid
inline constexpr std::uint8_t kFlagPeriodic = 0x02; // heartbeats are periodic, not on demand
inline constexpr std::uint8_t kStreamFlags = kFlagSealed | kFlagPeriodic;

// States how the parameters of an event with a compact header are encoded.
enum class Form : std::uint8_t {
    large = 0,    // they do not fit: no id, a large header is used
    none = 1,     // no payload: par1 = par2 = 0
    word = 2,     // u16 par1, u16 par2
    constant = 3, // no payload: par1 and par2 are in the map
    recall = 4,   // no payload, and the code is predicted, too: the event that followed the last time that the event
                  // before (order 1) or the two events before (order 2) were the same as now; see recall.hpp
};

struct MapEntry {
    std::uint16_t code = 0; // event code, and kFastPathBit of the record
    Form form = Form::large;
    std::uint8_t order = 0; // of recall: 1 or 2
    std::uint32_t par1 = 0; // of constant; at most 65535
    std::uint32_t par2 = 0;

    friend bool operator==(const MapEntry&, const MapEntry&) = default;

    [[nodiscard]] constexpr std::size_t bytes() const { return form == Form::constant ? 12 : 4; }
};

struct StreamHeader {
    Layout layout = Layout::a;
    std::uint8_t flags = 0;
    std::uint32_t entries = 0;
    std::uint32_t records = 0; // decoded from the stream
    std::uint32_t bytes = 0;   // of the stream, header included, final padding excluded
    std::uint32_t crc32c = 0;
};

// Writes the header. Precondition: out.size() >= kHeaderBytes.
constexpr void encode_stream_header(const StreamHeader& header, std::span<std::byte> out) {
    lib::ByteWriter writer(out.first(kHeaderBytes));
    writer.le(kMagic);
    writer.le(kVersion);
    writer.le(static_cast<std::uint8_t>(header.layout));
    writer.le(header.flags);
    writer.le(std::uint8_t{0});
    writer.le(header.entries);
    writer.le(header.records);
    writer.le(header.bytes);
    writer.le(header.crc32c);
}

constexpr void encode_entry(const MapEntry& entry, lib::ByteWriter& writer) {
    writer.le(entry.code);
    writer.le(static_cast<std::uint8_t>(entry.form));
    writer.le(entry.order);
    if (entry.form == Form::constant) {
        writer.le(entry.par1);
        writer.le(entry.par2);
    }
}

// The map of a stream states which id means which event, in which form. The encoder makes a map for its records
// (encoder.cpp); a stream that is written live has the fixed map of live_map(). Host-safe. Context: any.

// Bounds the map of every layout, even of those with more ids.
inline constexpr std::size_t kMapEntriesMax = 512;

class IdMap {
  public:
    constexpr IdMap() = default;

    constexpr explicit IdMap(Layout layout)
        : m_layout(layout) {}

    // Registers an event and returns its id.
    //   no_space: all capacity() ids of the layout are used; invalid_argument: a form without an id.
    [[nodiscard]] constexpr lib::Result<std::uint32_t> add(const MapEntry& entry) {
        if (entry.form == Form::large || entry.form > Form::recall) {
            return lib::Error::invalid_argument;
        }
        if (m_size >= capacity()) {
            return lib::Error::no_space;
        }
        m_entries[m_size++] = entry;
        return row_of(m_layout).first_id() + m_size - 1;
    }

    // Returns the entry of this id, or null if no event has it.
    [[nodiscard]] constexpr const MapEntry* find(std::uint32_t id) const {
        const std::uint32_t index = id - row_of(m_layout).first_id(); // wraps for an id that is too small
        return index < m_size ? &m_entries[index] : nullptr;
    }

    [[nodiscard]] constexpr Layout layout() const { return m_layout; }

    [[nodiscard]] constexpr std::uint32_t size() const { return m_size; }

    [[nodiscard]] constexpr std::uint32_t capacity() const {
        return std::min<std::uint32_t>(row_of(m_layout).ids(), kMapEntriesMax);
    }

    [[nodiscard]] constexpr std::span<const MapEntry> entries() const { return std::span(m_entries).first(m_size); }

    [[nodiscard]] constexpr std::size_t bytes() const {
        std::size_t sum = 0;
        for (const MapEntry& entry : entries()) {
            sum += entry.bytes();
        }
        return sum;
    }

    constexpr void clear(Layout layout) {
        m_layout = layout;
        m_size = 0;
    }

  private:
    Layout m_layout = Layout::a;
    std::uint32_t m_size = 0;
    std::array<MapEntry, kMapEntriesMax> m_entries{};
};

// --- live writing ----------------------------------------------------------------------------------------------------

namespace detail {

// Lists the events that a running kernel records most, the most frequent first, which get scarce ids first.
inline constexpr auto kFrequentEvents = std::to_array<std::uint8_t>({
    event_code("task_schedule"),    event_code("timer_post"),         event_code("task_dispatch"),
    event_code("context_switch"),   event_code("task_epilogue"),      event_code("interrupt_start"),
    event_code("interrupt_end"),    event_code("timer_wakeup_start"), event_code("timer_wakeup_end"),
    event_code("timer_delete"),     event_code("task_begin_cycle"),   event_code("task_end_cycle"),
    event_code("task_timer"),       event_code("set_mutex_lock"),     event_code("set_mutex_unlock"),
    event_code("set_mutex_wait"),   event_code("set_mutex_post"),     event_code("ipoint"),
    event_code("user_event_0"),     event_code("user_event_1"),       event_code("task_activate"),
    event_code("server_replenish"), event_code("server_exhaust"),     event_code("data_pointer"),
});

constexpr void add_live(IdMap& map, const EventRow& row) {
    const std::uint8_t code = row.code;
    const bool taken = std::ranges::any_of(map.entries(), [code](const MapEntry& entry) { return entry.code == code; });
    if (row.shape != Shape::simple || code == 0 || taken) {
        return;
    }
    const bool bare = row.par1.unit == Unit::none && row.par2.unit == Unit::none;
    static_cast<void>(
        map.add({.code = code, .form = bare ? Form::none : Form::word})); // full: the rest is written large
}

} // namespace detail

// Returns the map of a stream that is written live: the most frequent events, then the event table from its start, as
// far as the ids of the layout suffice. Events logged past the filters (kFastPathBit) have no id and are written large.
[[nodiscard]] constexpr IdMap live_map(Layout layout) {
    IdMap map(layout);
    for (const std::uint8_t code : detail::kFrequentEvents) {
        for (const EventRow& row : kEvents) {
            if (row.code == code) {
                detail::add_live(map, row);
            }
        }
    }
    for (const EventRow& row : kEvents) {
        detail::add_live(map, row);
    }
    return map;
}

// Holds by event code the compact header with its time bits 0, and the form in the two lowest bits. Form::large (0)
// means that the event has no id.
using LiveHeaders = std::array<std::uint32_t, 256>;

[[nodiscard]] constexpr LiveHeaders live_headers(Layout layout) {
    LiveHeaders headers{};
    const IdMap map = live_map(layout);
    const LayoutRow& row = row_of(layout);
    for (std::uint32_t i = 0; i < map.size(); ++i) {
        const MapEntry& entry = map.entries()[i];
        headers[entry.code] = pack_compact(row, row.first_id() + i, 0) | static_cast<std::uint32_t>(entry.form);
    }
    return headers;
}

// Writes a full heartbeat, after an escape if the layout has one, and nothing in large96, which needs none. It returns
// the bytes written. Precondition: out.size() >= heartbeat_bytes(row).
constexpr std::size_t write_heartbeat(const LayoutRow& row, std::span<std::byte> out, lib::Ticks now) {
    if (row.kind == Kind::large96) {
        return 0;
    }
    lib::ByteWriter writer(out);
    if (row.kind == Kind::bare) {
        writer.le(escape_word(row));
    }
    writer.le(kHeartbeatWord);
    writer.le(static_cast<std::uint32_t>(now.value));
    writer.le(static_cast<std::uint32_t>(now.value >> 32));
    return writer.offset();
}

} // namespace tracer::compact
