// SPDX-License-Identifier: MIT
// Tests dotted decimal addresses, and addresses of cards.
#include "drivers/net/address.hpp"

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

TEST(Ipv4Address, IsAHostsFrom1To223ButNotLoopback) {
    for (const std::uint32_t host : {0x0100'0000U, 0x7EFF'FFFFU, 0x8000'0000U, 0xDFFF'FFFFU}) {
        EXPECT_TRUE(Ipv4Address{host}.is_host()) << std::hex << host;
    }
    for (const std::uint32_t other : {0U, 0x00FF'FFFFU, 0x7F00'0000U, 0x7FFF'FFFFU, 0xE000'0000U, 0xFFFF'FFFFU}) {
        EXPECT_FALSE(Ipv4Address{other}.is_host()) << std::hex << other;
    }
}

TEST(MacAddress, IsAGroupByTheLowestBitOfItsFirstByte) {
    EXPECT_TRUE(kBroadcastMac.is_group());
    EXPECT_TRUE((MacAddress{{std::byte{0x01}}}.is_group()));
    EXPECT_FALSE((MacAddress{{std::byte{0xFE}, std::byte{0xFF}}}.is_group()));
    EXPECT_TRUE(MacAddress{}.is_zero());
    EXPECT_FALSE(
        (MacAddress{.bytes = std::array{std::byte{}, std::byte{}, std::byte{}, std::byte{}, std::byte{}, std::byte{1}}}
             .is_zero()));
}

} // namespace drivers::net
