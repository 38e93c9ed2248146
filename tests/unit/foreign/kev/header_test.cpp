// SPDX-License-Identifier: MIT
// Tests headers of .kev files: any text, any key, both byte orders, and an error for each way in which one can be
// wrong. Then damage of every kind to a small file: nothing may crash, hang or grow.
#include "foreign/kev/header.hpp"

#include "tests/support/kev_builder.hpp"

#include <gmock/gmock.h>

namespace host::formats::kev {

namespace {

using support::Bytes;
using support::KevBuilder;
using support::KevKeys;
using support::KevReading;
using support::KevSeen;
using support::read_kev;
using testing::ElementsAre;
using testing::HasSubstr;

// Nothing: it is a header.
std::optional<HeaderError> error_of(const KevKeys& keys, std::string* why = nullptr) {
    KevBuilder file(keys);
    file.time(0, 0x1000).user(0, 0x1000, 1);
    trace::Diagnostics diagnostics([&](std::string_view line) {
        if (why != nullptr) {
            *why = line;
        }
    });
    const auto reader = Reader::open({.name = "t.kev", .bytes = support::source_of(file.bytes)}, diagnostics);
    return reader ? std::nullopt : std::optional(reader.error());
}

std::string value_of(const KevKeys& keys, std::string_view key) {
    KevBuilder file(keys);
    trace::Diagnostics diagnostics([](std::string_view) {});
    const auto reader = Reader::open({.name = "t", .bytes = support::source_of(file.bytes)}, diagnostics);
    if (!reader) {
        return "<error>";
    }
    const std::string* const value = reader.value()->header().find(key);
    return value != nullptr ? *value : "<none>";
}

// Checklist 9.
TEST(KevHeader, KeepsKeysOfAnyLengthAndValuesOfAnyText) {
    const std::string long_key(5000, 'K');
    const std::string long_value(200'000, 'v');
    EXPECT_EQ(value_of({.more = "TRACE_" + long_key + "::" + long_value}, long_key), long_value);
    EXPECT_EQ(value_of({.more = "TRACE_NOTE::TTTTRACE TRACE_ TRACE_X: a::b TTRACE_"}, "NOTE"),
              "TTTTRACE TRACE_ TRACE_X: a::b TTRACE_");
    EXPECT_EQ(value_of({.more = "TRACE_NOTE::MY_TRACE_FILE"}, "NOTE"), "MY_TRACE_FILE");
    EXPECT_EQ(value_of({.more = "TRACE_NOTE::"}, "NOTE"), "");
    EXPECT_EQ(value_of({.more = std::string("TRACE_NOTE::\x01\xFF\0z", 16)}, "NOTE"), std::string("\x01\xFF\0z", 4));
    EXPECT_EQ(value_of({.more = "TRACE_NOTE::\nTRACE_OTHER::2"}, "OTHER"), "2");
    EXPECT_EQ(value_of({}, "OTHER"), "<none>");
    EXPECT_EQ(value_of({}, "MACHINE"), "x86pc");
    EXPECT_EQ(value_of({}, "DATE"), "Mon May  1 10:00:00 2006\n");
}

TEST(KevHeader, EachBadHeaderHasItsError) {
    EXPECT_EQ(error_of({}), std::nullopt);
    for (const char* const key : {"VER_MAJOR", "VER_MINOR", "ENCODING", "CYCLES_PER_SEC", "CPU_NUM", "SYSPAGE_LEN"}) {
        std::string why;
        EXPECT_EQ(error_of({.drop = key}, &why), HeaderError::missing_key) << key;
        EXPECT_THAT(why, HasSubstr(std::string("E-HEADER the header has no TRACE_") + key));
    }
    EXPECT_EQ(error_of({.drop = "FILE_NAME"}), std::nullopt);
    EXPECT_EQ(error_of({.version_major = "1", .version_minor = "00"}), HeaderError::version);
    EXPECT_EQ(error_of({.version_major = "0", .version_minor = "99"}), HeaderError::version);
    EXPECT_EQ(error_of({.version_major = "one"}), HeaderError::number);
    EXPECT_EQ(error_of({.version_major = "1", .version_minor = "02"}), std::nullopt);
    EXPECT_EQ(error_of({.version_major = "2", .version_minor = "00"}), HeaderError::version);
    EXPECT_EQ(error_of({.byte_order = "MIDDLE"}), HeaderError::byte_order);
    EXPECT_EQ(error_of({.byte_order = ""}), HeaderError::byte_order);
    EXPECT_EQ(error_of({.more = "TRACE_BIG_ENDIAN::TRUE"}), HeaderError::byte_order);
    EXPECT_EQ(error_of({.encoding = "32 byte events"}), HeaderError::encoding);
    EXPECT_EQ(error_of({.cycles_per_second = "fast"}), HeaderError::number);
    EXPECT_EQ(error_of({.cycles_per_second = "99999999999999999999999"}), HeaderError::number);
    EXPECT_EQ(error_of({.syspage_bytes = "33"}), HeaderError::syspage_size);
    EXPECT_EQ(error_of({.syspage_bytes = "32"}), std::nullopt);
    EXPECT_EQ(error_of({.syspage_bytes = "18446744073709551615"}), HeaderError::syspage_size);
    EXPECT_EQ(error_of({.syspage_bytes = "-1"}), HeaderError::number);
    EXPECT_EQ(error_of({.drop = "HEADER_END"}), HeaderError::no_end);
}

TEST(KevHeader, TextWithoutEndIsGivenUpAtABound) {
    EXPECT_EQ(error_of({.more = "TRACE_X::" + std::string(2 * kHeaderBytesMax, 'x')}), HeaderError::no_end);
    KevReading reading = read_kev(std::as_bytes(std::span<const char>("nothing of the kind", 19)));
    EXPECT_FALSE(reading.opened);
    EXPECT_THAT(reading.lines, HasSubstr("E-HEADER the file does not begin with TRACE_HEADER_BEGIN::"));
    EXPECT_FALSE(read_kev({}).opened);
}

TEST(KevHeader, SystemPageIsPassedOver) {
    KevBuilder file({.syspage_bytes = "7"});
    file.text("SYSPAGE").time(0, 0x1000).user(0, 0x1000, 42);
    EXPECT_THAT(read_kev(file.bytes).numbers(), ElementsAre(42));
}

// Longer than what is read of the file at once.
TEST(KevHeader, ALongSystemPageIsPassedOver) {
    constexpr std::size_t kBytes = 200'000;
    KevBuilder file({.syspage_bytes = std::to_string(kBytes)});
    file.text(std::string(kBytes, 'p')).time(0, 0x1000).user(0, 0x1000, 42);
    const auto reading = read_kev(file.bytes);
    EXPECT_THAT(reading.numbers(), ElementsAre(42));
    EXPECT_EQ(reading.lines, "");
}

// Checklist 9: header, stamp and data of big-endian files.
TEST(KevHeader, BigEndianFilesGiveTheSameEvents) {
    std::vector<KevReading> readings;
    for (const char* const order : {"LITTLE", "BIG"}) {
        KevBuilder file({.byte_order = order});
        file.buffer(1, 0x01020304, 0).time(1, 0x5'0102'0304).slot('S', 1, 6, 0x123, 0x01020305, 0xAABBCCDD, 1);
        file.slot('B', 1, 4, 320, 0x01020306, 1, 2).slot('E', 1, 4, 320, 0x01020306, 0x11223344, 0x55667788);
        readings.push_back(read_kev(file.bytes));
        EXPECT_EQ(readings.back().lines, "");
    }
    EXPECT_EQ(readings[0].events, readings[1].events);
    ASSERT_EQ(readings[1].events.size(), 2U);
    EXPECT_EQ(readings[1].events[0], (KevSeen{0x5'0102'0305, 1, 6, 0x123, {0xAABBCCDD, 1}}));
    EXPECT_EQ(readings[1].events[1].words.back(), 0x55667788U);
}

// --- damage
// -------------------------------------------------------------------------------------------------------------

Bytes golden() {
    KevBuilder file({.syspage_bytes = "3"});
    file.text("PGE").buffer(0, 0x1000, 0, 12).time(0, 0x1000).time(1, 0x1000).user(0, 0x1001, 1);
    file.slot('B', 0, 4, 320, 0x1002, 1, 2).user(1, 0x1003, 2).slot('B', 1, 6, 5, 0x1004, 3, 4);
    file.slot('C', 0, 4, 320, 0x1002, 3, 4).slot('E', 1, 6, 5, 0x1004, 5, 6).slot('E', 0, 4, 320, 0x1002, 5, 6);
    file.time(0, 0x1'0000'0000).user(0, 0x1'0000'0001, 7).buffer(0, 0x1'0000'0002, 1, 2);
    file.time(0, 0x1'0000'0002).user(0, 0x1'0000'0003, 8);
    return file.bytes;
}

// Every event comes of a slot that is there.
void expect_bounded(const KevReading& reading, const Bytes& bytes) {
    EXPECT_LE(reading.events.size() + reading.control.size(), bytes.size() / kSlotBytes);
}

TEST(KevDamage, GoldenFileIsClean) {
    const KevReading reading = read_kev(golden());
    EXPECT_EQ(reading.lines, "");
    EXPECT_EQ(reading.events.size(), 6U);
}

TEST(KevDamage, TruncationAtEveryByteEnds) {
    const Bytes whole = golden();
    const KevReading complete = read_kev(whole);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        Bytes bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const KevReading reading = read_kev(bytes);
        expect_bounded(reading, bytes);
        EXPECT_LE(reading.events.size(), complete.events.size()) << size;
        EXPECT_TRUE(reading.opened || !reading.lines.empty()) << size << ": an error without a word";
        EXPECT_TRUE(!reading.opened || (whole.size() - size) % kSlotBytes == 0 ||
                    reading.lines.find("W-TAIL") != std::string::npos)
            << size;
    }
}

TEST(KevDamage, EveryFlippedBitEnds) {
    const Bytes whole = golden();
    for (std::size_t bit = 0; bit < whole.size() * 8; ++bit) {
        Bytes bytes = whole;
        bytes[bit / 8] ^= static_cast<std::byte>(1 << (bit % 8));
        const KevReading reading = read_kev(bytes);
        expect_bounded(reading, bytes);
        EXPECT_TRUE(reading.opened || !reading.lines.empty()) << bit;
    }
}

TEST(KevDamage, NoiseAfterAHeaderEnds) {
    std::uint64_t noise = 0x9E37'79B9'7F4A'7C15;
    KevBuilder file({.processors = "64"});
    for (int i = 0; i < 200'000; ++i) {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        file.bytes.push_back(static_cast<std::byte>(noise));
    }
    const KevReading reading = read_kev(file.bytes);
    expect_bounded(reading, file.bytes);
    EXPECT_EQ(reading.status, trace::ExitStatus::damaged);
}

} // namespace

} // namespace host::formats::kev
