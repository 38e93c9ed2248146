// SPDX-License-Identifier: MIT
// The block at the start of a compact stream: what the stream is, and the map of its ids. Host-safe. Context: any.
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

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::compact {

inline constexpr std::uint32_t kMagic = 0x504D'4352; // "RCMP"
inline constexpr std::uint8_t kVersion = 1;
inline constexpr std::size_t kHeaderBytes = 24;
inline constexpr std::size_t kChecksumAt = 20;

// Flags of the header.
inline constexpr std::uint8_t kFlagSealed = 0x01;   // records, bytes and crc32c are valid
inline constexpr std::uint8_t kFlagPeriodic = 0x02; // heartbeats are periodic, not on demand
inline constexpr std::uint8_t kStreamFlags = kFlagSealed | kFlagPeriodic;

// How the parameters of an event with a compact header are encoded.
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

// Precondition: out.size() >= kHeaderBytes.
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

} // namespace tracer::compact
