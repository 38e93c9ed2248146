// SPDX-License-Identifier: MIT
#include "host/formats/dat/chunk_sum.hpp"

#include "host/trace/byte_source.hpp"
#include "host/trace/event.hpp"
#include "lib/assert.hpp"
#include "lib/endian.hpp"
#include "tracer/chunk/chunk_seal.hpp"
#include "tracer/compact/stream_header.hpp"

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

namespace {

bool has_empty_slot(std::span<const std::byte> slots) {
    for (; slots.size() >= tracer::kRecordBytes; slots = slots.subspan(tracer::kRecordBytes)) {
        if (std::ranges::all_of(slots.first(tracer::kRecordBytes),
                                [](std::byte byte) { return byte == std::byte{0}; })) {
            return true;
        }
    }
    return false;
}

} // namespace

ChunkBytes check_bytes(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t size_bytes, ChunkSum sum,
                       std::uint32_t stated, std::span<const std::byte> held) {
    held = held.first(std::min<std::uint64_t>(held.size(), size_bytes));
    sum.add(held);
    bool holed = has_empty_slot(held);
    std::vector<std::byte> buffer(std::min<std::uint64_t>(trace::ByteSource::kBufferBytes, size_bytes - held.size()));
    for (std::uint64_t at = held.size(); at < size_bytes;) {
        const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), size_bytes - at));
        const auto got = source.read(offset_bytes + at, piece);
        if (!got || got.value() != piece.size()) {
            return ChunkBytes::unread;
        }
        sum.add(piece);
        holed = holed || has_empty_slot(piece);
        at += piece.size();
    }
    return sum.value() == stated ? ChunkBytes::whole : holed ? ChunkBytes::holed : ChunkBytes::damaged;
}

bool compact_checksum_holds(trace::ByteSource& source, std::uint64_t offset_bytes, std::uint64_t stream_bytes) {
    using namespace tracer::compact; // NOLINT(google-build-using-namespace): one function about one thing
    std::array<std::byte, kHeaderBytes> head{};
    const auto count = source.read(offset_bytes, head);
    const std::span<const std::byte> view = head;
    const bool sealed = count && count.value() == head.size() && lib::load_le<std::uint32_t>(view) == kMagic &&
                        (std::to_integer<std::uint8_t>(view[6]) & kFlagSealed) != 0 &&
                        lib::load_le<std::uint32_t>(view.subspan(16)) == stream_bytes;
    if (!sealed || stream_bytes < head.size()) {
        return true;
    }
    std::uint32_t crc = trace::checksum(view.first(kChecksumAt));
    std::vector<std::byte> buffer(trace::ByteSource::kBufferBytes);
    for (std::uint64_t at = head.size(); at < stream_bytes;) {
        const auto piece = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), stream_bytes - at));
        const auto got = source.read(offset_bytes + at, piece);
        if (!got || got.value() != piece.size()) {
            return true; // it is cut: the decoder reports where
        }
        crc = trace::checksum(piece, crc);
        at += piece.size();
    }
    return crc == lib::load_le<std::uint32_t>(view.subspan(kChecksumAt));
}

} // namespace host::formats::dat
