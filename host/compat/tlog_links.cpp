// SPDX-License-Identifier: MIT
// TCP. A node introduces itself to node 0 with eight bytes: "TLOG", its number, how many nodes it expects. What does
// not is refused and does not end the meeting.
#include "host/compat/tlog_links.hpp"

#include "host/compat/tlog_error.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

namespace host::compat {

namespace {

using std::chrono::steady_clock;

constexpr unsigned kMeetingSeconds = 30;
constexpr auto kRetry = std::chrono::milliseconds(20);
constexpr std::array kMark = {std::byte{'T'}, std::byte{'L'}, std::byte{'O'}, std::byte{'G'}};

using Hello = std::array<std::byte, 8>;

struct FreeAddresses {
    void operator()(addrinfo* first) const { freeaddrinfo(first); }
};

using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Hello hello_of(std::uint16_t node, std::uint16_t nodes) {
    Hello hello{};
    std::ranges::copy(kMark, hello.begin());
    lib::store_be(std::span(hello).subspan(4), node);
    lib::store_be(std::span(hello).subspan(6), nodes);
    return hello;
}

// Of TLOG_NODES and the like; none, with the reason reported, if it is not a number from `least` to `most`.
std::optional<std::uint16_t> number_from(const char* variable, const char* text, unsigned least, unsigned most) {
    unsigned value = 0;
    const char* const end = text != nullptr ? text + std::strlen(text) : nullptr;
    if (text == nullptr || std::from_chars(text, end, value).ptr != end || text == end || value < least ||
        value > most) {
        fail("%s is \"%s\": a number from %u to %u is expected", variable, text != nullptr ? text : "", least, most);
        return std::nullopt;
    }
    return static_cast<std::uint16_t>(value);
}

Addresses resolve(const TlogMeeting& meeting) {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* first = nullptr;
    if (const int error = getaddrinfo(meeting.host.c_str(), meeting.port.c_str(), &hints, &first); error != 0) {
        fail("TLOG_ROOT is %s:%s: %s", meeting.host.c_str(), meeting.port.c_str(), gai_strerror(error));
        return nullptr;
    }
    return Addresses(first);
}

TlogLink ready(int descriptor) {
    const int yes = 1;
    static_cast<void>(setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)));
    TlogLink link(descriptor);
    link.limit_wait(kMeetingSeconds);
    return link;
}

std::optional<TlogPeers> call_root(const TlogMeeting& meeting, const addrinfo& address) {
    const auto until = steady_clock::now() + std::chrono::seconds(kMeetingSeconds);
    do {
        const int descriptor = socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (descriptor >= 0 && connect(descriptor, address.ai_addr, address.ai_addrlen) == 0) {
            TlogPeers peers{.node = meeting.node, .links = {}};
            peers.links.push_back(ready(descriptor));
            if (peers.links.front().send(hello_of(meeting.node, meeting.nodes))) {
                return peers;
            }
        } else if (descriptor >= 0) {
            close(descriptor);
        }
        std::this_thread::sleep_for(kRetry); // node 0 may start later
    } while (steady_clock::now() < until);
    fail("node 0 does not answer at %s:%s", meeting.host.c_str(), meeting.port.c_str());
    return std::nullopt;
}

// The next node that introduces itself, as number and link; none: 30 s are over.
std::optional<std::pair<std::uint16_t, TlogLink>> accept_node(int listener, std::uint16_t nodes,
                                                              steady_clock::time_point until) {
    for (;;) {
        const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - steady_clock::now()).count();
        pollfd waiting{.fd = listener, .events = POLLIN, .revents = 0};
        if (left <= 0 || poll(&waiting, 1, static_cast<int>(left)) <= 0) {
            return std::nullopt;
        }
        const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (descriptor < 0) {
            continue;
        }
        TlogLink link = ready(descriptor);
        Hello hello{};
        const auto node =
            link.receive(hello) ? lib::load_be<std::uint16_t>(std::span(hello).subspan(4)) : std::uint16_t{0};
        if (node != 0 && node < nodes && hello == hello_of(node, nodes)) {
            return std::pair(node, std::move(link));
        }
    }
}

