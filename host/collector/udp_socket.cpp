// SPDX-License-Identifier: MIT
#include "host/collector/udp_socket.hpp"

#include "host/text/format.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <charconv>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace host::collector {

std::string to_text(const Address& address) {
    return fmt::format("{}.{}.{}.{}:{}", address.ipv4 >> 24, (address.ipv4 >> 16) & 0xFF, (address.ipv4 >> 8) & 0xFF,
                       address.ipv4 & 0xFF, address.port);
}

lib::Result<Address> parse_address(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos) {
        return lib::Error::invalid_argument;
    }
    in_addr ipv4{};
    Address address;
    const char* const end = text.data() + text.size();
    const auto [parsed, error] = std::from_chars(text.data() + colon + 1, end, address.port);
    if (error != std::errc{} || parsed != end || ::inet_pton(AF_INET, text.substr(0, colon).c_str(), &ipv4) != 1) {
        return lib::Error::invalid_argument;
    }
    address.ipv4 = ntohl(ipv4.s_addr);
    return address;
}

UdpSocket::~UdpSocket() {
    if (m_descriptor >= 0) {
        ::close(m_descriptor);
    }
}

lib::Result<void> UdpSocket::bind(const Address& address) {
    m_descriptor = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (m_descriptor < 0) {
        return lib::Error::io;
    }
    const int wanted = kReceiveBufferBytes;
    // FORCE exceeds the system's limit if the process may do that; the plain option takes what the limit allows.
    if (::setsockopt(m_descriptor, SOL_SOCKET, SO_RCVBUFFORCE, &wanted, sizeof(wanted)) != 0) {
        ::setsockopt(m_descriptor, SOL_SOCKET, SO_RCVBUF, &wanted, sizeof(wanted));
    }
    int granted = 0;
    socklen_t size = sizeof(granted);
    ::getsockopt(m_descriptor, SOL_SOCKET, SO_RCVBUF, &granted, &size);
    m_buffer_bytes = granted / 2; // Linux doubles the requested size, for its own data
    const int on = 1;
    ::setsockopt(m_descriptor, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof(on));

    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(address.ipv4);
    where.sin_port = htons(address.port);
    if (::bind(m_descriptor, reinterpret_cast<const sockaddr*>(&where), sizeof(where)) != 0) {
        return errno == EADDRINUSE      ? lib::Error::exists
               : errno == EACCES        ? lib::Error::refused
               : errno == EADDRNOTAVAIL ? lib::Error::not_found
                                        : lib::Error::io;
    }
    socklen_t length = sizeof(where);
    if (::getsockname(m_descriptor, reinterpret_cast<sockaddr*>(&where), &length) != 0) {
        return lib::Error::io;
    }
    m_local = {ntohl(where.sin_addr.s_addr), ntohs(where.sin_port)};
    return {};
}

bool UdpSocket::wait(int timeout_ms, int event) const {
    std::array<pollfd, 2> descriptors{
        {{.fd = m_descriptor, .events = POLLIN, .revents = 0}, {.fd = event, .events = POLLIN, .revents = 0}}};
    return ::poll(descriptors.data(), descriptors.size(), timeout_ms) > 0 && descriptors[0].revents != 0;
}

void UdpSocket::send(std::span<const std::byte> datagram, const Address& to) const {
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(to.ipv4);
    where.sin_port = htons(to.port);
    static_cast<void>(::sendto(m_descriptor, datagram.data(), datagram.size(), 0,
                               reinterpret_cast<const sockaddr*>(&where), sizeof(where)));
}

lib::Result<UdpSocket::Datagram> UdpSocket::receive(std::span<std::byte> out) {
    sockaddr_in sender{};
    iovec vector{.iov_base = out.data(), .iov_len = out.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint32_t))> control{};
    msghdr message{};
    message.msg_name = &sender;
    message.msg_namelen = sizeof(sender);
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(m_descriptor, &message, MSG_TRUNC);
    if (size < 0) {
        if (errno == EAGAIN || errno == EINTR) {
            return lib::Error::busy;
        }
        return errno == ECONNREFUSED ? lib::Error::unreachable : lib::Error::io;
    }
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SO_RXQ_OVFL) {
            __builtin_memcpy(&m_overflows, CMSG_DATA(header), sizeof(m_overflows));
        }
    }
    return Datagram{static_cast<std::size_t>(size), {ntohl(sender.sin_addr.s_addr), ntohs(sender.sin_port)}};
}

} // namespace host::collector
