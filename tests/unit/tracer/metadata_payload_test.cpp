// SPDX-License-Identifier: MIT
// Tests payloads of metadata as bytes: what their lengths may be, what an older writer leaves out, the seal of
// export_end, and how they are spread over slots.
#include "tracer/names/metadata.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace metadata_payload_test {

using Bytes = std::vector<std::byte>;
using tracer::Combine;
using tracer::ExportEnd;
using tracer::TraceCost;

template <typename Payload>
Bytes encoded(const Payload& payload) {
    Bytes bytes(512);
    const auto size = tracer::encode_payload(payload, bytes);
    EXPECT_TRUE(size.ok());
    bytes.resize(size.value());
    return bytes;
}

// Without the last so many bytes, and with the length that says so.
Bytes cut_by(Bytes bytes, std::size_t cut) {
    bytes.resize(bytes.size() - cut);
    lib::store_le(std::span(bytes), static_cast<std::uint16_t>(bytes.size()));
    return bytes;
}

const ExportEnd kEnd{.chunks = 1,
                     .result = tracer::RunResult::failed,
                     .records = 2,
                     .dropped = 3,
                     .refused = 4,
                     .overwritten = 5,
                     .committed = 6,
                     .tracer_made = 7};

TEST(MetadataPayload, BeginsWithItsLength) {
    const tracer::NameOf name{3, std::string_view("door")};
    const Bytes bytes = encoded(name);
    EXPECT_EQ(bytes.size(), 2U + 2U + 1U + 4U);
    EXPECT_EQ(lib::load_le<std::uint16_t>(bytes), bytes.size());
    const auto decoded = tracer::decode_payload<tracer::NameOf>(bytes);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded.value(), name);
}

TEST(MetadataPayload, IsCorruptIfItsLengthIs) {
    const tracer::NameOf name{3, std::string_view("door")};
    Bytes bytes = encoded(name);
    bytes.resize(bytes.size() + 3); // the rest of the last slot
    EXPECT_TRUE(tracer::decode_payload<tracer::NameOf>(bytes).ok());
    for (const std::uint16_t wrong : std::initializer_list<std::uint16_t>{0, 1, 2, 8, 13}) {
        lib::store_le(std::span(bytes), wrong);
        EXPECT_EQ(tracer::decode_payload<tracer::NameOf>(bytes).error(), lib::Error::corrupt) << wrong;
    }
    EXPECT_EQ(tracer::decode_payload<tracer::NameOf>(Bytes(1)).error(), lib::Error::corrupt);
    EXPECT_EQ(tracer::decode_payload<tracer::NameOf>(Bytes{}).error(), lib::Error::corrupt);
}

TEST(MetadataPayload, NeedsRoomForAllOfItsBytes) {
    const Bytes bytes = encoded(kEnd);
    for (std::size_t size = 2; size < bytes.size(); ++size) {
        Bytes out(size);
        EXPECT_EQ(tracer::encode_payload(kEnd, out).error(), lib::Error::no_space) << size;
    }
    Bytes out(bytes.size());
    EXPECT_EQ(tracer::encode_payload(kEnd, out).value(), bytes.size());
    EXPECT_EQ(out, bytes);
}

TEST(MetadataPayload, OfTheEndIsSealed) {
    const Bytes bytes = encoded(kEnd);
    const auto decoded = tracer::decode_payload<ExportEnd>(bytes);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(encoded(decoded.value()), bytes);
    EXPECT_EQ(lib::load_le<std::uint32_t>(std::span(bytes).last(4)), lib::crc32c(std::span(bytes).first(55)));
    for (std::size_t at = 2; at < bytes.size(); ++at) {
        Bytes damaged = bytes;
        damaged[at] ^= std::byte{1};
        EXPECT_EQ(tracer::decode_payload<ExportEnd>(damaged).error(), lib::Error::corrupt) << at;
    }
    const auto unsealed = tracer::decode_payload<ExportEnd>(cut_by(bytes, 4)); // of an older writer
    ASSERT_TRUE(unsealed.ok());
    EXPECT_EQ(unsealed.value().tracer_made, 7U);
    const auto oldest = tracer::decode_payload<ExportEnd>(cut_by(bytes, 4 + 16));
    ASSERT_TRUE(oldest.ok());
    EXPECT_EQ(oldest.value().overwritten, 5U);
    EXPECT_EQ(oldest.value().committed, 0U);
    EXPECT_FALSE(tracer::decode_payload<ExportEnd>(cut_by(bytes, 4 + 17)).ok());
}

