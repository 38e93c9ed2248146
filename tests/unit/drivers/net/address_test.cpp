// SPDX-License-Identifier: MIT
// Dotted decimal addresses and the Internet checksum against published values.
#include "drivers/net/address.hpp"
#include "drivers/net/checksum.hpp"

#include <gtest/gtest.h>

#include <array>

namespace drivers::net {

TEST(Ipv4Address, IsReadFromDottedDecimal) {
    EXPECT_EQ(parse_ipv4_address("192.168.1.10").value(), (Ipv4Address{0xC0A8'010A}));
    EXPECT_EQ(parse_ipv4_address("0.0.0.0").value(), (Ipv4Address{0}));
    EXPECT_EQ(parse_ipv4_address("255.255.255.255").value(), (Ipv4Address{0xFFFF'FFFF}));
}

TEST(Ipv4Address, IsRefusedInAnyOtherForm) {
    for (const char* text :
         {"",         ".",         "1",         "1.2.3",      "1.2.3.",           ".1.2.3",   "1..2.3",
          "1.2.3.4.", "1.2.3.4.5", "256.0.0.1", "1.2.3.1000", "1.2.3.4294967297", "01.2.3.4", "1.2.3.00",
          "1.2.3.4 ", " 1.2.3.4",  "1.2.3.-4",  "1.2.3.+4",   "1.2.3.0x4",        "1,2,3,4",  "a.b.c.d"}) {
        EXPECT_EQ(parse_ipv4_address(text).error(), lib::Error::invalid_argument) << '"' << text << '"';
    }
}

// The example of RFC 1071, section 3: words 0001 f203 f4f5 f6f7, sum ddf2.
TEST(InternetChecksum, AgreesWithItsStandard) {
    constexpr std::array<std::byte, 8> data{std::byte{0x00}, std::byte{0x01}, std::byte{0xF2}, std::byte{0x03},
                                            std::byte{0xF4}, std::byte{0xF5}, std::byte{0xF6}, std::byte{0xF7}};
    InternetChecksum whole;
    whole.add(data);
    EXPECT_EQ(whole.value(), 0x220D);
    InternetChecksum pieces;
    pieces.add(std::uint16_t{0x0001});
    pieces.add(std::span(data).subspan(2, 2));
    pieces.add(std::span(data).subspan(4));
    EXPECT_EQ(pieces.value(), 0x220D);
}

TEST(InternetChecksum, TakesAnOddLastByteAsTheUpperHalf) {
    InternetChecksum odd;
    odd.add(std::array{std::byte{0x12}, std::byte{0x34}, std::byte{0x56}});
    EXPECT_EQ(odd.value(), static_cast<std::uint16_t>(~(0x1234 + 0x5600)));
}

} // namespace drivers::net
