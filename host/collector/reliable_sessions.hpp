// SPDX-License-Identifier: MIT
// The collector's side of TRACER-V2.0: the receiver, its streams and journals on the disk, and the way of what is
// durable into the sessions of the collector. What a machine sends is first durable in a stream of the journal
// directory, is then acknowledged, and is passed on as packets in order, as if they had come by TRACER-V1.0 without a
// loss. A collector that is started again passes on what the journal holds and continues there.
//
//   datagram --> Receiver --> stream and journal --> acknowledgement
//                                    |
//                                    +--> SessionTable::take() --> Ntrace.dat, manifest
#pragma once

#include "host/collector/reliable/file_store.hpp"
#include "host/collector/reliable/receiver.hpp"
#include "host/collector/udp_socket.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace host::collector {

class ReliableSessions final : private reliable::StoreProvider {
  public:
    struct Options {
        std::string journals;            // directory; made when a session begins, removed with the last journal in it
        std::uint64_t session_bytes = 0; // of the streams of a session
        bool alone = false;              // one run is recorded: sessions of one address and port only
        std::optional<tracer::reliable::SipKey> key; // none: every sender is believed
    };

    // A packet that is durable: its number, from 1 on in each session, and its records. A gap in the numbers is a loss.
    using Deliver = std::function<void(const Address&, std::uint32_t number, std::span<const std::byte> records)>;
    using Send = std::function<void(const Address&, std::span<const std::byte>)>;
    using Refuse = std::function<void(const std::string& why)>;

    struct Calls {
        Deliver deliver;
        Send send;
        Refuse refuse; // a session cannot be recorded
    };

    ReliableSessions(Options options, Calls calls);

    // A datagram that claims to be of version 2.
    void take(std::span<const std::byte> datagram_untrusted, const Address& sender);

    // At least every 10 ms while packets arrive.
    void tick();

    // A sender may still wait for an answer: for a quarter of a second after the end of its session, for three seconds
    // after its last packet before it.
    [[nodiscard]] bool awaited() const;

    // A disk that is full keeps a sender waiting.
    [[nodiscard]] bool disk_full() const;

    // Makes durable what has been received, and passes it on. For a collector that stops.
    void sync() { static_cast<void>(m_receiver.sync_all()); }

    // Of sessions that have ended. The others are left for the next collector.
    void remove_journals();

  private:
    [[nodiscard]] std::unique_ptr<reliable::SessionStore> open(const reliable::Peer& peer,
                                                               std::uint64_t session) override;
    [[nodiscard]] static lib::Nanoseconds now();

    Options m_options;
    Calls m_calls;
    reliable::FileStores m_files;
    reliable::Receiver m_receiver;
    std::optional<reliable::Peer> m_owner; // if alone
    lib::Nanoseconds m_last_packet;
};

} // namespace host::collector
