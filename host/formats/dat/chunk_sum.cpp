// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_sum.hpp"

#include "host/trace/checksum.hpp"
#include "host/trace/event.hpp"
#include "lib/assert.hpp"
#include "tracer/chunk_seal.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace host::formats::dat {

ChunkSum::ChunkSum(std::span<const std::byte> payload, lib::Ticks stamp, std::uint16_t other_bits) {
    ASSERT(payload.size() <= tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot);
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> bytes{};
    std::ranges::copy(payload, bytes.begin());
    std::fill_n(bytes.begin() + tracer::kCrc32cOffset, sizeof(std::uint32_t), std::byte{0});
    std::array<tracer::Record, tracer::kCombineSlotsMax> slots;
    const auto count = tracer::encode_combined(trace::kCodeOf<"chunk_begin">, stamp,
                                               std::span<const std::byte>(bytes).first(payload.size()), slots);
    ASSERT(count.ok()); // they came out of as many slots
    slots[0].code = static_cast<std::uint16_t>(slots[0].code | other_bits);
    for (std::size_t i = 0; i < count.value(); ++i) {
        std::array<std::byte, tracer::kRecordBytes> slot{};
        tracer::encode_record(slots[i], slot);
        add(slot);
    }
}

void ChunkSum::add(std::span<const std::byte> bytes) {
    m_value = trace::checksum(bytes, m_value);
}

ChunkBytes check_bytes(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t size_bytes, ChunkSum sum,
                       std::uint32_t stated) {
    std::vector<std::byte> buffer(trace::ByteSource::kBufferBytes);
    bool has_empty_slot = false;
    for (std::uint64_t at = 0; at < size_bytes;) {
        const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size_bytes - at));
        const auto got = source.read(offset_bytes + at, piece);
        if (!got || got.value() != piece.size()) {
            return ChunkBytes::unread;
        }
        sum.add(piece);
        for (std::size_t slot = 0; slot + tracer::kRecordBytes <= piece.size() && !has_empty_slot;
             slot += tracer::kRecordBytes) {
            const auto bytes = piece.subspan(slot, tracer::kRecordBytes);
            has_empty_slot = std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{0}; });
        }
        at += piece.size();
    }
    return sum.value() == stated ? ChunkBytes::whole : has_empty_slot ? ChunkBytes::holed : ChunkBytes::damaged;
}

} // namespace host::formats::dat
