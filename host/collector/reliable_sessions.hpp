// SPDX-License-Identifier: MIT
// The collector's side of TRACER-V2.0: the receiver, its streams and journals on the disk, and the way of what is
// durable into the sessions of the collector. What a machine sends is first durable in a stream of the journal
// directory, is then acknowledged, and is passed on as packets in order, as if they had come by TRACER-V1.0 without a
// loss. A collector that is started again passes on what the journal holds and continues there. A journal is removed
// when its session has ended and is on the disk as files of chunks.
//
//   datagram --> Receiver --> stream and journal --> acknowledgement
//                                    |
//                                    +--> SessionTable::take() --> Ntrace.dat, manifest
#pragma once

#include "host/collector/reliable/file_store.hpp"
#include "host/collector/reliable/receiver.hpp"
#include "host/collector/session_writer.hpp"
#include "host/collector/udp_socket.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace host::collector {

// Of the host, since some moment.
[[nodiscard]] lib::Nanoseconds steady_time();

class ReliableSessions final : private reliable::StoreProvider {
  public:
    struct Options {
        std::string journals; // directory; made when a session begins, removed with the last journal in it
        Limits limits;        // of bytes: streams and journals count like the sessions' own files while they exist
        bool alone = false;   // one run is recorded: sessions of one address and port only
        bool replace = false; // what an earlier collector recorded is not wanted
        std::optional<tracer::reliable::SipKey> key;               // none: every sender is believed
        lib::Nanoseconds forget_after = lib::milliseconds(60'000); // an end: no sender asks again so late
        lib::Nanoseconds (*clock)() = &steady_time;
    };

    // A packet that is durable: its number, from 1 on in each session, and its records. A gap in the numbers is a loss.
    // False: it has no place; then its journal is kept.
    using Deliver = std::function<bool(const Address&, std::uint32_t number, std::span<const std::byte> records)>;
    using Send = std::function<void(const Address&, std::span<const std::byte>)>;
    using Refuse = std::function<void(const std::string& why)>;

    struct Calls {
        Deliver deliver;
        Send send;
        Refuse refuse;                               // a session cannot be recorded
        std::function<void(const Address&)> stray;   // a machine is refused, because another one's run is recorded
        std::function<bool(const Address&)> settled; // everything of this sender is on the disk
    };

    static constexpr std::size_t kSessionsMax = 4096; // of one collector; those that it has forgotten do not count

    // usage: of the collector, which outlives this.
    ReliableSessions(Options options, Calls calls, Usage& usage);

    // Where a collector that records into this directory keeps its journals: beside it.
    [[nodiscard]] static std::string journals_of(std::string directory);

    // Whether the unfinished session in this directory is one that its journal holds as well: a collector that was
    // killed left both. Then nothing is lost if its files are written anew, from the journal.
    [[nodiscard]] static bool can_continue(const std::string& directory);

    // Passes on the sessions that ended before an earlier collector had written them; if they are replaced, removes
    // their journals. Before the first packet.
    void begin();

    // A datagram that claims to be of version 2.
    void take(std::span<const std::byte> datagram_untrusted, const Address& sender);

    // At least every 10 ms while packets arrive. A minute after the end of a session, its journal is removed.
    void tick();

    // A sender may still wait for an answer: for a second after the end of its session, for five seconds
    // if the network has shown that it loses packets; for three seconds after its last packet before the end.
    [[nodiscard]] bool awaited() const;

    // A disk that is full keeps a sender waiting.
    [[nodiscard]] bool disk_full() const;

    // What was passed on of this session is closed: if it continues, everything is passed on anew.
    void drop(const Address& sender);

    // Datagrams that were damaged, or not authentic.
    [[nodiscard]] std::uint64_t malformed() const {
        return m_receiver.counters().malformed + m_receiver.counters().unauthentic;
    }

    // Makes durable what has been received, and passes it on. For a collector that stops.
    void sync() { static_cast<void>(m_receiver.sync_all()); }

    // Of sessions that have ended and are on the disk. The others are left for the next collector.
    void remove_journals();

  private:
    [[nodiscard]] std::unique_ptr<reliable::SessionStore> open(const reliable::Peer& peer,
                                                               std::uint64_t session) override;
    using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint64_t>; // address, port, session

    void forgotten(const reliable::Peer& peer, std::uint64_t session) override;
    [[nodiscard]] std::unique_ptr<reliable::SessionStore> delivering(const reliable::Peer& peer, std::uint64_t session,
                                                                     std::unique_ptr<reliable::SessionStore> files);
    [[nodiscard]] bool release(const reliable::Peer& peer, std::uint64_t session);
    void release_ended();
    void keep(const reliable::Peer& peer, std::uint64_t session);
    [[nodiscard]] bool make_space();
    void report_forgeries();

    [[nodiscard]] lib::Nanoseconds now() const { return m_options.clock(); }

    Options m_options;
    Calls m_calls;
    Usage& m_usage;
    std::map<Key, std::uint32_t> m_passed_on; // how many packets of each session; lost ones count
    reliable::FileStores m_files;
    reliable::Receiver m_receiver;
    std::optional<reliable::Peer> m_owner;                         // if alone: of whom a chunk has begun
    std::set<Key> m_kept;                                          // of which a packet had no place
    std::vector<std::pair<reliable::Peer, std::uint64_t>> m_ended; // not received any more; their journals are there
    std::uint64_t m_reported = 0;                                  // reports of forgeries
    bool m_full_reported = false;
};

} // namespace host::collector