TEST(MetadataPayload, LeavesOutHowTheLayoutWasChosenIfItWasNot) {
    TraceCost cost{.enabled_ticks_x256 = 1, .filtered_ticks_x256 = 2, .disabled_ticks_x256 = 3, .rounds = 4};
    EXPECT_EQ(encoded(cost).size(), 2U + 16U);
    EXPECT_EQ(tracer::decode_payload<TraceCost>(encoded(cost)).value(), cost);
    EXPECT_EQ(cost.plain_record_ticks_x256(), 1U);
    cost.choice = tracer::LayoutChoice::measured;
    cost.layout = 5;
    cost.plain_ticks_x256 = 6;
    cost.timer_ticks = 7;
    EXPECT_EQ(encoded(cost).size(), 2U + 16U + 10U);
    EXPECT_EQ(tracer::decode_payload<TraceCost>(encoded(cost)).value(), cost);
    EXPECT_EQ(cost.plain_record_ticks_x256(), 6U);
}

TEST(MetadataPayload, CutsANameThatIsTooLongVisibly) {
    const std::string longest(tracer::kNameBytesMax, 'x');
    EXPECT_EQ(tracer::Name(longest).view(), longest);
    EXPECT_EQ(tracer::Name(longest + "y").view(), longest.substr(1) + "~");
    // One that another writer did not cut.
    Bytes bytes(2 + 2 + 1 + 60, std::byte{'x'});
    lib::store_le(std::span(bytes), static_cast<std::uint16_t>(bytes.size()));
    bytes[4] = std::byte{60};
    EXPECT_EQ(tracer::decode_payload<tracer::NameOf>(bytes).value().name.view(), longest);
}

TEST(CombinedEvent, TakesSixBytesInEachSlot) {
    EXPECT_EQ(tracer::combine_slots(0), 1U);
    EXPECT_EQ(tracer::combine_slots(1), 1U);
    EXPECT_EQ(tracer::combine_slots(6), 1U);
    EXPECT_EQ(tracer::combine_slots(7), 2U);
    EXPECT_EQ(tracer::combine_slots(384), 64U);
}

TEST(CombinedEvent, MarksItsFirstAndItsLastSlot) {
    EXPECT_EQ(tracer::combine_flag(0, 1), Combine::simple);
    EXPECT_EQ(tracer::combine_flag(0, 2), Combine::first);
    EXPECT_EQ(tracer::combine_flag(1, 2), Combine::last);
    EXPECT_EQ(tracer::combine_flag(1, 3), Combine::middle);
    EXPECT_EQ(tracer::combine_flag(2, 3), Combine::last);
}

TEST(CombinedEvent, IsSpreadInOrderAndPaddedWithZeros) {
    Bytes payload(14);
    for (std::size_t i = 0; i < payload.size(); ++i) {
        payload[i] = static_cast<std::byte>(i + 1);
    }
    std::vector<tracer::Record> slots(3);
    ASSERT_EQ(tracer::encode_combined(0x21, {42}, payload, slots).value(), 3U);
    Bytes back;
    for (const tracer::Record& slot : slots) {
        EXPECT_EQ(slot.event_code(), 0x21);
        EXPECT_EQ(slot.stamp().value, 42U);
        const auto piece = tracer::slot_payload(slot);
        back.insert(back.end(), piece.begin(), piece.end());
    }
    EXPECT_EQ(slots[0].combine(), Combine::first);
    EXPECT_EQ(slots[1].combine(), Combine::middle);
    EXPECT_EQ(slots[2].combine(), Combine::last);
    payload.resize(18);
    EXPECT_EQ(back, payload);
}

TEST(CombinedEvent, HasSixtyFourSlotsAtMost) {
    std::vector<tracer::Record> slots(70);
    EXPECT_EQ(tracer::encode_combined(0x21, {1}, Bytes(384), slots).value(), 64U);
    EXPECT_EQ(tracer::encode_combined(0x21, {1}, Bytes(385), slots).error(), lib::Error::no_space);
    EXPECT_EQ(tracer::encode_combined(0x21, {1}, Bytes(13), std::span(slots).first(2)).error(), lib::Error::no_space);
    EXPECT_EQ(tracer::encode_combined(0x21, {1}, Bytes(12), std::span(slots).first(2)).value(), 2U);
}

} // namespace metadata_payload_test
