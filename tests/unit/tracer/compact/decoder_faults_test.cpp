// SPDX-License-Identifier: MIT
// Tests what the decoder refuses in streams without a checksum, where nothing else notices it: each field on both sides
// of its bounds.
#include "tests/support/compact_streams.hpp"

#include <initializer_list>

namespace decoder_faults_test {

using namespace tracer::compact;
using tests::Bytes;
using tests::Decoded;

void append(Bytes& bytes, std::uint32_t word) {
    bytes.resize(bytes.size() + 4);
    lib::store_le(std::span(bytes).last(4), word);
}

Bytes headed(const StreamHeader& header) {
    Bytes bytes(kHeaderBytes);
    encode_stream_header(header, bytes);
    return bytes;
}

TEST(CompactDecoder, NamesWhatIsWrongInAHeader) {
    struct Row {
        StreamHeader header;
        std::size_t at; // a byte of the header
        std::uint8_t value;
        Fault fault;
    };

    const Row kRows[] = {
        {{}, 4, kVersion, Fault::none},
        {{}, 0, 'S', Fault::magic},
        {{}, 4, kVersion + 1, Fault::version},
        {{}, 5, kLayouts - 1, Fault::none},
        {{}, 5, kLayouts, Fault::header},
        {{}, 6, kFlagPeriodic, Fault::none},
        {{}, 6, 0x04, Fault::header},
        {{}, 6, 0x80, Fault::header},
        {{}, 7, 1, Fault::header},
        {{.records = 1}, 7, 0, Fault::header},
        {{.bytes = 24}, 7, 0, Fault::header},
        {{.crc32c = 1}, 7, 0, Fault::header},
        {{.flags = kFlagSealed, .bytes = 25}, 7, 0, Fault::cut},
        {{.flags = kFlagSealed, .bytes = 23}, 7, 0, Fault::header},
        {{.layout = Layout::large64, .entries = 1}, 7, 0, Fault::map},
        {{.entries = 17}, 7, 0, Fault::map},
        {{.entries = 16}, 7, 0, Fault::cut},
    };
    for (const Row& row : kRows) {
        Bytes stream = headed(row.header);
        stream[row.at] = static_cast<std::byte>(row.value);
        const Decoded decoded = tests::decode(stream);
        EXPECT_EQ(fault_text(decoded.fault), fault_text(row.fault)) << "row " << &row - std::begin(kRows);
        EXPECT_EQ(decoded.offset, row.fault == Fault::none ? kHeaderBytes : 0);
    }
}

TEST(CompactDecoder, TakesOnlyMapsThatAnEncoderWrites) {
    struct Row {
        MapEntry entry;
        Fault fault;
    };

    const Row kRows[] = {
        {{.code = 0x82, .form = Form::none}, Fault::none},
        {{.code = 0x8082, .form = Form::word}, Fault::none},
        {{.code = 0x82, .form = Form::constant, .par1 = 0xFFFF, .par2 = ~0U}, Fault::none},
        {{.form = Form::recall, .order = 1}, Fault::none},
        {{.form = Form::recall, .order = 2}, Fault::none},
        {{.code = 0x82, .form = Form::large}, Fault::map},
        {{.code = 0x82, .form = static_cast<Form>(5)}, Fault::map},
        {{.code = 0x00, .form = Form::none}, Fault::map},
        {{.code = 0x8000, .form = Form::word}, Fault::map},
        {{.code = 0x1082, .form = Form::word}, Fault::map},
        {{.code = 0x0182, .form = Form::none}, Fault::map},
        {{.code = 0x82, .form = Form::none, .order = 1}, Fault::map},
        {{.code = 0x82, .form = Form::word, .order = 2}, Fault::map},
        {{.code = 0x82, .form = Form::constant, .order = 1}, Fault::map},
        {{.code = 0x82, .form = Form::constant, .par1 = 0x1'0000}, Fault::map},
        {{.form = Form::recall, .order = 0}, Fault::map},
        {{.form = Form::recall, .order = 3}, Fault::map},
        {{.code = 0x82, .form = Form::recall, .order = 1}, Fault::map},
    };
    for (const Row& row : kRows) {
        Bytes stream = headed({.entries = 1});
        stream.resize(kHeaderBytes + row.entry.bytes());
        lib::ByteWriter writer(std::span(stream).subspan(kHeaderBytes));
        encode_entry(row.entry, writer);
        EXPECT_EQ(fault_text(tests::decode(stream).fault), fault_text(row.fault)) << "row " << &row - std::begin(kRows);
    }
}

TEST(CompactDecoder, TakesOnlyPayloadsThatAnEventHas) {
    struct Row {
        std::uint32_t id;
        std::uint32_t size_bytes;
        std::initializer_list<std::uint32_t> payload; // further words are 0
        Fault fault;
    };

    constexpr std::uint32_t kLong = 0x1E | kLargeLong;
    const Row kRows[] = {
        {0x82, 0, {}, Fault::none},
        {0x82, 4, {0xFFFF'FFFF}, Fault::none},
        {0x82, 8, {0xFFFF, 0xFFFF'FFFF}, Fault::none},
        {0x82, 8, {0x1'0000, 0}, Fault::size},
        {0x82, 12, {0xFFFF, 0, 0x82}, Fault::none},
        {0x82, 12, {0xFFFF, 0, 0x4F82}, Fault::none}, // reserved bits, as they were recorded
        {0x82, 12, {0x1'0000, 0, 0x82}, Fault::size}, // more than par1
        {0x82, 12, {0, 0, 0x1'0082}, Fault::size},    // more than a code
        {0x82, 12, {0, 0, 0x83}, Fault::size},        // another code than in the header
        {0x82, 12, {0, 0, 0x8082}, Fault::size},      // another path
        {0x182, 12, {0, 0, 0x8082}, Fault::none},     //
        {0x00, 12, {0, 0, 0x1000}, Fault::none},      // a slot of a long event without its code
        {0x00, 12, {0, 0, 0}, Fault::size},           // the empty slot
        {0x82, 3, {}, Fault::size},
        {0x82, 16, {}, Fault::size},
        {0x482, 4, {}, Fault::id},
        {kLong, 6, {}, Fault::none},
        {kLong, 0, {}, Fault::size},
        {kLong, 7, {}, Fault::size},
        {kLong, 64 * 6, {}, Fault::none},
        {kLong, 65 * 6, {}, Fault::size},
        {kLong, 6, {0, 0x1'0000}, Fault::size}, // after its end
    };
    for (const Row& row : kRows) {
        SCOPED_TRACE(&row - std::begin(kRows));
        Bytes stream = headed({.layout = Layout::large64});
        append(stream, kHeartbeatWord);
        append(stream, 5);
        append(stream, 0);
        const std::size_t at = stream.size();
        append(stream, pack_large({.id = row.id, .size_bytes = row.size_bytes}));
        append(stream, 6);
        for (const std::uint32_t word : row.payload) {
            append(stream, word);
        }
        stream.resize(at + 8 + padded(row.size_bytes));
        const Decoded decoded = tests::decode(stream);
        EXPECT_EQ(fault_text(decoded.fault), fault_text(row.fault));
        EXPECT_EQ(decoded.offset, row.fault == Fault::none ? stream.size() : at);
        EXPECT_EQ(decoded.records.empty(), row.fault != Fault::none);
    }
}

TEST(CompactDecoder, FindsTheFirstStampOfEachStreamAndOfNothingElse) {
    const auto records = tests::random_records(6, 300);
    for (const LayoutRow& row : kLayoutRows) {
        SCOPED_TRACE(row.name);
        const Bytes stream = tests::encoded(row.layout, records);
        ASSERT_TRUE(first_stamp(stream).ok());
        EXPECT_EQ(first_stamp(stream).value(), records.front().stamp());
        std::size_t needed = 0;
        while (needed < stream.size() && !first_stamp(std::span(stream).first(needed)).ok()) {
            ++needed;
        }
        EXPECT_EQ(first_stamp(std::span(stream).first(needed)).value(), records.front().stamp())
            << "a cut stream has another stamp";
        EXPECT_GE(needed, kHeaderBytes + 12);
        for (const std::size_t at : {0U, 3U, 4U, 5U}) { // magic, version, layout
            Bytes other = stream;
            other[at] = std::byte{0x77};
            EXPECT_EQ(first_stamp(other).error(), lib::Error::corrupt) << at;
        }
        Bytes other = stream;
        lib::store_le(std::span(other).subspan(8), static_cast<std::uint32_t>(kMapEntriesMax + 1));
        other.resize(1U << 16);
        EXPECT_EQ(first_stamp(other).error(), lib::Error::corrupt);
    }
}

} // namespace decoder_faults_test
