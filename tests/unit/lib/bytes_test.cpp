// SPDX-License-Identifier: MIT
// Tests byte order, byte cursors and the checksum.
#include "lib/crc32c.hpp"
#include "lib/crc32c_folded.hpp"
#include "lib/crc32c_joined.hpp"
#include "lib/endian.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace lib {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

} // namespace

TEST(Endian, StoresTheLeastSignificantByteFirstOrLast) {
    std::array<std::byte, 4> buffer{};
    store_le(std::span(buffer), std::uint32_t{0x1122'3344});
    EXPECT_EQ(buffer, (std::array{std::byte{0x44}, std::byte{0x33}, std::byte{0x22}, std::byte{0x11}}));
    EXPECT_EQ(load_be<std::uint32_t>(buffer), 0x4433'2211U);
    store_be(std::span(buffer), std::uint16_t{0xABCD});
    EXPECT_EQ(buffer[0], std::byte{0xAB});
    EXPECT_EQ(load_le<std::uint16_t>(buffer), 0xCDAB);
}

TEST(ByteReader, StopsAtTheEndAndSaysSo) {
    const std::array<std::byte, 3> buffer = {std::byte{1}, std::byte{2}, std::byte{3}};
    ByteReader reader(buffer);
    EXPECT_EQ(reader.le<std::uint16_t>(), 0x0201);
    EXPECT_FALSE(reader.failed());
    EXPECT_EQ(reader.le<std::uint16_t>(), 0);
    EXPECT_TRUE(reader.failed());
    EXPECT_EQ(reader.remaining(), 0U);
    EXPECT_EQ(reader.be<std::uint8_t>(), 0);
}

TEST(ByteReader, TakesExactlyWhatIsLeft) {
    const std::array<std::byte, 3> buffer{};
    ByteReader reader(buffer);
    EXPECT_EQ(reader.take(3).size(), 3U);
    EXPECT_FALSE(reader.failed());
    EXPECT_EQ(reader.take(~std::size_t{0}).size(), 0U);
    EXPECT_TRUE(reader.failed());
}

TEST(ByteWriter, WritesNothingOnceSomethingDidNotFit) {
    std::array<std::byte, 3> buffer{};
    ByteWriter writer(buffer);
    writer.le(std::uint16_t{0x0102});
    writer.be(std::uint32_t{5});
    EXPECT_TRUE(writer.failed());
    writer.le(std::uint8_t{7});
    EXPECT_EQ(writer.offset(), 2U);
    EXPECT_EQ(buffer[2], std::byte{0});
}

TEST(Crc32c, MatchesTheStandardsCheckValues) {
    EXPECT_EQ(crc32c(bytes_of("123456789")), 0xE306'9283U);
    EXPECT_EQ(crc32c(bytes_of("")), 0U);
    const std::array<std::byte, 32> zeros{};
    EXPECT_EQ(crc32c(zeros), 0x8A91'36AAU); // RFC 3720, B.4
}

TEST(Crc32c, ContinuesOverPieces) {
    EXPECT_EQ(crc32c(bytes_of("56789"), crc32c(bytes_of("1234"))), crc32c(bytes_of("123456789")));
}

// Eight bytes at a time, and the rest one by one.
TEST(Crc32c, IsTheSameByteByByte) {
    std::array<std::byte, 40> bytes{};
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(37 * i + 11);
    }
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        std::uint32_t crc = 0;
        for (std::size_t i = 0; i < size; ++i) {
            crc = crc32c(std::span(bytes).subspan(i, 1), crc);
        }
        EXPECT_EQ(crc32c(std::span(bytes).first(size)), crc) << size;
    }
}

TEST(Crc32c, OfTwoPiecesFollowsFromThatOfEach) {
    constexpr std::size_t kHead = 77;
    std::vector<std::byte> bytes(kHead + (std::size_t{1} << 20));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(37 * i + i / 251);
    }
    const std::uint32_t head = crc32c(std::span(bytes).first(kHead));
    const auto expect_joined = [&](std::size_t size) {
        const auto tail = std::span<const std::byte>(bytes).subspan(kHead, size);
        EXPECT_EQ(crc32c_joined(head, crc32c(tail), size), crc32c(tail, head)) << size;
    };
    for (std::size_t size = 0; size <= 2'100; ++size) {
        expect_joined(size);
    }
    expect_joined(std::size_t{1} << 20);
    EXPECT_EQ(crc32c_joined(0, 5, 1'000), 5U) << "nothing before it";
}

TEST(Crc32c, IsJoinedByLookUpsLikeByAProduct) {
    for (const std::uint64_t size : {1U, 16U, 1'024U, 70'000U}) {
        const auto joiner = std::make_unique<Crc32cJoiner>(size);
        for (std::uint32_t bit = 0; bit < 32; ++bit) {
            EXPECT_EQ(joiner->joined(1U << bit, 0), crc32c_joined(1U << bit, 0, size)) << bit << " of " << size;
        }
        EXPECT_EQ(joiner->joined(0xE306'9283, 0x8A91'36AA), crc32c_joined(0xE306'9283, 0x8A91'36AA, size));
    }
}

// Each byte by itself, for the checksum of a sum is the sum of the checksums; and one object again and again.
template <std::size_t Bytes>
void expect_folded() {
    FoldedCrc32c<Bytes> folded;
    std::array<std::byte, Bytes> bytes{};
    EXPECT_EQ(folded.of(bytes), crc32c(bytes));
    for (std::size_t i = 0; i < Bytes; ++i) {
        bytes[i] = std::byte{0x01};
        EXPECT_EQ(folded.of(bytes), crc32c(bytes)) << i;
        bytes[i] = {};
    }
    for (std::size_t i = 0; i < Bytes; ++i) {
        bytes[i] = static_cast<std::byte>(37 * i + i / 251 + 1);
        EXPECT_EQ(folded.of(bytes), crc32c(bytes)) << i;
    }
}

TEST(Crc32c, IsTheSameOfFoldedBytes) {
    expect_folded<1'024>();
    expect_folded<440>();
}

} // namespace lib
