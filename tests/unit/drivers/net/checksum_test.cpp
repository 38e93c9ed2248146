// SPDX-License-Identifier: MIT
// Tests the Internet checksum against published values, and beside its definition: one 16-bit word after the other, in
// network order.
#include "drivers/net/packets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace drivers::net {

namespace {

std::uint16_t by_definition(std::span<const std::byte> bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        sum += static_cast<std::uint32_t>(bytes[i]) << (i % 2 == 0 ? 8 : 0);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

std::uint16_t checksum(std::span<const std::byte> bytes) {
    InternetChecksum sum;
    sum.add(bytes);
    return sum.value();
}

} // namespace

// The example of RFC 1071, section 3: words 0001 f203 f4f5 f6f7, sum ddf2.
TEST(InternetChecksum, AgreesWithItsStandard) {
    constexpr std::array<std::byte, 8> kData{std::byte{0x00}, std::byte{0x01}, std::byte{0xF2}, std::byte{0x03},
                                             std::byte{0xF4}, std::byte{0xF5}, std::byte{0xF6}, std::byte{0xF7}};
    InternetChecksum whole;
    whole.add(kData);
    EXPECT_EQ(whole.value(), 0x220D);
    InternetChecksum pieces;
    pieces.add(std::uint16_t{0x0001});
    pieces.add(std::span(kData).subspan(2, 2));
    pieces.add(std::span(kData).subspan(4));
    EXPECT_EQ(pieces.value(), 0x220D);
}

TEST(InternetChecksum, TakesAnOddLastByteAsTheUpperHalf) {
    InternetChecksum odd;
    odd.add(std::array{std::byte{0x12}, std::byte{0x34}, std::byte{0x56}});
    EXPECT_EQ(odd.value(), static_cast<std::uint16_t>(~(0x1234 + 0x5600)));
}

TEST(InternetChecksum, IsTheOnesComplementSumOfEveryLength) {
    std::vector<std::byte> bytes(150);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(i * 131 + i / 7);
    }
    for (std::size_t size = 0; size <= bytes.size(); ++size) {
        const auto some = std::span(bytes).first(size);
        ASSERT_EQ(checksum(some), by_definition(some)) << size;
    }
}

TEST(InternetChecksum, AddsEveryCarryBack) {
    for (std::size_t size = 0; size <= 150; ++size) {
        const std::vector<std::byte> ones(size, std::byte{0xFF});
        ASSERT_EQ(checksum(ones), by_definition(ones)) << size;
    }
}

TEST(InternetChecksum, ContinuesOverPiecesOfEvenSize) {
    std::vector<std::byte> bytes(101);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] = static_cast<std::byte>(0xF0 + i * 3);
    }
    for (std::size_t cut = 0; cut <= bytes.size(); cut += 2) {
        InternetChecksum sum;
        sum.add(std::span<const std::byte>(bytes).first(cut));
        sum.add(std::span<const std::byte>(bytes).subspan(cut));
        ASSERT_EQ(sum.value(), by_definition(bytes)) << cut;
    }
    InternetChecksum sum;
    sum.add(std::span<const std::byte>(bytes).first(100));
    sum.add(std::uint16_t{0xFFEE});
    bytes[100] = std::byte{0xFF};
    bytes.push_back(std::byte{0xEE});
    EXPECT_EQ(sum.value(), by_definition(bytes));
}

} // namespace drivers::net
