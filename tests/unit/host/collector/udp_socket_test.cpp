// SPDX-License-Identifier: MIT
// Tests addresses as text, and datagrams from one socket to another on the loopback.
#include "host/collector/udp_socket.hpp"

#include <arpa/inet.h>
#include <array>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>
#include <vector>

namespace host::collector {

namespace udp_socket_test {

using Bytes = std::vector<std::byte>;

TEST(Address, IsPrintedAsItIsWritten) {
    EXPECT_EQ(to_text({0x0102'03FE, 20000}), "1.2.3.254:20000");
    EXPECT_EQ(to_text({0xFDFF'FBF7, 1, 7}), "253.255.251.247:1");
    EXPECT_EQ(to_text(parse_address("10.0.2.15:65535").value()), "10.0.2.15:65535");
}

TEST(Address, OfAnotherSessionIsAnotherOne) {
    const Address plain{1, 2};
    EXPECT_EQ(plain, (Address{1, 2}));
    EXPECT_NE(plain, (Address{1, 3}));
    EXPECT_NE(plain, (Address{2, 2}));
    EXPECT_NE(plain, (Address{1, 2, 0}));
    EXPECT_NE((Address{1, 2, 3}), (Address{1, 2, 4}));
}

TEST(UdpSocket, CarriesDatagramsBothWays) {
    UdpSocket one;
    UdpSocket other;
    ASSERT_TRUE(one.bind({INADDR_LOOPBACK + 1, 0}).ok()); // all of 127.0.0.0/8 is this host
    ASSERT_TRUE(other.bind({INADDR_LOOPBACK + 2, 0}).ok());
    EXPECT_NE(one.local().port, 0);
    EXPECT_EQ(one.local().ipv4, INADDR_LOOPBACK + 1);
    std::array<std::byte, 8> buffer{};
    EXPECT_EQ(one.receive(buffer).error(), lib::Error::busy);
    EXPECT_FALSE(one.wait(0));
    other.send(Bytes(3, std::byte{7}), one.local());
    other.send(Bytes(20, std::byte{8}), one.local());
    EXPECT_TRUE(one.wait(1'000));
    const auto first = one.receive(buffer);
    ASSERT_TRUE(first.ok());
    EXPECT_EQ(first.value().size_bytes, 3U);
    EXPECT_EQ(first.value().sender, other.local());
    EXPECT_EQ(buffer, (std::array<std::byte, 8>{std::byte{7}, std::byte{7}, std::byte{7}}));
    EXPECT_EQ(one.receive(buffer).value().size_bytes, 20U) << "longer than the buffer";
    EXPECT_EQ(buffer[7], std::byte{8});
    one.send(Bytes(1, std::byte{9}), first.value().sender);
    EXPECT_TRUE(other.wait(1'000));
    EXPECT_EQ(other.receive(buffer).value().sender, one.local());
    EXPECT_EQ(one.overflows(), 0U);
}

TEST(UdpSocket, CountsWhatItsBufferHadNoRoomFor) {
    UdpSocket receiver;
    UdpSocket sender;
    ASSERT_TRUE(receiver.bind({INADDR_LOOPBACK, 0}).ok());
    ASSERT_TRUE(sender.bind({INADDR_LOOPBACK, 0}).ok());
    EXPECT_GT(receiver.receive_buffer_bytes(), 0);
    EXPECT_EQ(receiver.granted_enough(), receiver.receive_buffer_bytes() >= 4 * 1024 * 1024);
    const Bytes datagram(60'000);
    const int sent = 4 * receiver.receive_buffer_bytes() / 60'000 + 2;
    for (int i = 0; i < sent; ++i) {
        sender.send(datagram, receiver.local());
    }
    Bytes buffer(65'536);
    std::uint32_t received = 0;
    for (; receiver.receive(buffer); ++received) {
        EXPECT_EQ(receiver.overflows(), 0U) << "they were there before any was lost";
    }
    ASSERT_GT(received, 1U);
    ASSERT_LT(received, static_cast<std::uint32_t>(sent));
    sender.send(datagram, receiver.local()); // which brings the count
    ASSERT_TRUE(receiver.receive(buffer).ok());
    EXPECT_EQ(receiver.overflows(), static_cast<std::uint32_t>(sent) - received);
}

// A service may be started without one: then the first descriptor is the socket's.
TEST(UdpSocket, NeedsNoStandardInput) {
    const int input = ::dup(STDIN_FILENO);
    ::close(STDIN_FILENO);
    {
        UdpSocket socket;
        EXPECT_TRUE(socket.bind({INADDR_LOOPBACK, 0}).ok());
        socket.send(Bytes(3), socket.local());
        std::array<std::byte, 8> buffer{};
        EXPECT_TRUE(socket.wait(1'000));
        EXPECT_EQ(socket.receive(buffer).value().size_bytes, 3U);
        EXPECT_NE(::fcntl(STDIN_FILENO, F_GETFD), -1);
    }
    EXPECT_EQ(::fcntl(STDIN_FILENO, F_GETFD), -1) << "it is closed";
    ::dup2(input, STDIN_FILENO);
    ::close(input);
}

TEST(UdpSocket, BindsOnlyWhereItCan) {
    UdpSocket socket;
    EXPECT_EQ(socket.bind({0x0808'0808, 0}).error(), lib::Error::not_found) << "no address of this host";
    UdpSocket first;
    ASSERT_TRUE(first.bind({INADDR_LOOPBACK, 0}).ok());
    UdpSocket second;
    EXPECT_EQ(second.bind(first.local()).error(), lib::Error::exists);
}

} // namespace udp_socket_test

} // namespace host::collector
