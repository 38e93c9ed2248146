// SPDX-License-Identifier: MIT
// One entry of a session's journal: how far a stream has come, with the CRC of the entry. Little-endian:
//
//   stream u16 | ended u16 | crc32c of the stream u32 | packets u64 | bytes u64 | lost u64 | 0 u32 | crc32c u32
#pragma once

#include "host/collector/reliable/store.hpp"
#include "lib/assert.hpp"
#include "lib/crc32c.hpp"
#include "lib/endian.hpp"
#include "tracer/reliable/packet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace host::collector::reliable {

struct JournalEntry {
    static constexpr std::size_t kBytes = 40;
    using Bytes = std::array<std::byte, kBytes>;

    std::uint16_t stream = 0; // below kStreamsMax
    Mark mark;

    [[nodiscard]] Bytes encode() const {
        Bytes entry{};
        lib::ByteWriter writer(entry);
        writer.le(stream);
        writer.le(static_cast<std::uint16_t>(mark.ended ? 1 : 0));
        writer.le(mark.crc32c);
        writer.le(mark.packets);
        writer.le(mark.bytes);
        writer.le(mark.lost);
        writer.le(std::uint32_t{0});
        writer.le(lib::crc32c(writer.written()));
        ASSERT(!writer.failed() && writer.offset() == kBytes);
        return entry;
    }

    // Nothing if the entry is not whole.
    [[nodiscard]] static std::optional<JournalEntry> decode(const Bytes& untrusted) {
        lib::ByteReader reader(untrusted);
        JournalEntry entry;
        entry.stream = reader.le<std::uint16_t>();
        entry.mark.ended = reader.le<std::uint16_t>() != 0;
        entry.mark.crc32c = reader.le<std::uint32_t>();
        entry.mark.packets = reader.le<std::uint64_t>();
        entry.mark.bytes = reader.le<std::uint64_t>();
        entry.mark.lost = reader.le<std::uint64_t>();
        reader.le<std::uint32_t>();
        const bool whole = reader.le<std::uint32_t>() == lib::crc32c(std::span(untrusted).first(kBytes - 4));
        return whole && entry.stream < tracer::reliable::kStreamsMax ? std::optional(entry) : std::nullopt;
    }
};

} // namespace host::collector::reliable
