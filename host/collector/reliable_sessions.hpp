// SPDX-License-Identifier: MIT
// The collector's side of TRACER-V2.0: the receiver, its streams and journals on the disk, and the transfer of what is
// durable into the sessions of the collector. What a machine sends is first made durable in a stream of the journal
// directory, then acknowledged, and passed on as packets in order, as if they had come by TRACER-V1.0 without a loss. A
// collector that is started again passes on what the journal holds and continues there. A journal is removed when its
// session has ended and is on the disk as files of chunks.
//
//   datagram --> Receiver --> stream and journal --> acknowledgement
//                                    |
//                                    +--> SessionTable::take() --> Ntrace.dat, manifest
#pragma once

#include "host/collector/delivering_store.hpp"
#include "host/collector/reliable/file_store.hpp"
#include "host/collector/reliable/receiver.hpp"
#include "host/collector/session_writer.hpp"
#include "host/collector/udp_socket.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace host::collector {

[[nodiscard]] inline Address address_of(const reliable::Peer& peer, std::uint64_t session) {
    return {.ipv4 = peer.ipv4, .port = peer.port, .session = session};
}

// Returns the host's monotonic time since an unspecified moment.
[[nodiscard]] lib::Nanoseconds steady_time();

class ReliableSessions final : private reliable::StoreProvider {
  public:
    struct Options {
        std::string journals; // their directory; made when a session begins, removed with the last journal in it
        Limits limits;       // those of bytes: streams and journals count like the sessions' own files while they exist
        bool alone = false;  // one run is recorded, so only sessions of one address and port are accepted
        bool beside = false; // what an earlier collector received is written beside the run that is recorded
        bool flush_aside = false;                    // a thread flushes the disk; else take() and tick() do
        std::optional<tracer::reliable::SipKey> key; // none: every sender is trusted
        // The time after an end after which no sender asks again.
        lib::Nanoseconds forget_after = lib::milliseconds(60'000);
        lib::Nanoseconds (*clock)() = &steady_time;
        // So many sessions have a journal; more push out those that are written elsewhere, too, and not continued.
        std::size_t journals_max = 4096;
        // So many of them begin with no chunk, in all and of one address, if no key shows that they are of a machine.
        std::size_t strangers_max = 64;
        std::size_t strangers_of_address_max = 8;
    };

    // Takes a durable packet: its number, from 1 on in each session, and its records. A gap in the numbers is a loss.
    // Returns false if no session can take it; then its journal is kept.
    using Deliver = std::function<bool(const Address&, std::uint32_t number, std::span<const std::byte> records)>;
    using Send = std::function<void(const Address&, std::span<const std::byte>)>;
    using Refuse = std::function<void(const std::string& why)>;

    struct Calls {
        Deliver deliver;
        // Called if what is passed on next is of an earlier run. Returns false if there is no place for it.
        std::function<bool(const Address&, std::uint64_t boot_id)> open_beside;
        Send send;
        Refuse refuse; // called if a session cannot be recorded
        // Called if a machine is refused because the run of another one is recorded.
        std::function<void(const Address&)> stray;
        std::function<bool(const Address&)> settled; // returns whether everything of this sender is on the disk
        // Returns whether deliver() may be called; meanwhile what is durable waits.
        std::function<bool()> has_room = [] { return true; };
    };

    // usage: that of the collector, which must outlive this object.
    ReliableSessions(Options options, Calls calls, Usage& usage);

    // Returns the directory of the journals of `record --out DIR`: DIR.journal, beside the session.
    [[nodiscard]] static std::string journals_of(std::string directory);

    // Returns the directory of the journals of `record --serve DIR`: DIR/journal, because a service may write to DIR
    // alone.
    [[nodiscard]] static std::string journals_in(const std::string& served);

    // Makes the directory of the journals of `record --serve`, so that a collector that can acknowledge nothing does
    // not start. What an earlier version left in DIR.journal is moved there. Causes: no_space, refused.
    [[nodiscard]] static lib::Result<void, trace::Failure<lib::Error>> prepare(const std::string& served);

    // Returns whether the journal also holds the unfinished session in this directory: a collector that was killed left
    // both. Then nothing is lost if the files are written again from the journal.
    [[nodiscard]] static bool can_continue(const std::string& directory);

    // Must be called before the first packet. Finds the sessions that ended before an earlier collector had written
    // them, by one small read of each journal; tick() passes them on. If one run is recorded, they are passed on here,
    // and the first is that run, unless all are written beside it.
    void begin();

