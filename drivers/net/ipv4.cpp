// SPDX-License-Identifier: MIT
// Reading and writing IPv4 headers.
#include "drivers/net/ipv4.hpp"

#include "drivers/net/checksum.hpp"
#include "lib/assert.hpp"

#include <array>

namespace drivers::net {

namespace {

constexpr std::uint8_t kVersion = 4;
constexpr std::uint16_t kDontFragment = 0x4000;
constexpr std::uint16_t kMoreFragments = 0x2000;
constexpr std::uint16_t kFragmentOffsetMask = 0x1FFF;
constexpr std::uint8_t kTimeToLive = 64;

} // namespace

lib::Result<Ipv4Packet> parse_ipv4(std::span<const std::byte> bytes_untrusted) {
    lib::ByteReader reader(bytes_untrusted);
    const auto version_and_length = reader.be<std::uint8_t>();
    const std::size_t header_bytes = (version_and_length & 0x0FU) * 4U;
    if (version_and_length >> 4 != kVersion || header_bytes < kIpv4HeaderBytes ||
        header_bytes > bytes_untrusted.size()) {
        return lib::Error::corrupt;
    }
    InternetChecksum checksum;
    checksum.add(bytes_untrusted.first(header_bytes));
    if (checksum.value() != 0) {
        return lib::Error::corrupt;
    }

    Ipv4Packet packet;
    static_cast<void>(reader.take(1)); // type of service
    const std::size_t total_bytes = reader.be<std::uint16_t>();
    static_cast<void>(reader.take(2)); // identification
    const auto flags_and_offset = reader.be<std::uint16_t>();
    static_cast<void>(reader.take(1)); // time to live: this is the destination
    packet.protocol = reader.be<std::uint8_t>();
    static_cast<void>(reader.take(2)); // checksum, already verified
    packet.source = {reader.be<std::uint32_t>()};
    packet.destination = {reader.be<std::uint32_t>()};
    static_cast<void>(reader.take(header_bytes - kIpv4HeaderBytes)); // options
    if (reader.failed() || total_bytes < header_bytes || total_bytes > bytes_untrusted.size() ||
        total_bytes > kIpv4PacketBytesMax) {
        return lib::Error::corrupt;
    }
    if ((flags_and_offset & (kMoreFragments | kFragmentOffsetMask)) != 0) {
        return lib::Error::unsupported;
    }
    packet.payload = reader.take(total_bytes - header_bytes);
    return packet;
}

void write_ipv4(lib::ByteWriter& writer, const Ipv4Header& header) {
    ASSERT(header.payload_bytes <= kIpv4PacketBytesMax - kIpv4HeaderBytes);
    std::array<std::byte, kIpv4HeaderBytes> bytes{};
    lib::ByteWriter fields(bytes);
    fields.be(static_cast<std::uint8_t>(kVersion << 4 | kIpv4HeaderBytes / 4));
    fields.be(std::uint8_t{0}); // type of service
    fields.be(static_cast<std::uint16_t>(kIpv4HeaderBytes + header.payload_bytes));
    fields.be(header.id);
    fields.be(kDontFragment);
    fields.be(kTimeToLive);
    fields.be(static_cast<std::uint8_t>(header.protocol));
    const std::size_t checksum_offset = fields.offset();
    fields.be(std::uint16_t{0});
    fields.be(header.source.value);
    fields.be(header.destination.value);

    InternetChecksum checksum;
    checksum.add(bytes);
    lib::store_be(std::span<std::byte>(bytes).subspan(checksum_offset), checksum.value());
    writer.put(bytes);
}

} // namespace drivers::net
