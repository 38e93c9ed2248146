// SPDX-License-Identifier: MIT
// Tests what the encoder gives an id to: the map for a chunk that is worked out by hand, and chunks that its tables are
// too small for.
#include "tests/support/compact_streams.hpp"

namespace encoder_map_test {

using namespace tracer::compact;
using tests::Bytes;
using tests::Decoded;
using tracer::Record;

// Records that are never predicted: between any two is one that occurs nowhere else and is not worth an id.
class Unpredicted {
  public:
    void add(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
        put(0x21, 1, 0x4000'0000 + m_serial);
        put(code, par1, par2);
    }

    std::vector<Record> records;

  private:
    void put(std::uint16_t code, std::uint16_t par1, std::uint32_t par2) {
        records.push_back(tracer::make_record(code, par1, par2, {1000 + 10 * ++m_serial}));
    }

    std::uint32_t m_serial = 0;
};

constexpr std::size_t kRare = 16; // bytes of a large event with both parameters

TEST(CompactEncoder, GivesIdsToWhatSavesMostInThisOrder) {
    constexpr std::uint16_t kConstant = 0x82;
    constexpr std::uint16_t kWord = 0x83; // odd, and below a code with the fast-path bit
    constexpr std::uint16_t kBare = 0x11;
    constexpr std::uint16_t kFast = 0x8083;
    Unpredicted chunk;
    for (std::uint16_t i = 0; i < 10; ++i) {
        if (i < 6) {
            chunk.add(kConstant, 7, 0x1234'5678); // 6 * (16 - 4) - 12 = 60 bytes
        }
        chunk.add(kWord, i, 100 + i); // 10 * (12 - 8) - 4 = 36
        if (i < 8) {
            chunk.add(kBare, 0, 0); // 8 * (8 - 4) - 4 = 28
        }
        if (i < 7) {
            chunk.add(kFast, i, 200 + i); // 7 * (12 - 8) - 4 = 24
        }
    }
    const auto encoder = std::make_unique<Encoder>();
    encoder->begin(Layout::a);
    ASSERT_TRUE(encoder->count(tests::bytes_of(chunk.records)).ok());
    const std::size_t planned = encoder->plan();
    const auto entries = encoder->map().entries();
    EXPECT_EQ(std::vector<MapEntry>(entries.begin(), entries.end()),
              (std::vector<MapEntry>{{.code = kConstant, .form = Form::constant, .par1 = 7, .par2 = 0x1234'5678},
                                     {.code = kWord, .form = Form::word},
                                     {.code = kBare, .form = Form::none},
                                     {.code = kFast, .form = Form::word}}));
    EXPECT_EQ(encoder->records(), chunk.records.size());
    const std::size_t rare = chunk.records.size() / 2 * kRare;
    EXPECT_EQ(planned, kHeaderBytes + (12 + 4 + 4 + 4) + 12 + rare + 6 * 4 + 10 * 8 + 8 * 4 + 7 * 8);
    const Decoded decoded = tests::decode(tests::encoded(Layout::a, chunk.records));
    EXPECT_EQ(decoded.fault, Fault::none);
    tests::expect_same(decoded.records, chunk.records, 0);
}

TEST(CompactEncoder, GivesNoIdToWhatSavesNothing) {
    Unpredicted chunk;
    chunk.add(0x82, 7, 0x1234'5678); // an id costs as much as it saves
    chunk.add(0x83, 1, 2);
    chunk.add(0x11, 0, 0);
    const auto encoder = std::make_unique<Encoder>();
    encoder->begin(Layout::a);
    ASSERT_TRUE(encoder->count(tests::bytes_of(chunk.records)).ok());
    EXPECT_EQ(encoder->plan(), kHeaderBytes + 12 + 4 * kRare + 12 + 8);
    EXPECT_EQ(encoder->map().size(), 0U);
}

TEST(CompactEncoder, TakesMoreDifferentEventsThanItCanCount) {
    std::vector<Record> records;
    for (std::uint32_t i = 0; i < 5000; ++i) {
        records.push_back(tracer::make_record(0x82, static_cast<std::uint16_t>(i), 0x10'0000 + i, {100 * i}));
    }
    for (const LayoutRow& row : kLayoutRows) {
        const Decoded decoded = tests::decode(tests::encoded(row.layout, records));
        ASSERT_EQ(decoded.fault, Fault::none) << row.name;
        tests::expect_same(decoded.records, records, row.lsb);
    }
}

TEST(CompactEncoder, RefusesToWriteBeforeItKnowsWhere) {
    const auto encoder = std::make_unique<Encoder>();
    const Bytes plain = tests::bytes_of({tracer::make_record(0x82, 1, 2, {10})});
    Bytes room(256);
    for (int use = 0; use < 2; ++use) { // new, and after a whole stream
        encoder->begin(Layout::a);
        ASSERT_TRUE(encoder->count(plain).ok());
        static_cast<void>(encoder->plan());
        EXPECT_EQ(encoder->write(plain).error(), lib::Error::no_space);
        ASSERT_TRUE(encoder->start(room).ok());
        EXPECT_EQ(encoder->finish().error(), lib::Error::corrupt) << "a counted record was not written";
        ASSERT_TRUE(encoder->write(plain).ok());
        EXPECT_TRUE(encoder->finish().ok());
    }
}

} // namespace encoder_map_test
