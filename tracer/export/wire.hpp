// SPDX-License-Identifier: MIT
// The published UDP packet of the New Tracer, "TRACER-V1.0", has a 24-byte little-endian header, then records. Packet
// numbers start at 1 and continue across chunks; there is no acknowledgement, no chunk number and no end mark (the
// metadata records inside the stream provide all that). Host-safe.
//
//   0             12              16                 20             24
//   +-------------+---------------+------------------+--------------+----------------------
//   | TRACER-V1.0 | packet number | number of events | total size   | records, 16 bytes each
//   +-------------+---------------+------------------+--------------+----------------------
#pragma once

#include "lib/endian.hpp"
#include "lib/result.hpp"
#include "tracer/record/record.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer {

inline constexpr std::uint16_t kTracerPort = 20000;
inline constexpr std::array<char, 12> kPacketMagicV1 = {'T', 'R', 'A', 'C', 'E', 'R', '-', 'V', '1', '.', '0', '\0'};
inline constexpr std::size_t kPacketHeaderBytes = 24;
inline constexpr std::size_t kPacketRecordsMax = 60; // the published limit: total size + 16 < 1000
inline constexpr std::size_t kPacketBytesMax = kPacketHeaderBytes + kPacketRecordsMax * kRecordBytes;

struct PacketHeader {
    std::uint32_t number = 0;     // from 1
    std::uint32_t records = 0;    // 0..kPacketRecordsMax
    std::uint32_t size_bytes = 0; // header included
};

// Writes the header. Precondition: out.size() >= kPacketHeaderBytes.
constexpr void encode_packet_header(const PacketHeader& header, std::span<std::byte> out) {
    for (std::size_t i = 0; i < kPacketMagicV1.size(); ++i) {
        out[i] = static_cast<std::byte>(kPacketMagicV1[i]);
    }
    lib::store_le(out.subspan(12), header.number);
    lib::store_le(out.subspan(16), header.records);
    lib::store_le(out.subspan(20), header.size_bytes);
}

// Reads the header. corrupt: the magic, the counts or the sizes contradict each other or the datagram.
[[nodiscard]] constexpr lib::Result<PacketHeader> decode_packet_header(std::span<const std::byte> datagram) {
    if (datagram.size() < kPacketHeaderBytes) {
        return lib::Error::corrupt;
    }
    for (std::size_t i = 0; i < kPacketMagicV1.size(); ++i) {
        if (datagram[i] != static_cast<std::byte>(kPacketMagicV1[i])) {
            return lib::Error::corrupt;
        }
    }
    const PacketHeader header{lib::load_le<std::uint32_t>(datagram.subspan(12)),
                              lib::load_le<std::uint32_t>(datagram.subspan(16)),
                              lib::load_le<std::uint32_t>(datagram.subspan(20))};
    if (header.size_bytes != datagram.size() ||
        header.size_bytes != kPacketHeaderBytes + std::size_t{header.records} * kRecordBytes) {
        return lib::Error::corrupt;
    }
    return header;
}

} // namespace tracer