    // Returns a descriptor that becomes readable when tick() has something to do; -1 if there is none.
    [[nodiscard]] int event() const { return m_files.event(); }

    // Takes a datagram that claims to be of version 2.
    void take(std::span<const std::byte> datagram_untrusted, const Address& sender);

    // Must be called at least every 10 ms while packets arrive. Removes the journal of a session a minute after its
    // end.
    void tick();

    // Returns whether a sender may still wait for an answer: for a second after the end of its session, or for five
    // seconds if the network has lost packets; before the end, for three seconds after its last packet.
    [[nodiscard]] bool awaited() const;

    // Returns whether a full disk makes a sender wait.
    [[nodiscard]] bool disk_full() const;

    // Must be called when the session into which this sender's packets were passed on has been closed: if the sender
    // continues, everything is passed on again.
    void drop(const Address& sender);

    // Returns the number of datagrams that were damaged or not authentic.
    [[nodiscard]] std::uint64_t malformed() const {
        return m_receiver.counters().malformed + m_receiver.counters().unauthentic;
    }

    // Makes durable what has been received, and passes it on. For a collector that stops.
    void sync();

    // Removes the journals of sessions that have ended and are on the disk. The others are left for the next collector.
    void remove_journals();

  private:
    [[nodiscard]] std::shared_ptr<reliable::SessionStore> open(const reliable::Peer& peer,
                                                               std::uint64_t session) override;
    using Key = std::tuple<std::uint32_t, std::uint16_t, std::uint64_t>; // address, port, session

    void forgotten(const reliable::Peer& peer, std::uint64_t session, bool ended) override;
    [[nodiscard]] std::shared_ptr<reliable::SessionStore> delivering(const reliable::Peer& peer, std::uint64_t session,
                                                                     std::shared_ptr<reliable::SessionStore> files);
    [[nodiscard]] bool release(const reliable::Peer& peer, std::uint64_t session);
    void release_ended();
    void keep(const reliable::Peer& peer, std::uint64_t session);
    void count_earlier();
    void pass_on_earlier(bool at_once);
    [[nodiscard]] reliable::StoreState continue_earlier(const reliable::Peer& peer, std::uint64_t session,
                                                        bool at_once);
    void leave_earlier(const reliable::Peer& peer, std::uint64_t session);
    void forget_earlier(const reliable::Peer& peer, std::uint64_t session);
    [[nodiscard]] const reliable::Session* received_session(const reliable::Peer& peer, std::uint64_t session) const;
    [[nodiscard]] bool takes_journal(const reliable::Peer& peer, std::uint64_t session);
    [[nodiscard]] bool has_journal_left();
    [[nodiscard]] bool takes_stranger(const reliable::Peer& peer, std::uint64_t session);
    void abandon(const reliable::Peer& peer, std::uint64_t session);
    void report();
    void report_forgeries();

    [[nodiscard]] lib::Nanoseconds now() const { return m_options.clock(); }

    Options m_options;
    Calls m_calls;
    Usage& m_usage;
    // How far each session was passed on: of those that are received or open.
    std::map<Key, PassedOn> m_passed_on;
    std::mutex m_reports_mutex;
    std::vector<std::string> m_reports; // by the stores, one of whose threads is another
    reliable::FileStores m_files;
    reliable::Receiver m_receiver;
    std::optional<reliable::Peer> m_owner; // if alone: the machine of which a chunk has begun
    std::set<Key> m_kept;                  // sessions of which a packet could not be taken
    std::set<Key> m_strangers;             // sessions with a journal that begin with no chunk
    // Sessions that ended, or are damaged, before an earlier collector had passed them on.
    std::deque<std::pair<reliable::Peer, std::uint64_t>> m_earlier;
    std::shared_ptr<reliable::SessionStore> m_earlier_store; // of the first one, while it is loaded or passed on
    bool m_earlier_is_loaded = false;                        // it is being passed on
    // Sessions that are not received any more and whose journals still exist.
    std::vector<std::pair<reliable::Peer, std::uint64_t>> m_ended;
    std::deque<std::pair<reliable::Peer, std::uint64_t>> m_abandoned; // that have not ended and are not received
    std::uint64_t m_forgeries_reported_at = 1;                        // the number of which is reported next
    lib::Nanoseconds m_listed;        // when the journals were last counted, and none could be removed
    bool m_journals_reported = false; // that there are too many
    bool m_full_reported = false;
    bool m_strangers_reported = false;
};

} // namespace host::collector
