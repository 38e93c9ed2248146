// SPDX-License-Identifier: MIT
// The collector: receives one session of TRACER-V1.0 datagrams and writes a session directory. The first sender
// of a well-formed packet owns the session; others are counted and ignored. It ends with the sender's export_end, on a
// timeout or on request, and always writes a manifest that says whether anything is missing.
#pragma once

#include "host/collector/session_writer.hpp"
#include "host/collector/udp_socket.hpp"
#include "host/formats/dat/manifest.hpp"
#include "host/formats/dat/packet_order.hpp"
#include "lib/result.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace host::collector {

struct CollectOptions {
    std::string directory;                                 // exists and is empty
    std::optional<std::chrono::milliseconds> idle_timeout; // after the last packet; counts from the first one on
    std::optional<std::chrono::milliseconds> timeout;      // from the start
    const volatile std::sig_atomic_t* stop = nullptr;      // becomes non-zero when the user wants to end
};

struct Progress {
    std::uint64_t packets = 0;
    std::uint64_t records = 0;
    std::uint64_t lost = 0;
    std::size_t chunks = 0;
};

class Collector {
  public:
    // Called about once a second while waiting or receiving.
    using Report = std::function<void(const Progress&)>;

    // The socket is bound and outlives the collector.
    Collector(UdpSocket& socket, CollectOptions options, Report report);
    Collector(const Collector&) = delete;
    Collector& operator=(const Collector&) = delete;

    // Until the session ends. The manifest has been written, unless the disk is full (no_space) or broken (io).
    [[nodiscard]] lib::Result<formats::dat::Manifest> run();

    // Who sent the session.
    [[nodiscard]] const std::optional<Address>& sender() const { return m_sender; }

  private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool drain();
    void take(std::span<const std::byte> datagram, const Address& sender);
    [[nodiscard]] std::string reason_to_stop(Clock::time_point now) const;
    [[nodiscard]] formats::dat::Manifest manifest(const std::string& stopped) const;
    [[nodiscard]] std::string missing(const std::string& stopped) const;

    UdpSocket& m_socket;
    CollectOptions m_options;
    Report m_report;
    std::vector<std::byte> m_buffer;
    SessionWriter m_writer;
    formats::dat::PacketOrder m_order;
    std::optional<Address> m_sender;
    std::uint64_t m_malformed = 0;
    std::uint64_t m_other_senders = 0;
    Clock::time_point m_started;
    Clock::time_point m_last_packet;
};

} // namespace host::collector
