// SPDX-License-Identifier: MIT
// The processes of one recording are connected: node 0 has a connection to each other node, each other node one to node
// 0. They transfer the adjustment of the clocks and, at the end, the records. They are streams of bytes; any failure is
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

// A link is a connected socket.
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

    // Transfers all bytes. Returns false if the other end is gone, or if nothing came within the limit of limit_wait().
    [[nodiscard]] bool send(std::span<const std::byte> bytes);
    [[nodiscard]] bool receive(std::span<std::byte> bytes);

    // Limits the wait of receive() from one byte to the next. 0, the initial value, means no limit.
    void limit_wait(unsigned seconds) { m_wait_s = seconds; }

    [[nodiscard]] int descriptor() const { return m_descriptor; }

  private:
    int m_descriptor;
    unsigned m_wait_s = 0;
};

struct TlogPeers {
    std::uint16_t node = 0;
    std::vector<TlogLink> links; // at node 0 to node 1, 2, ...; at the others to node 0
};

// States where the processes of a recording meet.
struct TlogMeeting {
    std::uint16_t node = 0;
    std::uint16_t nodes = 1;
    std::string host; // name or address of node 0; unused if there is one node
    std::string port;
};

// Reads the environment: TLOG_NODES (1 if it is not set), and if it is more than 1, TLOG_NODE and TLOG_ROOT (HOST:PORT,
// the port a number, an IPv6 address in brackets). Returns nothing if a value is missing or invalid.
[[nodiscard]] std::optional<TlogMeeting> meeting_from_environment();

// Returns when node 0 and all others are connected, or nothing if that takes longer than 30 s after the name of the
// host is resolved. Node 0 listens at the first address of that name that is its own; the others try all. Other
// connections are ignored. Signals are handled meanwhile.
[[nodiscard]] std::optional<TlogPeers> meet(const TlogMeeting& meeting);

} // namespace host::compat
