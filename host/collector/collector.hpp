// SPDX-License-Identifier: MIT
// The collector's receive loop takes the datagrams of a socket and passes the packets to the table of sessions. It
// records one run into a directory (`record --out`) and ends with it, or serves any number of machines into a directory
// of sessions (`record --serve`) until it is asked to stop. Every session gets a manifest that states whether anything
// is missing.
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
    std::shared_ptr<SessionDirectory> directory; // an empty one for a single run; or null
    std::shared_ptr<SessionDirectory> serve;     // for any number of sessions; null if `directory` is not
    Limits limits;
    bool force = false; // what an earlier collector left to be written is written beside `directory`
    std::optional<std::chrono::milliseconds> idle_timeout; // for a session, after its last packet
    std::optional<std::chrono::milliseconds> timeout;      // for the collector, from its start
    const volatile std::sig_atomic_t* stop = nullptr;      // becomes non-zero when the user wants to stop
    std::optional<tracer::reliable::SipKey> key; // shared with the machines; with a key nothing else is received
};

class Collector {
  public:
    // Precondition: the socket is bound. The socket and the observer must outlive the collector.
    Collector(UdpSocket& socket, const CollectOptions& options, Observer& observer);
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    // Returns when the run has ended or the user wants to stop. Then all sessions are on the disk unless the outcome
    // has an error.
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
