// SPDX-License-Identifier: MIT
// The connections use TCP. A node introduces itself to node 0 with eight bytes: "TLOG", its number, and how many nodes
// it expects. A connection that sends anything else is refused, one that sends nothing is ignored, and neither ends the
// meeting. Signals neither end nor extend a wait.
#include "foreign/published/tlog_links.hpp"

#include "foreign/published/tlog_error.hpp"
#include "lib/endian.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <list>
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
constexpr auto kMeeting = std::chrono::seconds(kMeetingSeconds);
constexpr auto kAttempt = std::chrono::seconds(3); // time for one of several addresses to answer
constexpr unsigned kSilentGuests = 64;             // beyond the missing nodes; then the oldest is closed
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

// Reads a variable such as TLOG_NODES. Returns nothing, after reporting the reason, if it is not a number from `least`
// to `most`.
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

// Polls until then, whatever signals arrive. Returns true if one of these is ready, false if the time is over.
bool wait_for(std::span<pollfd> these, steady_clock::time_point until) {
    for (;;) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady_clock::now()).count();
        if (left <= 0) {
            return false;
        }
        const int ready = poll(these.data(), these.size(), static_cast<int>(std::min<std::int64_t>(left, INT_MAX)));
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return ready > 0;
        }
    }
}

void set_option(const TlogLink& link, int level, int option) {
    const int yes = 1;
    static_cast<void>(setsockopt(link.descriptor(), level, option, &yes, sizeof(yes)));
}

void prepare(TlogLink& link) {
    set_option(link, IPPROTO_TCP, TCP_NODELAY);
    link.limit_wait(kMeetingSeconds);
}