std::optional<TlogPeers> gather(const TlogMeeting& meeting, const addrinfo& address) {
    const TlogLink owner(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const int listener = owner.descriptor();
    const int yes = 1;
    static_cast<void>(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)));
    if (bind(listener, address.ai_addr, address.ai_addrlen) != 0 || listen(listener, meeting.nodes) != 0) {
        fail("node 0 cannot listen at %s:%s: %s", meeting.host.c_str(), meeting.port.c_str(),
             std::strerror(errno)); // NOLINT(concurrency-mt-unsafe): glibc's is safe enough
        return std::nullopt;
    }
    const auto until = steady_clock::now() + std::chrono::seconds(kMeetingSeconds);
    std::vector<std::optional<TlogLink>> found(meeting.nodes);
    for (std::uint16_t missing = static_cast<std::uint16_t>(meeting.nodes - 1); missing > 0; --missing) {
        auto next = accept_node(listener, meeting.nodes, until);
        if (!next || found[next->first]) {
            fail("%s: %u of %u nodes came to %s:%s", next ? "two nodes have one number" : "30 s are over",
                 meeting.nodes - missing, unsigned{meeting.nodes}, meeting.host.c_str(), meeting.port.c_str());
            return std::nullopt;
        }
        found[next->first].emplace(std::move(next->second));
    }
    TlogPeers peers;
    for (std::size_t node = 1; node < found.size(); ++node) {
        peers.links.push_back(std::move(*found[node]));
    }
    return peers;
}

} // namespace

TlogLink::~TlogLink() {
    if (m_descriptor >= 0) {
        close(m_descriptor);
    }
}

bool TlogLink::send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t done = ::send(m_descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (done < 0 && errno != EINTR) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    }
    return true;
}

bool TlogLink::receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t done = recv(m_descriptor, bytes.data(), bytes.size(), 0);
        if (done == 0 || (done < 0 && errno != EINTR)) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    }
    return true;
}

void TlogLink::limit_wait(unsigned seconds) {
    const timeval limit{.tv_sec = seconds, .tv_usec = 0};
    static_cast<void>(setsockopt(m_descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
}

std::optional<TlogMeeting> meeting_from_environment() {
    const char* const nodes_text = std::getenv("TLOG_NODES"); // NOLINT(concurrency-mt-unsafe): read only
    if (nodes_text == nullptr) {
        return TlogMeeting{};
    }
    const auto nodes = number_from("TLOG_NODES", nodes_text, 1, 0xFFFF);
    if (!nodes || *nodes == 1) {
        return nodes ? std::optional(TlogMeeting{}) : std::nullopt;
    }
    const char* const node_text = std::getenv("TLOG_NODE"); // NOLINT(concurrency-mt-unsafe)
    const auto node = number_from("TLOG_NODE", node_text, 0, *nodes - 1U);
    if (!node) {
        return std::nullopt;
    }
    const char* const root_text = std::getenv("TLOG_ROOT"); // NOLINT(concurrency-mt-unsafe)
    const std::string root = root_text != nullptr ? root_text : "";
    const std::size_t colon = root.rfind(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == root.size()) {
        fail("TLOG_ROOT is \"%s\": the host and port of node 0 are expected, as in 127.0.0.1:7001", root.c_str());
        return std::nullopt;
    }
    return TlogMeeting{.node = *node, .nodes = *nodes, .host = root.substr(0, colon), .port = root.substr(colon + 1)};
}

std::optional<TlogPeers> meet(const TlogMeeting& meeting) {
    if (meeting.nodes == 1) {
        return TlogPeers{};
    }
    const Addresses addresses = resolve(meeting);
    if (addresses == nullptr) {
        return std::nullopt;
    }
    return meeting.node == 0 ? gather(meeting, *addresses) : call_root(meeting, *addresses);
}

} // namespace host::compat
