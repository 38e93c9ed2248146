// SPDX-License-Identifier: MIT
// Tests the bytes of each metadata payload, written down here field by field as docs/trace-format.md has them: an
// encoder and a decoder that share a list of fields agree about any order.
#include "tracer/names/metadata.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace metadata_layout_test {

using Bytes = std::vector<std::byte>;

// A payload, little-endian; its length comes first.
class Payload {
  public:
    Payload& u8(std::uint64_t value) { return number(value, 1); }

    Payload& u16(std::uint64_t value) { return number(value, 2); }

    Payload& u32(std::uint64_t value) { return number(value, 4); }

    Payload& u64(std::uint64_t value) { return number(value, 8); }

    Payload& text(std::string_view text) {
        for (const char character : text) {
            u8(static_cast<std::uint8_t>(character));
        }
        return *this;
    }

    Payload& name(std::string_view name) { return u8(name.size()).text(name); }

    Payload& sum() { return u32(lib::crc32c(whole(4))); }

    [[nodiscard]] Bytes bytes() const { return whole(0); }

  private:
    Payload& number(std::uint64_t value, int size) {
        for (int i = 0; i < size; ++i) {
            m_bytes.push_back(static_cast<std::byte>(value >> (8 * i)));
        }
        return *this;
    }

    [[nodiscard]] Bytes whole(std::size_t missing) const {
        Bytes all = m_bytes;
        all[0] = static_cast<std::byte>((all.size() + missing) % 256);
        all[1] = static_cast<std::byte>((all.size() + missing) / 256);
        return all;
    }

    Bytes m_bytes = Bytes(2);
};

template <typename T>
Bytes encoded(const T& payload) {
    Bytes bytes(512);
    const auto size = tracer::encode_payload(payload, bytes);
    EXPECT_TRUE(size.ok());
    bytes.resize(size.value());
    return bytes;
}

// Read and written again: nothing that is in the bytes was put elsewhere.
template <typename T>
Bytes again(const Payload& payload) {
    const auto decoded = tracer::decode_payload<T>(payload.bytes());
    EXPECT_TRUE(decoded.ok());
    return encoded(decoded.value());
}