// Returns nothing if nothing answers there until then.
std::optional<TlogLink> connect_to(const addrinfo& address, steady_clock::time_point until) {
    TlogLink link(socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    int error = connect(link.descriptor(), address.ai_addr, address.ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS || error == EINTR) {
        pollfd connecting{.fd = link.descriptor(), .events = POLLOUT, .revents = 0};
        socklen_t size = sizeof(error);
        if (!wait_for({&connecting, 1}, until) ||
            getsockopt(link.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size) != 0) {
            return std::nullopt;
        }
    }
    if (error != 0 || fcntl(link.descriptor(), F_SETFL, 0) != 0) { // the socket blocks from here on
        return std::nullopt;
    }
    return link;
}

std::optional<TlogPeers> call_root(const TlogMeeting& meeting, const addrinfo& addresses) {
    const auto until = steady_clock::now() + kMeeting;
    int count = 0;
    for (const addrinfo* address = &addresses; address != nullptr; address = address->ai_next) {
        ++count;
    }
    const auto share = std::min<steady_clock::duration>(kAttempt, std::chrono::milliseconds(kMeeting) / count);
    do {
        for (const addrinfo* address = &addresses; address != nullptr; address = address->ai_next) {
            auto link = connect_to(*address, std::min(until, steady_clock::now() + share));
            if (link && link->send(hello_of(meeting.node, meeting.nodes))) {
                prepare(*link);
                TlogPeers peers{.node = meeting.node, .links = {}};
                peers.links.push_back(std::move(*link));
                return peers;
            }
        }
        std::this_thread::sleep_for(kRetry); // node 0 may start later
    } while (steady_clock::now() < until);
    fail("node 0 does not answer at %s:%s", meeting.host.c_str(), meeting.port.c_str());
    return std::nullopt;
}

// A guest is a connection that has not introduced itself yet.
struct Guest {
    TlogLink link;
    Hello hello{};
    std::size_t received = 0;
};

// Reads the available part of the introduction. Returns false if the guest is gone.
bool hear(Guest& guest) {
    const auto rest = std::span(guest.hello).subspan(guest.received);
    const ssize_t done = recv(guest.link.descriptor(), rest.data(), rest.size(), MSG_DONTWAIT);
    if (done <= 0) {
        return done < 0 && (errno == EAGAIN || errno == EINTR);
    }
    guest.received += static_cast<std::size_t>(done);
    return true;
}

void admit_guest(int listener, std::list<Guest>& guests, std::size_t most) {
    const int descriptor = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (descriptor < 0) {
        std::this_thread::sleep_for(kRetry); // no descriptor is free, or the guest is gone
        return;
    }
    prepare(guests.emplace_back(Guest{.link = TlogLink(descriptor)}).link);
    if (guests.size() > most) {
        guests.pop_front();
    }
}

// Returns number and link of the next node that introduces itself, or nothing if the time is over. No node waits for a
// guest that sends nothing.
std::optional<std::pair<std::uint16_t, TlogLink>> next_node(int listener, std::list<Guest>& guests, std::uint16_t nodes,
                                                            steady_clock::time_point until) {
    for (;;) {
        for (auto guest = guests.begin(); guest != guests.end();) {
            const bool stays = hear(*guest);
            const bool whole = guest->received == guest->hello.size();
            const auto node = lib::load_be<std::uint16_t>(std::span(guest->hello).subspan(4));
            if (whole && node != 0 && node < nodes && guest->hello == hello_of(node, nodes)) {
                std::pair found(node, std::move(guest->link));
                guests.erase(guest);
                return found;
            }
            guest = stays && !whole ? std::next(guest) : guests.erase(guest);
        }
        std::vector<pollfd> sources{{.fd = listener, .events = POLLIN, .revents = 0}};
        for (const Guest& guest : guests) {
            sources.push_back({.fd = guest.link.descriptor(), .events = POLLIN, .revents = 0});
        }
        if (!wait_for(sources, until)) {
            return std::nullopt;
        }
        if (sources.front().revents != 0) {
            admit_guest(listener, guests, std::size_t{nodes} + kSilentGuests);
        }
    }
}

// Listens at the first of the addresses that belongs to this machine.
std::optional<TlogLink> listen_at(const TlogMeeting& meeting, const addrinfo& addresses) {
    int error = 0;
    for (const addrinfo* address = &addresses; address != nullptr && error != EADDRINUSE; address = address->ai_next) {
        TlogLink listener(socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        set_option(listener, SOL_SOCKET, SO_REUSEADDR);
        if (bind(listener.descriptor(), address->ai_addr, address->ai_addrlen) == 0 &&
            listen(listener.descriptor(), SOMAXCONN) == 0) {
            return listener;
        }
        error = errno;
    }
    fail("node 0 cannot listen at %s:%s: %s", meeting.host.c_str(), meeting.port.c_str(),
         std::strerror(error)); // NOLINT(concurrency-mt-unsafe): glibc's is safe enough
    return std::nullopt;
}

std::optional<TlogPeers> gather(const TlogMeeting& meeting, const addrinfo& addresses) {
    const auto listener = listen_at(meeting, addresses);
    if (!listener) {
        return std::nullopt;
    }
    const auto until = steady_clock::now() + kMeeting;
    std::list<Guest> guests;
    std::vector<std::optional<TlogLink>> found(meeting.nodes);
    for (std::uint16_t missing = static_cast<std::uint16_t>(meeting.nodes - 1); missing > 0; --missing) {
        auto next = next_node(listener->descriptor(), guests, meeting.nodes, until);
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
        pollfd waiting{.fd = m_descriptor, .events = POLLIN, .revents = 0};
        if (m_wait_s != 0 && !wait_for({&waiting, 1}, steady_clock::now() + std::chrono::seconds(m_wait_s))) {
            return false;
        }
        const ssize_t done = recv(m_descriptor, bytes.data(), bytes.size(), 0);
        if (done == 0 || (done < 0 && errno != EINTR)) {
            return false;
        }
        bytes = bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(done, 0)));
    }
    return true;
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
    const std::size_t colon = std::min(root.rfind(':'), root.size());
    std::string host = root.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    unsigned port = 0;
    const char* const end = root.data() + root.size();
    const char* const digits = std::min(root.data() + colon + 1, end);
    if (host.empty() || std::from_chars(digits, end, port).ptr != end || port < 1 || port > 0xFFFF) {
        fail("TLOG_ROOT is \"%s\": the host of node 0 and its port, from 1 to 65535, are expected, "
             "as in 127.0.0.1:7001 or [::1]:7001",
             root.c_str());
        return std::nullopt;
    }
    return TlogMeeting{.node = *node, .nodes = *nodes, .host = std::move(host), .port = digits};
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
