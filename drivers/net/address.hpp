// SPDX-License-Identifier: MIT
// Declares the three kinds of network address as types that do not mix, and reads the text form of an IPv4 address. It
// is host-safe. Source: RFC 791 section 3.1 (dotted decimal: four numbers 0..255). Context: any.
#pragma once

#include "lib/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace drivers::net {

struct MacAddress {
    std::array<std::byte, 6> bytes{};

    friend constexpr bool operator==(const MacAddress&, const MacAddress&) = default;

    // Returns whether it is a multicast or broadcast address, which is never the address of one card.
    [[nodiscard]] constexpr bool is_group() const { return (bytes[0] & std::byte{1}) != std::byte{0}; }

    [[nodiscard]] constexpr bool is_zero() const { return *this == MacAddress{}; }
};

inline constexpr MacAddress kBroadcastMac{
    {std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}, std::byte{0xFF}}};

// The first number is in the highest byte: 192.168.1.10 is 0xC0A8'010A.
struct Ipv4Address {
    std::uint32_t value = 0;

    friend constexpr bool operator==(Ipv4Address, Ipv4Address) = default;

    // Returns whether it is a possible address of one machine: not 0.x, loopback, multicast, reserved or broadcast.
    [[nodiscard]] constexpr bool is_host() const {
        const std::uint32_t first = value >> 24;
        return first != 0 && first != 127 && first < 224;
    }
};

struct UdpPort {
    std::uint16_t value = 0;

    friend constexpr bool operator==(UdpPort, UdpPort) = default;
};

// Parses an address such as "192.168.1.10". invalid_argument: it is not four decimal numbers 0..255 of at most three
// digits, without leading zeros (which some read as octal), separated by single dots.
[[nodiscard]] lib::Result<Ipv4Address> parse_ipv4_address(std::string_view text);

} // namespace drivers::net
