// SPDX-License-Identifier: MIT
// Tests "Does a whole chunk begin here?": the one test for files, packets, blocks and pipes.
#include "host/formats/dat/chunk_begin.hpp"

#include <array>
#include <gtest/gtest.h>
#include <vector>

namespace host::formats::dat::chunk_begin_test {

namespace {

tracer::ChunkBegin description() {
    tracer::ChunkBegin begin;
    begin.chunk = 3;
    begin.records = 40;
    begin.preamble_slots = 12;
    return begin;
}

std::vector<std::byte> slots_of(const tracer::ChunkBegin& begin) {
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> payload{};
    const auto size = tracer::encode_payload(begin, payload).value();
    std::array<tracer::Record, tracer::kCombineSlotsMax> records;
    const auto count = tracer::encode_combined(trace::kCodeOf<"chunk_begin">, {5},
                                               std::span<const std::byte>(payload).first(size), records)
                           .value();
    std::vector<std::byte> bytes(count * tracer::kRecordBytes);
    for (std::size_t i = 0; i < count; ++i) {
        tracer::encode_record(records[i], std::span(bytes).subspan(i * tracer::kRecordBytes));
    }
    return bytes;
}

TEST(ChunkBegin, IsReadIfAllOfItsSlotsAreThere) {
    const auto bytes = slots_of(description());
    const auto read = read_chunk_begin(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->chunk, 3);
    EXPECT_EQ(read->records, 40U);
    EXPECT_EQ(read->preamble_slots, 12U);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(read_chunk_begin(std::span(bytes).first(size)).has_value()) << size;
    }
}

// Of a later version, which has more fields: as many slots as a long event may have.
TEST(ChunkBegin, IsReadFromTheGreatestNumberOfSlots) {
    std::array<std::byte, tracer::kCombineSlotsMax * tracer::kPayloadBytesPerSlot> payload{};
    ASSERT_TRUE(tracer::encode_payload(description(), payload).ok());
    lib::store_le(std::span(payload), static_cast<std::uint16_t>(payload.size()));
    std::array<tracer::Record, tracer::kCombineSlotsMax> records;
    const auto count = tracer::encode_combined(trace::kCodeOf<"chunk_begin">, {5}, payload, records);
    ASSERT_EQ(count.value(), tracer::kCombineSlotsMax);
    std::vector<std::byte> bytes(records.size() * tracer::kRecordBytes);
    for (std::size_t i = 0; i < records.size(); ++i) {
        tracer::encode_record(records[i], std::span(bytes).subspan(i * tracer::kRecordBytes));
    }
    const auto read = read_chunk_begin(bytes);
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(read->records, 40U);
}

TEST(ChunkBegin, IsNoneWithASlotOfAnotherEvent) {
    const auto whole = slots_of(description());
    for (std::size_t slot = 0; slot * tracer::kRecordBytes < whole.size(); ++slot) {
        auto bytes = whole;
        bytes[slot * tracer::kRecordBytes] = std::byte{trace::kCodeOf<"build">};
        EXPECT_FALSE(read_chunk_begin(bytes).has_value()) << slot;
    }
}

TEST(ChunkBegin, OnlyItsFirstSlotBeginsAChunk) {
    const auto bytes = slots_of(description());
    for (std::size_t at = 0; at < bytes.size(); at += tracer::kRecordBytes) {
        EXPECT_EQ(begins_chunk(tracer::decode_record(std::span(bytes).subspan(at))), at == 0);
    }
}

} // namespace

} // namespace host::formats::dat::chunk_begin_test