TEST(MetadataLayout, OfTheBeginningOfAChunk) {
    tracer::ChunkBegin begin;
    begin.chunk = 2;
    begin.cpu = 3;
    begin.mode = 4;
    begin.clock_mode = tracer::ClockMode::hardware;
    begin.generation = 5;
    begin.preamble_slots = 6;
    begin.records = 7;
    begin.tsc_khz = 8;
    begin.tsc_source = tracer::TscSource::cpuid;
    begin.checksum = tracer::ChunkChecksum::crc32c;
    begin.tsc_error_ppm = 9;
    begin.dropped = 10;
    begin.refused = 11;
    begin.overwritten = 12;
    begin.boot_id = 0x1112'1314'1516'1718;
    begin.encoding = tracer::Encoding::compact;
    begin.layout = 13;
    begin.events = 14;
    begin.compact_bytes = 15;
    begin.crc32c = 16;
    Payload expected;
    expected.u16(1).u16(2).u16(3).u8(4).u8(3).u32(5).u32(6).u32(7).u32(8).u8(4).u8(1).u32(9).u64(10).u64(11).u64(12);
    expected.u64(0x1112'1314'1516'1718);
    Payload oldest = expected;
    Payload older = expected.u8(1).u8(13).u64(14).u64(15);
    expected.u32(16);
    EXPECT_EQ(encoded(begin), expected.bytes());
    EXPECT_EQ(again<tracer::ChunkBegin>(expected), expected.bytes());
    EXPECT_EQ(again<tracer::ChunkBegin>(older), older.u32(0).bytes());
    EXPECT_EQ(again<tracer::ChunkBegin>(oldest), oldest.u8(0).u8(0).u64(0).u64(0).u32(0).bytes());
    const auto decoded = tracer::decode_payload<tracer::ChunkBegin>(expected.bytes()).value();
    EXPECT_EQ(decoded.format_version, 1);
    EXPECT_EQ(decoded.chunk, 2);
    EXPECT_EQ(decoded.cpu, 3);
    EXPECT_EQ(decoded.refused, 11U);
    EXPECT_EQ(decoded.boot_id, begin.boot_id);
    EXPECT_EQ(decoded.compact_bytes, 15U);
}

TEST(MetadataLayout, OfAName) {
    const tracer::NameOf name{0x0102, std::string_view("door")};
    const Bytes expected = Payload().u16(0x0102).name("door").bytes();
    EXPECT_EQ(encoded(name), expected);
    EXPECT_EQ(tracer::decode_payload<tracer::NameOf>(expected).value(), name);
}

TEST(MetadataLayout, OfTheParametersOfATask) {
    const tracer::TaskParameters parameters{.context = 1,
                                            .level = 2,
                                            .wcet_ns = 3,
                                            .period_ns = 4,
                                            .deadline_ns = 5,
                                            .budget_ns = 6,
                                            .offset_ns = 0x1112'1314'1516'1718};
    Payload expected;
    expected.u16(1).u16(2).u64(3).u64(4).u64(5).u64(6).u64(0x1112'1314'1516'1718);
    EXPECT_EQ(encoded(parameters), expected.bytes());
    EXPECT_EQ(tracer::decode_payload<tracer::TaskParameters>(expected.bytes()).value(), parameters);
}

TEST(MetadataLayout, OfABuild) {
    tracer::Build build;
    build.kernel = std::string_view("remora 1");
    build.compiler = std::string_view("g++");
    build.application = std::string_view("control");
    build.seed = 2;
    build.image_id = 3;
    Payload expected;
    expected.name("remora 1").name("g++").name("control").u64(2);
    Payload older = expected;
    expected.u64(3);
    EXPECT_EQ(encoded(build), expected.bytes());
    EXPECT_EQ(again<tracer::Build>(expected), expected.bytes());
    EXPECT_EQ(again<tracer::Build>(older), older.u64(0).bytes());
    const auto decoded = tracer::decode_payload<tracer::Build>(expected.bytes()).value();
    EXPECT_EQ(decoded.kernel.view(), "remora 1");
    EXPECT_EQ(decoded.compiler.view(), "g++");
    EXPECT_EQ(decoded.application.view(), "control");
    EXPECT_EQ(decoded.seed, 2U);
    EXPECT_EQ(decoded.image_id, 3U);
}

TEST(MetadataLayout, OfTheCostOfTracing) {
    const tracer::TraceCost cost{.enabled_ticks_x256 = 1,
                                 .filtered_ticks_x256 = 2,
                                 .disabled_ticks_x256 = 3,
                                 .rounds = 4,
                                 .choice = tracer::LayoutChoice::measured,
                                 .layout = 5,
                                 .plain_ticks_x256 = 6,
                                 .timer_ticks = 7};
    Payload expected;
    expected.u32(1).u32(2).u32(3).u32(4).u8(2).u8(5).u32(6).u32(7);
    EXPECT_EQ(encoded(cost), expected.bytes());
    EXPECT_EQ(tracer::decode_payload<tracer::TraceCost>(expected.bytes()).value(), cost);
}

TEST(MetadataLayout, OfAFormat) {
    const Bytes expected = Payload().u32(0x0102'0304).text("x = %d").bytes();
    EXPECT_EQ(encoded(tracer::FormatText{0x0102'0304, "x = %d"}), expected);
    const auto decoded = tracer::decode_payload<tracer::FormatText>(expected);
    ASSERT_TRUE(decoded.ok());
    EXPECT_EQ(decoded.value().id, 0x0102'0304U);
    EXPECT_EQ(decoded.value().text, "x = %d");
}

TEST(MetadataLayout, OfTheEndOfAnExport) {
    const tracer::ExportEnd end{.chunks = 1,
                                .result = tracer::RunResult::panicked,
                                .records = 2,
                                .dropped = 3,
                                .refused = 4,
                                .overwritten = 5,
                                .committed = 6,
                                .tracer_made = 0x1112'1314'1516'1718};
    Payload expected;
    expected.u32(1).u8(3).u64(2).u64(3).u64(4).u64(5).u64(6).u64(0x1112'1314'1516'1718).sum();
    EXPECT_EQ(encoded(end), expected.bytes());
    EXPECT_EQ(again<tracer::ExportEnd>(expected), expected.bytes());
    const auto decoded = tracer::decode_payload<tracer::ExportEnd>(expected.bytes()).value();
    EXPECT_EQ(decoded.chunks, 1U);
    EXPECT_EQ(decoded.result, tracer::RunResult::panicked);
    EXPECT_EQ(decoded.records, 2U);
    EXPECT_EQ(decoded.dropped, 3U);
    EXPECT_EQ(decoded.refused, 4U);
    EXPECT_EQ(decoded.overwritten, 5U);
    EXPECT_EQ(decoded.committed, 6U);
    EXPECT_EQ(decoded.tracer_made, end.tracer_made);
}

} // namespace metadata_layout_test
