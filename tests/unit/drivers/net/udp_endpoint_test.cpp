// SPDX-License-Identifier: MIT
// Tests the UDP endpoint with a correct peer and a correct or broken card: resolution, sending, receiving, refusal,
// echo. Malformed input is tested in a file of its own.
#include "drivers/net/udp_endpoint.hpp"
#include "tests/support/net_fixture.hpp"

#include <gtest/gtest.h>

#include <array>

namespace drivers::net {

namespace {

using test::bytes;
using test::Bytes;

class UdpEndpointTest : public test::NetFixture {};

} // namespace

TEST_F(UdpEndpointTest, AsksForThePeerBeforeAnythingIsSent) {
    ASSERT_TRUE(endpoint.open(test::kFlow));
    EXPECT_EQ(endpoint.state(), UdpEndpoint::State::resolving);
    EXPECT_EQ(endpoint.send(bytes({1})).error(), lib::Error::busy);
    endpoint.poll();
    ASSERT_EQ(card.sent.size(), 1U);
    Bytes expected = bytes({0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x52, 0x54, 0, 0x12, 0x34, 0x56, 8, 6});
    test::operator+=(expected, bytes({0,   1,   8, 0,  6, 4, 0, 1, 0x52, 0x54, 0,   0x12, 0x34, 0x56,
                                      192, 168, 1, 10, 0, 0, 0, 0, 0,    0,    192, 168,  1,    1}));
    EXPECT_EQ(card.sent[0], expected);
}

TEST_F(UdpEndpointTest, AsksFiveTimesAndThenCallsThePeerUnreachable) {
    ASSERT_TRUE(endpoint.open(test::kFlow));
    const auto before = clock.current();
    EXPECT_EQ(endpoint.wait_until_ready().error(), lib::Error::unreachable);
    EXPECT_EQ(card.sent.size(), 5U);
    EXPECT_EQ(endpoint.counters().arp_requests_sent, 5U);
    const auto elapsed = FakeRate().to_nanoseconds(clock.current() - before);
    EXPECT_GE(elapsed, lib::milliseconds(1000));
    EXPECT_LT(elapsed, lib::milliseconds(1001));
    EXPECT_EQ(endpoint.send(bytes({1})).error(), lib::Error::unreachable);
}

// A peer that is started later is found, and a sender that seldom sends seldom asks.
TEST_F(UdpEndpointTest, AsksOnceMoreForEachDatagramThatCannotBeSent) {
    ASSERT_TRUE(endpoint.open(test::kFlow));
    EXPECT_FALSE(endpoint.wait_until_ready());
    for (std::size_t asked = 5; asked < 8; ++asked) {
        EXPECT_EQ(endpoint.send(bytes({1})).error(), lib::Error::unreachable);
        for (int i = 0; i < 300; ++i) {
            clock.advance(lib::milliseconds(1));
            endpoint.poll();
        }
        EXPECT_EQ(endpoint.counters().arp_requests_sent, asked + 1);
        EXPECT_EQ(endpoint.state(), UdpEndpoint::State::unreachable);
    }
    card.arriving.push_back(test::make_arp(2));
    endpoint.poll();
    EXPECT_TRUE(endpoint.send(bytes({1})));
}

TEST_F(UdpEndpointTest, EndsTheSearchAlsoOnABrokenCard) {
    card.send_error = lib::Error::io;
    ASSERT_TRUE(endpoint.open(test::kFlow));
    EXPECT_EQ(endpoint.wait_until_ready().error(), lib::Error::unreachable);
}

TEST_F(UdpEndpointTest, ABusyCardDoesNotUseUpTheAttempts) {
    card.send_error = lib::Error::busy;
    ASSERT_TRUE(endpoint.open(test::kFlow));
    for (int i = 0; i < 20; ++i) {
        clock.advance(lib::milliseconds(300));
        endpoint.poll();
    }
    EXPECT_EQ(endpoint.state(), UdpEndpoint::State::resolving);
    EXPECT_EQ(endpoint.counters().arp_requests_sent, 0U);
}

TEST_F(UdpEndpointTest, CanBeOpenedAgainAfterThePeerDidNotAnswer) {
    ASSERT_TRUE(endpoint.open(test::kFlow));
    EXPECT_FALSE(endpoint.wait_until_ready());
    become_ready();
    EXPECT_TRUE(endpoint.send(bytes({1})));
}

TEST_F(UdpEndpointTest, RefusesFlowsThatCannotBe) {
    for (const auto wrong :
         {UdpFlow{{0}, test::kPeer, {1}, {1}}, UdpFlow{test::kLocal, {0xFFFF'FFFF}, {1}, {1}},
          UdpFlow{test::kLocal, {0xE000'0001}, {1}, {1}}, UdpFlow{test::kLocal, {0x7F00'0001}, {1}, {1}},
          UdpFlow{test::kLocal, test::kLocal, {1}, {1}}, UdpFlow{test::kLocal, test::kPeer, {0}, {1}},
          UdpFlow{test::kLocal, test::kPeer, {1}, {0}}}) {
        EXPECT_EQ(endpoint.open(wrong).error(), lib::Error::invalid_argument);
    }
    card.address = {};
    EXPECT_EQ(endpoint.open(test::kFlow).error(), lib::Error::io);
    EXPECT_EQ(endpoint.send(bytes({1})).error(), lib::Error::refused);
    EXPECT_EQ(endpoint.wait_until_ready().error(), lib::Error::refused);
}

TEST_F(UdpEndpointTest, SendsTheDatagramThatWasComputedByHand) {
    become_ready();
    ASSERT_TRUE(endpoint.send(bytes({'a', 'b', 'c'})));
    // By hand, in hexadecimal, running sums:
    // IPv4: 4500+001f=451f +4000=851f +4011=c530 +c0a8=185d8 +010a=186e2 +c0a8=2478a +0101=2488b -> 488d, so b772.
    // UDP: c0a8+010a=c1b2 +c0a8=1825a +0101=1835b +0011=1836c +000b=18377 (pseudo header) +2710=1aa87 +4e20=1f8a7
    //      +000b=1f8b2 +6162=25a14 +6300=2bd14 -> bd16, so 42e9.
    const Bytes expected =
        bytes({0x52, 0x55, 0xC0, 0xA8, 0x01, 0x01, 0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 0x08, 0x00, 0x45,
               0x00, 0x00, 0x1F, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xB7, 0x72, 192,  168,  1,    10,
               192,  168,  1,    1,    0x27, 0x10, 0x4E, 0x20, 0x00, 0x0B, 0x42, 0xE9, 'a',  'b',  'c'});
    EXPECT_EQ(card.sent.back(), expected);
}

// The identification of IPv4, by which a receiver would assemble fragments.
TEST_F(UdpEndpointTest, NumbersItsPacketsAndRepeatsTheNumberOfOneThatWasNotSent) {
    become_ready();
    card.sent.clear();
    for (const bool sent : {true, true, false, true}) {
        card.send_error = sent ? std::nullopt : std::optional(lib::Error::busy);
        EXPECT_EQ(endpoint.send(bytes({1})).ok(), sent);
    }
    ASSERT_EQ(card.sent.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(Bytes(card.sent[i].begin() + 18, card.sent[i].begin() + 20), bytes({0, static_cast<int>(i)}));
    }
}

TEST_F(UdpEndpointTest, ServesTheCardInEveryState) {
    endpoint.poll();
    EXPECT_EQ(card.polls, 1);
    become_ready();
    const int before = card.polls;
    endpoint.poll();
    EXPECT_EQ(card.polls, before + 1);
    EXPECT_FALSE(endpoint.sending());
    card.busy_sending = true;
    EXPECT_TRUE(endpoint.sending());
}

TEST_F(UdpEndpointTest, LooksAtNoFrameBeforeItIsOpen) {
    card.arriving.push_back(test::make_arp(1));
    endpoint.poll();
    EXPECT_EQ(card.arriving.size(), 1U);
    EXPECT_TRUE(card.sent.empty());
}

TEST_F(UdpEndpointTest, ForgetsARefusalOfTheFlowBefore) {
    become_ready();
    ASSERT_TRUE(endpoint.send(bytes({1})));
    arrive(test::make_icmp(3, 3, quoted(card.sent.back())));
    endpoint.poll();
    EXPECT_EQ(endpoint.counters().refusals, 1U);
    become_ready();
    EXPECT_TRUE(endpoint.send(bytes({1})));
}

TEST_F(UdpEndpointTest, NeverSendsTheChecksumThatMeansNone) {
    become_ready();
    // The two payload bytes make the sum FFFF, so its complement is 0.
    ASSERT_TRUE(endpoint.send(bytes({0, 0})));
    const Bytes& plain = card.sent.back();
    const std::uint32_t missing = static_cast<std::uint32_t>(plain[40]) << 8 | static_cast<std::uint32_t>(plain[41]);
    ASSERT_TRUE(endpoint.send(bytes({static_cast<int>(missing >> 8), static_cast<int>(missing & 0xFF)})));
    EXPECT_EQ(card.sent.back()[40], std::byte{0xFF});
    EXPECT_EQ(card.sent.back()[41], std::byte{0xFF});
}

TEST_F(UdpEndpointTest, SendsFromNothingToAFullFrameAndNotAByteMore) {
    become_ready();
    EXPECT_TRUE(endpoint.send({}));
    EXPECT_EQ(card.sent.back().size(), 42U);
    const Bytes payload(1473, std::byte{0x5A});
    EXPECT_TRUE(endpoint.send(std::span(payload).first(1472)));
    EXPECT_EQ(card.sent.back().size(), 1514U);
    EXPECT_EQ(endpoint.send(payload).error(), lib::Error::invalid_argument);
}

TEST_F(UdpEndpointTest, PassesOnThatTheCardIsBusyAndCountsOnlyWhatWasSent) {
    become_ready();
    card.send_error = lib::Error::busy;
    EXPECT_EQ(endpoint.send(bytes({1})).error(), lib::Error::busy);
    card.send_error.reset();
    EXPECT_TRUE(endpoint.send(bytes({1})));
    EXPECT_EQ(endpoint.counters().sent, 1U);
}

TEST_F(UdpEndpointTest, ReceivesWhatThePeerSendsInOrder) {
    become_ready();
    arrive(test::make_udp(bytes({1, 2, 3})));
    arrive(test::make_udp({}));
    endpoint.poll();
    std::array<std::byte, 3> out{};
    EXPECT_EQ(endpoint.receive(out).value(), 3U);
    EXPECT_EQ(out[2], std::byte{3});
    EXPECT_EQ(endpoint.receive(out).value(), 0U);
    EXPECT_EQ(endpoint.receive(out).error(), lib::Error::not_found);
}

TEST_F(UdpEndpointTest, ReceivesNothingOfTheFlowBefore) {
    become_ready();
    arrive(test::make_udp(bytes({1, 2, 3})));
    endpoint.poll();
    become_ready();
    std::array<std::byte, 3> out{};
    EXPECT_EQ(endpoint.receive(out).error(), lib::Error::not_found);
    arrive(test::make_udp(bytes({4})));
    endpoint.poll();
    EXPECT_EQ(endpoint.receive(out).value(), 1U);
    EXPECT_EQ(out[0], std::byte{4});
}

TEST_F(UdpEndpointTest, DropsADatagramLongerThanTheCallersBuffer) {
    become_ready();
    arrive(test::make_udp(bytes({1, 2, 3})));
    endpoint.poll();
    std::array<std::byte, 2> out{};
    EXPECT_EQ(endpoint.receive(out).error(), lib::Error::no_space);
    EXPECT_EQ(endpoint.receive(out).error(), lib::Error::not_found);
    EXPECT_EQ(endpoint.counters().udp_too_long, 1U);
}

TEST_F(UdpEndpointTest, LooksAtNoMoreThanEightFramesInOnePoll) {
    become_ready();
    for (int i = 0; i < 20; ++i) {
        arrive(test::make_udp(bytes({i})));
    }
    endpoint.poll();
    EXPECT_EQ(card.arriving.size(), 12U);
    endpoint.poll(); // receive() has not been called
    EXPECT_EQ(endpoint.counters().received, 8U);
    EXPECT_EQ(endpoint.counters().udp_queue_full, 8U);
    std::array<std::byte, 1> out{};
    EXPECT_EQ(endpoint.receive(out).value(), 1U);
    EXPECT_EQ(out[0], std::byte{0}) << "the oldest are kept";
}

TEST_F(UdpEndpointTest, CountsACardThatReportsTroubleAndLooksNoFurther) {
    become_ready();
    card.receive_error = lib::Error::corrupt;
    endpoint.poll();
    EXPECT_EQ(endpoint.counters().device_errors, 1U);
}

TEST_F(UdpEndpointTest, AnswersArpRequestsForItsAddress) {
    become_ready();
    card.sent.clear();
    card.arriving.push_back(test::make_arp(1));
    endpoint.poll();
    ASSERT_EQ(card.sent.size(), 1U);
    EXPECT_EQ(card.sent[0], bytes({0x52, 0x55, 0xC0, 0xA8, 0x01, 0x01, 0x52, 0x54, 0,    0x12, 0x34, 0x56, 8,    6,
                                   0,    1,    8,    0,    6,    4,    0,    2,    0x52, 0x54, 0,    0x12, 0x34, 0x56,
                                   192,  168,  1,    10,   0x52, 0x55, 0xC0, 0xA8, 0x01, 0x01, 192,  168,  1,    1}));
    EXPECT_EQ(endpoint.counters().arp_requests_answered, 1U);
}

TEST_F(UdpEndpointTest, LeavesArpRequestsForOthersAlone) {
    become_ready();
    card.sent.clear();
    Bytes request = test::make_arp(1);
    request.back() = std::byte{11};
    card.arriving.push_back(request);
    endpoint.poll();
    EXPECT_TRUE(card.sent.empty());
}

TEST_F(UdpEndpointTest, DoesNotBelieveASecondCardThatClaimsThePeersAddress) {
    become_ready();
    Bytes claim = test::make_arp(2);
    claim[14 + 8 + 5] = std::byte{0x66};
    card.arriving.push_back(claim);
    endpoint.poll();
    EXPECT_EQ(endpoint.counters().arp_conflicts, 1U);
    ASSERT_TRUE(endpoint.send(bytes({1})));
    EXPECT_EQ(card.sent.back()[5], std::byte{0x01}) << "still to the first card";
}

TEST_F(UdpEndpointTest, DoesNotTakeAnotherMachinesAnswerForThePeers) {
    ASSERT_TRUE(endpoint.open(test::kFlow));
    Bytes other = test::make_arp(2);
    other[14 + 8 + 9] = std::byte{2}; // 192.168.1.2
    card.arriving.push_back(other);
    endpoint.poll();
    EXPECT_EQ(endpoint.state(), UdpEndpoint::State::resolving);
}

TEST_F(UdpEndpointTest, ReportsAClosedPortOnceAndThenSendsAgain) {
    become_ready();
    ASSERT_TRUE(endpoint.send(bytes({1})));
    arrive(test::make_icmp(3, 3, quoted(card.sent.back())));
    endpoint.poll();
    EXPECT_EQ(endpoint.send(bytes({1})).error(), lib::Error::unreachable);
    EXPECT_EQ(endpoint.counters().refusals, 1U);
    EXPECT_TRUE(endpoint.send(bytes({1})));
}

TEST_F(UdpEndpointTest, IgnoresARefusalOfAnotherFlow) {
    become_ready();
    ASSERT_TRUE(endpoint.send(bytes({1})));
    const Bytes ours = quoted(card.sent.back());
    // Version, protocol, source, destination, ports: one byte of each wrong; and a quotation cut too short.
    for (const std::size_t offset : {0U, 9U, 12U, 15U, 19U, 21U, 23U}) {
        Bytes other = ours;
        other[offset] ^= std::byte{0x10};
        arrive(test::make_icmp(3, 3, other));
    }
    endpoint.poll();
    arrive(test::make_icmp(3, 3, Bytes(ours.begin(), ours.begin() + 23)));
    arrive(test::make_icmp(3, 4, ours));  // refers to one size, not to the flow
    arrive(test::make_icmp(11, 3, ours)); // time exceeded
    endpoint.poll();
    EXPECT_EQ(endpoint.counters().refusals, 0U);
    EXPECT_EQ(endpoint.counters().icmp_ignored, 10U);
    EXPECT_TRUE(endpoint.send(bytes({1})));
}

TEST_F(UdpEndpointTest, UnderstandsARefusalThatQuotesOptions) {
    become_ready();
    ASSERT_TRUE(endpoint.send(bytes({1})));
    Bytes quotation = quoted(card.sent.back());
    quotation[0] = std::byte{0x46};
    const Bytes option = bytes({1, 1, 1, 1});
    quotation.insert(quotation.begin() + 20, option.begin(), option.end());
    arrive(test::make_icmp(3, 3, quotation));
    endpoint.poll();
    EXPECT_EQ(endpoint.counters().refusals, 1U);
}

TEST_F(UdpEndpointTest, AnswersAnEchoWithTheSameBytes) {
    become_ready();
    card.sent.clear();
    arrive(test::make_icmp(8, 0, bytes({7, 8, 9})));
    endpoint.poll();
    ASSERT_EQ(card.sent.size(), 1U);
    // By hand: the IPv4 sum of the datagram above with protocol 1 for 17; ICMP 1234+0001+0708+0900=223d, so ddc2.
    EXPECT_EQ(card.sent[0],
              bytes({0x52, 0x55, 0xC0, 0xA8, 0x01, 0x01, 0x52, 0x54, 0x00, 0x12, 0x34, 0x56, 0x08, 0x00, 0x45,
                     0x00, 0x00, 0x1F, 0x00, 0x00, 0x40, 0x00, 0x40, 0x01, 0xB7, 0x82, 192,  168,  1,    10,
                     192,  168,  1,    1,    0,    0,    0xDD, 0xC2, 0x12, 0x34, 0,    1,    7,    8,    9}));
    EXPECT_EQ(endpoint.counters().echoes_answered, 1U);
    EXPECT_EQ(endpoint.counters().icmp_ignored, 0U);
    card.send_error = lib::Error::busy;
    arrive(test::make_icmp(8, 0, {}));
    endpoint.poll();
    EXPECT_EQ(endpoint.counters().replies_lost, 1U);
}

TEST_F(UdpEndpointTest, DoesNotAnswerAnEchoFromAnAddressThatIsNoHost) {
    become_ready();
    card.sent.clear();
    for (const int first : {0, 127, 224, 255}) {
        Bytes packet = test::make_icmp(8, 0, {});
        packet[12] = static_cast<std::byte>(first);
        test::seal_ipv4(packet);
        arrive(packet);
    }
    endpoint.poll();
    EXPECT_TRUE(card.sent.empty());
    EXPECT_EQ(endpoint.counters().icmp_ignored, 4U);
}

TEST_F(UdpEndpointTest, DoesNotAnswerAnEchoThatWasBroadcast) {
    become_ready();
    card.sent.clear();
    Bytes frame = test::make_frame_to_us(0x0800, test::make_icmp(8, 0, {}));
    std::fill_n(frame.begin(), 6, std::byte{0xFF});
    card.arriving.push_back(frame);
    endpoint.poll();
    EXPECT_TRUE(card.sent.empty());
    EXPECT_EQ(endpoint.counters().frames_not_for_us, 1U);
}

} // namespace drivers::net
