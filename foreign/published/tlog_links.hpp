// SPDX-License-Identifier: MIT
// The connections between the processes of one recording: node 0 has one to each other node, each other node one to
// node 0. They carry the adjustment of the clocks and, at the end, the records. Streams of bytes; any failure is
// reported by fail(). Context: any thread, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace host::compat {

// A connected socket.
class TlogLink {
  public:
    explicit TlogLink(int descriptor)
        : m_descriptor(descriptor) {}

    TlogLink(TlogLink&& other) noexcept
        : m_descriptor(std::exchange(other.m_descriptor, -1))
        , m_wait_s(other.m_wait_s) {}

    TlogLink(const TlogLink&) = delete;
    TlogLink& operator=(const TlogLink&) = delete;
    ~TlogLink();

    // All bytes. False: the other end is gone, or nothing came for as long as limit_wait() said.
    [[nodiscard]] bool send(std::span<const std::byte> bytes);
    [[nodiscard]] bool receive(std::span<std::byte> bytes);

    // Of receive(), from one byte to the next. 0: without a limit, as at first.
    void limit_wait(unsigned seconds) { m_wait_s = seconds; }

    [[nodiscard]] int descriptor() const { return m_descriptor; }

  private:
    int m_descriptor;
    unsigned m_wait_s = 0;
};

struct TlogPeers {
    std::uint16_t node = 0;
    std::vector<TlogLink> links; // of node 0: to node 1, 2, ...; of the others: to node 0
};

// Where the processes of a recording meet.
struct TlogMeeting {
    std::uint16_t node = 0;
    std::uint16_t nodes = 1;
    std::string host; // of node 0: a name or an address; unused if there is one node
    std::string port;
};

// From the environment: TLOG_NODES (1 if it is not set), and if it is more than 1, TLOG_NODE and TLOG_ROOT (HOST:PORT,
// the port a number, an IPv6 address in brackets). None if a value is missing or invalid.
[[nodiscard]] std::optional<TlogMeeting> meeting_from_environment();

// Returns when node 0 and all others are connected; none if that takes longer than 30 s, from when the name of the
// host is resolved. Node 0 listens at the first address of that name that is its own; the others try all. Whoever else
// connects, and says something else or nothing, is left aside. Signals are handled meanwhile.
[[nodiscard]] std::optional<TlogPeers> meet(const TlogMeeting& meeting);

} // namespace host::compat
