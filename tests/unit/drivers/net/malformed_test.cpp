// SPDX-License-Identifier: MIT
// Tests the endpoint against input that violates the standards: one case for each class of violation, and a hundred
// thousand mutated frames. Each frame is in a heap block of its own, so that the address sanitizer detects a read one
// byte past its end.
#include "drivers/net/udp_endpoint.hpp"
#include "tests/support/net_fixture.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <random>

namespace drivers::net {

namespace {

using test::bytes;
using test::Bytes;

struct Malformed {
    const char* name;
    std::function<Bytes()> frame;
    std::uint64_t UdpCounters::*counter;
};

class MalformedFrames : public test::NetFixture, public testing::WithParamInterface<Malformed> {
  protected:
    // From a heap block of exactly its size.
    void handle(const Bytes& frame) {
        const auto block = std::make_unique<std::byte[]>(frame.size());
        std::copy(frame.begin(), frame.end(), block.get());
        endpoint.handle_frame({block.get(), frame.size()});
    }
};

class FuzzedFrames : public MalformedFrames {};

Bytes ip_frame(const Bytes& packet) {
    return test::make_frame_to_us(0x0800, packet);
}

// A valid datagram with one header byte replaced and the header checksum corrected.
Bytes with_ip_byte(std::size_t offset, int value) {
    Bytes packet = test::make_udp(bytes({1, 2, 3, 4}));
    packet[offset] = static_cast<std::byte>(value);
    test::seal_ipv4(packet);
    return ip_frame(packet);
}

Bytes with_udp_length(std::size_t length) {
    Bytes packet = test::make_udp(bytes({1, 2, 3, 4}));
    test::put16(packet, 24, length);
    test::put16(packet, 26, 0); // no checksum: only the length is wrong
    return ip_frame(packet);
}

Bytes cut(Bytes frame, std::size_t size) {
    frame.resize(size);
    return frame;
}

Bytes flipped(Bytes frame, std::size_t offset) {
    frame[offset] ^= std::byte{0x01};
    return frame;
}

Bytes to_card(Bytes frame, int last_byte_of_mac) {
    frame[5] = static_cast<std::byte>(last_byte_of_mac);
    return frame;
}

Bytes oversized_echo() {
    // 1518 bytes as a card with VLAN support delivers them, filled to the last byte.
    return ip_frame(test::make_icmp(8, 0, Bytes(1518 - 14 - 28, std::byte{1})));
}

} // namespace

TEST_P(MalformedFrames, AreDroppedAndCountedUnderTheirReason) {
    become_ready();
    card.sent.clear();
    const UdpCounters before = endpoint.counters();
    handle(GetParam().frame());
    EXPECT_EQ(endpoint.counters().*GetParam().counter, before.*GetParam().counter + 1);
    EXPECT_EQ(endpoint.counters().received, 0U);
    EXPECT_EQ(endpoint.counters().refusals, 0U);
    EXPECT_TRUE(card.sent.empty());
}

using C = UdpCounters;

INSTANTIATE_TEST_SUITE_P(
    Classes, MalformedFrames,
    testing::Values(
        Malformed{"EmptyFrame", [] { return Bytes{}; }, &C::frames_malformed},
        Malformed{"FrameWithoutType", [] { return cut(test::make_arp(1), 13); }, &C::frames_malformed},
        Malformed{"FrameTooLong", [] { return Bytes(1519, std::byte{0}); }, &C::frames_malformed},
        Malformed{"FrameFromAGroup", [] { return flipped(test::make_arp(1), 6); }, &C::frames_malformed},
        Malformed{"FrameToAnotherCard", [] { return to_card(ip_frame(test::make_udp({})), 0x57); },
                  &C::frames_not_for_us},
        Malformed{"UnknownType", [] { return test::make_frame_to_us(0x86DD, Bytes(46)); }, &C::frames_other},
        Malformed{"ArpCutShort", [] { return cut(test::make_arp(1), 14 + 27); }, &C::arp_malformed},
        Malformed{"ArpOverAnotherHardware", [] { return flipped(test::make_arp(1), 15); }, &C::arp_malformed},
        Malformed{"ArpForAnotherProtocol", [] { return flipped(test::make_arp(1), 16); }, &C::arp_malformed},
        Malformed{"ArpWithLongAddresses", [] { return flipped(test::make_arp(1), 18); }, &C::arp_malformed},
        Malformed{"ArpNeitherRequestNorReply", [] { return test::make_arp(3); }, &C::arp_malformed},
        Malformed{"ArpFromAGroupAddress", [] { return flipped(test::make_arp(1), 22); }, &C::arp_malformed},
        Malformed{"Ipv4Empty", [] { return ip_frame({}); }, &C::ip_malformed},
        Malformed{"Ipv4CutInsideItsHeader", [] { return cut(with_ip_byte(0, 0x45), 14 + 19); }, &C::ip_malformed},
        Malformed{"Ipv4Version6", [] { return with_ip_byte(0, 0x65); }, &C::ip_malformed},
        Malformed{"Ipv4HeaderBelow20", [] { return with_ip_byte(0, 0x44); }, &C::ip_malformed},
        Malformed{"Ipv4HeaderBeyondTheFrame", [] { return with_ip_byte(0, 0x4F); }, &C::ip_malformed},
        Malformed{"Ipv4TotalBelowItsHeader", [] { return with_ip_byte(3, 19); }, &C::ip_malformed},
        Malformed{"Ipv4TotalBeyondTheFrame", [] { return with_ip_byte(3, 33); }, &C::ip_malformed},
        Malformed{"Ipv4TotalBeyondEthernet", oversized_echo, &C::ip_malformed},
        Malformed{"Ipv4WrongChecksum", [] { return flipped(with_ip_byte(0, 0x45), 14 + 8); }, &C::ip_malformed},
        Malformed{"Ipv4FirstFragment", [] { return with_ip_byte(6, 0x20); }, &C::ip_fragments},
        Malformed{"Ipv4LaterFragment", [] { return with_ip_byte(7, 0x01); }, &C::ip_fragments},
        Malformed{"Ipv4ToAnotherMachine", [] { return with_ip_byte(19, 11); }, &C::frames_not_for_us},
        Malformed{"Ipv4UnknownProtocol", [] { return with_ip_byte(9, 6); }, &C::frames_other},
        Malformed{"UdpHeaderCut", [] { return ip_frame(test::make_ipv4(17, Bytes(7))); }, &C::udp_malformed},
        Malformed{"UdpLengthBelowItsHeader", [] { return with_udp_length(7); }, &C::udp_malformed},
        Malformed{"UdpLengthBeyondThePacket", [] { return with_udp_length(13); }, &C::udp_malformed},
        Malformed{"UdpLengthHuge", [] { return with_udp_length(0xFFFF); }, &C::udp_malformed},
        Malformed{"UdpWrongChecksum", [] { return flipped(ip_frame(test::make_udp(bytes({1}))), 14 + 28); },
                  &C::udp_malformed},
        Malformed{"UdpFromAnotherMachine",
                  [] {
                      Bytes packet = test::make_udp({});
                      packet[15] = std::byte{2};
                      test::seal_ipv4(packet);
                      test::seal_udp(packet);
                      return ip_frame(packet);
                  },
                  &C::udp_other_flow},
        Malformed{"UdpFromAnotherPort",
                  [] {
                      Bytes packet = test::make_udp({});
                      packet[21] = std::byte{0x21};
                      test::seal_udp(packet);
                      return ip_frame(packet);
                  },
                  &C::udp_other_flow},
        Malformed{"UdpToAnotherPort",
                  [] {
                      Bytes packet = test::make_udp({});
                      packet[23] = std::byte{0x11};
                      test::seal_udp(packet);
                      return ip_frame(packet);
                  },
                  &C::udp_other_flow},
        Malformed{"IcmpHeaderCut", [] { return ip_frame(test::make_ipv4(1, Bytes(7))); }, &C::icmp_malformed},
        Malformed{"IcmpWrongChecksum", [] { return flipped(ip_frame(test::make_icmp(8, 0, bytes({1}))), 14 + 28); },
                  &C::icmp_malformed}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Ipv4Packet, MayBeAHeaderAlone) {
    const Bytes packet = test::make_ipv4(6, {});
    const auto parsed = parse_ipv4(packet);
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed.value().protocol, 6);
    EXPECT_TRUE(parsed.value().payload.empty());
}

TEST_F(MalformedFrames, OptionsAndPaddingAreSkipped) {
    become_ready();
    Bytes packet = test::make_udp(bytes({1, 2, 3}));
    const Bytes options = bytes({7, 4, 4, 0});
    packet.insert(packet.begin() + 20, options.begin(), options.end());
    packet[0] = std::byte{0x46};
    test::put16(packet, 2, packet.size());
    test::seal_ipv4(packet);
    Bytes frame = ip_frame(packet);
    frame.resize(60, std::byte{0xAA});
    handle(frame);
    std::array<std::byte, 8> out{};
    EXPECT_EQ(endpoint.receive(out).value(), 3U);
    EXPECT_EQ(out[0], std::byte{1});
}

TEST_F(MalformedFrames, BytesAfterTheUdpLengthAreNeitherSummedNorDelivered) {
    become_ready();
    Bytes packet = test::make_udp(bytes({1, 2}));
    test::operator+=(packet, bytes({0xAB, 0xCD}));
    test::put16(packet, 2, packet.size());
    test::seal_ipv4(packet);
    handle(ip_frame(packet));
    std::array<std::byte, 8> out{};
    ASSERT_EQ(endpoint.counters().received, 1U);
    EXPECT_EQ(endpoint.receive(out).value(), 2U);
}

TEST_F(MalformedFrames, ADatagramWithoutChecksumIsAccepted) {
    become_ready();
    Bytes packet = test::make_udp(bytes({1}));
    test::put16(packet, 26, 0);
    handle(ip_frame(packet));
    EXPECT_EQ(endpoint.counters().received, 1U);
}

TEST_F(FuzzedFrames, AHundredThousandMutationsDoNoHarm) {
    become_ready();
    ASSERT_TRUE(endpoint.send(bytes({1})));
    const std::vector<Bytes> seeds{test::make_arp(1),
                                   test::make_arp(2),
                                   ip_frame(test::make_udp(Bytes(100, std::byte{1}))),
                                   ip_frame(test::make_udp(Bytes(1472, std::byte{2}))),
                                   ip_frame(test::make_icmp(3, 3, quoted(card.sent.back()))),
                                   ip_frame(test::make_icmp(8, 0, Bytes(1472, std::byte{3})))};
    std::mt19937 random(20000); // NOLINT(cert-msc51-cpp): the same frames at each run
    const auto below = [&random](std::size_t limit) { return std::size_t{random() % limit}; };
    std::array<std::byte, kUdpPayloadBytesMax> out{};
    for (int i = 0; i < 100'000; ++i) {
        Bytes frame = seeds[below(seeds.size())];
        for (std::size_t mutations = 1 + below(4); mutations > 0; --mutations) {
            // Mostly in the headers, which has the most effect.
            frame[below(std::min<std::size_t>(frame.size(), 70))] = static_cast<std::byte>(random());
        }
        if (below(4) == 0) {
            frame.resize(below(1600), static_cast<std::byte>(random()));
        }
        // Three of four get correct checksums, otherwise no mutation would pass the first check.
        if (below(4) != 0 && frame.size() >= 14 + 28 && frame[13] == std::byte{0}) {
            Bytes packet(frame.begin() + 14, frame.end());
            test::seal_ipv4(packet);
            if (packet[9] == std::byte{17}) {
                test::put16(packet, 26, 0);
            } else {
                test::put16(packet, 22, 0);
                test::put16(packet, 22, test::folded(test::sum16(std::span(packet).subspan(20))));
            }
            std::copy(packet.begin(), packet.end(), frame.begin() + 14);
        }
        handle(frame);
        card.sent.clear();
        while (endpoint.receive(out)) {
        }
    }
    // The loop reached the end of every parser, not only the first check.
    const UdpCounters& counters = endpoint.counters();
    for (const auto counter :
         {&C::received, &C::refusals, &C::arp_requests_answered, &C::echoes_answered, &C::frames_malformed,
          &C::frames_not_for_us, &C::frames_other, &C::arp_malformed, &C::ip_malformed, &C::ip_fragments,
          &C::udp_malformed, &C::udp_other_flow, &C::icmp_malformed, &C::icmp_ignored}) {
        EXPECT_GT(counters.*counter, 50U);
    }
}

} // namespace drivers::net
