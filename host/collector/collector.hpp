// SPDX-License-Identifier: MIT
// The collector's receive loop: takes the datagrams of a socket, and passes the packets to the table of sessions. It
// records one run into a directory (`record --out`) and ends with it, or serves any number of machines into a directory
// of sessions (`record --serve`) until it is asked to stop. Every session gets a manifest that says whether anything is
// missing.
#pragma once

#include "host/collector/observer.hpp"
#include "host/collector/reliable_sessions.hpp"
#include "host/collector/session_directory.hpp"
#include "host/collector/session_table.hpp"
#include "host/collector/session_writer.hpp"
#include "host/collector/udp_socket.hpp"

#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::collector {

struct CollectOptions {
    std::shared_ptr<SessionDirectory> directory; // of one run, empty; or null
    std::shared_ptr<SessionDirectory> serve;     // of any number of sessions; null if `directory` is not
    Limits limits;
    bool replace = false;                                  // what an earlier collector left is not wanted
    std::optional<std::chrono::milliseconds> idle_timeout; // of a session, after its last packet
    std::optional<std::chrono::milliseconds> timeout;      // from the start
    const volatile std::sig_atomic_t* stop = nullptr;      // becomes non-zero when the user wants to end
    std::optional<tracer::reliable::SipKey> key;           // shared with the machines; then nothing else is received
};

class Collector {
  public:
    // The socket is bound. It and the observer outlive the collector.
    Collector(UdpSocket& socket, const CollectOptions& options, Observer& observer);
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    // Until the run ends, or the user wants to stop. All sessions are on the disk, unless the outcome has an error.
    [[nodiscard]] SessionTable::Outcome run();

  private:
    [[nodiscard]] bool drain();

    [[nodiscard]] bool ended() const { return m_table.finished() && !m_reliable.awaited(); }

    void take(std::span<const std::byte> datagram, const Address& sender, Clock::time_point now);
    [[nodiscard]] std::string reason_to_stop(Clock::time_point now) const;

    UdpSocket& m_socket;
    Observer& m_observer;
    CollectOptions m_options;
    std::vector<std::byte> m_buffer;
    SessionTable m_table;
    ReliableSessions m_reliable;
    Clock::time_point m_started;
};

} // namespace host::collector
