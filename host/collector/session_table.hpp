// SPDX-License-Identifier: MIT
// The sessions of a collector, by sender (address and port) and boot id: decides to which session a packet belongs.
//
//   packet of a sender     without a session: held, until the sender is plausible (Strangers); an acknowledged one of
//   an
//                                             address that has another session ends that session, when what had come
//                                             for it is durable: another run
//                          with one:          taken
//                          with one, and a chunk of another boot begins: the machine was reset, so the session ends as
//                                             not complete, and another one is opened
//
// `record --out` records one run: its session exists from the start, belongs to the first plausible sender, and all
// other senders are only counted. A session that has ended is remembered for a while, so that a late packet of it opens
// no second one. Packets are never moved between sessions; a full table refuses new ones and ends none.
#pragma once

#include "host/collector/observer.hpp"
#include "host/collector/session.hpp"
#include "host/collector/session_directory.hpp"
#include "host/collector/session_writer.hpp"
#include "host/collector/syncer.hpp"
#include "host/collector/udp_socket.hpp"
#include "host/trace/byte_source.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace host::collector {

// Where sessions are stored, under names made here: the boot id as 16 hexadecimal digits, and the first number that is
// free, <16 digits>-<n>. A served directory holds one such directory for each session. `record --out DIR` writes its
// run into DIR itself; if the machine restarts meanwhile, the next boot goes beside it, to DIR-<16 digits>-<n>.
class SessionPlaces {
  public:
    // Below `root`, which stays locked. Existing sessions are left as they are, and count for the limits.
    [[nodiscard]] static SessionPlaces served(std::shared_ptr<SessionDirectory> root, Usage& usage);

    // Beside `first`.
    [[nodiscard]] static SessionPlaces beside(const SessionDirectory& first);

    // A new directory. no_space: there are `directories_max` already; else it cannot be made.
    [[nodiscard]] SessionDirectory::Opened make(std::uint64_t boot_id, std::size_t directories_max);

    // So many have been removed.
    void release(std::size_t directories) { m_directories -= std::min(m_directories, directories); }

  private:
    std::shared_ptr<SessionDirectory> m_root; // of served sessions
    trace::Descriptor m_parent;               // where directories are made
    std::string m_parent_path;
    std::string m_prefix;
    std::size_t m_directories = 0;
};

// Senders that own no session yet. A chunk_begin that can be read makes a sender plausible at once; a published sender,
// whose packets are plain records, becomes so with its second packet of records that a tracer could have written. Until
// then its packets are held, so that one that overtook the first is not lost. Number 0, junk and an end without a
// beginning make no session. Memory: kSendersMax senders with kHeldMax packets each; the sender that was silent for
// longest makes room.

// Whether a tracer that sends no metadata could have written these records: codes of the event table but metadata, no
// reserved bits, stamps that never decrease but once (a cyclic chunk, an emergency area).
[[nodiscard]] bool plausible_records(std::span<const std::byte> records_untrusted);

class Strangers {
  public:
    static constexpr std::size_t kSendersMax = 64;
    static constexpr std::size_t kHeldMax = 64; // the window of PacketOrder

    // By number.
    using Packets = std::map<std::uint32_t, std::vector<std::byte>>;

    // Holds the packet. The packets of the sender, this one included, if it is plausible from now on. begins: the
    // packet begins with a chunk_begin that can be read.
    [[nodiscard]] std::optional<Packets> take(const Address& sender, std::uint32_t number,
                                              std::span<const std::byte> records, bool begins);

    struct Stranger {
        Address sender;
        Packets packets;
        std::size_t plausible = 0; // packets of plausible records
    };

    // A sender of one plausible packet, when nothing more will come: a short trace without metadata.
    [[nodiscard]] std::optional<Stranger> take_plausible();

  private:
    std::list<Stranger> m_strangers; // the one that sent last is last
};

class SessionTable {
  public:
    // How the sessions of a collector ended.
    struct Outcome {
        std::uint64_t sessions = 0;
        std::uint64_t complete = 0;
        std::optional<lib::Error> error; // the first: no_space (the disk, or a limit), exists, io
    };

    // first: of `record --out`, otherwise null. root: of `record --serve`, otherwise null. The others outlive the
    // table.
    SessionTable(std::shared_ptr<SessionDirectory> first, std::shared_ptr<SessionDirectory> root, const Limits& limits,
                 Observer& observer);
    SessionTable(const SessionTable&) = delete;
    SessionTable& operator=(const SessionTable&) = delete;

    // A well-formed packet: its number (not 0) and its records. False: it is no session's.
    bool take(const Address& sender, std::uint32_t number, std::span<const std::byte> records, Clock::time_point now);

    // A sender that was refused before it sent a packet.
    void count_refused(const Address& sender) { count_stray(sender, false); }

    // Of the acknowledged packets, so far.
    void set_malformed_acknowledged(std::uint64_t datagrams) { m_strays.malformed_acknowledged = datagrams; }

    // A datagram that is no packet.
    void count_malformed(const Address& sender);

    void set_socket_overflow(std::uint64_t datagrams) { m_strays.socket_overflow = datagrams; }

    // How long a session is open that another run of its machine has replaced: twice the time until a packet is
    // durable.
    static constexpr std::chrono::seconds kSupersededFor{2};

    // What the passing of time does; idle: after so long without a packet a session ends. One of acknowledged packets
    // has time until its machine ends it, unless one run is recorded, or half of the table is taken. Whose ended so.
    std::vector<Address> tick(Clock::time_point now, std::optional<std::chrono::milliseconds> idle);

    // `record --out`: its run has ended.
    [[nodiscard]] bool finished() const { return m_alone && m_open.empty(); }

    // Ends what is open and waits until all of it is on the disk.
    void close_all(const std::string& why);

    // Returns when every chunk that is sealed is on the disk, and in its manifest.
    void settle();

    [[nodiscard]] const Outcome& outcome() const { return m_outcome; }

    // Everything that came from this sender is on the disk, and listed, and its session has ended.
    [[nodiscard]] bool settled(const Address& sender) const;

    // Sessions that were removed.
    void release(const Freed& freed);

    // For those who write to the same disk.
    [[nodiscard]] Usage& usage() { return m_usage; }

    [[nodiscard]] Progress progress() const;

  private:
    // A session that has ended.
    struct Former {
        Address sender;
        std::uint64_t boot_id = 0;
        Clock::time_point ended;
    };

    using Sessions = std::list<std::unique_ptr<Session>>;

    // An acknowledged session whose machine runs anew: the collector may still pass on what it had received.
    struct Superseded {
        const Session* session;
        std::uint64_t next_boot_id = 0;
        Clock::time_point since;
    };

    [[nodiscard]] Sessions::iterator session_of(const Address& sender);
    [[nodiscard]] bool was_of(const Address& sender, std::optional<std::uint64_t> boot_id, Clock::time_point now) const;
    [[nodiscard]] Session* open_for(const Address& sender, std::uint64_t boot_id, Clock::time_point now);
    void open(std::shared_ptr<SessionDirectory> directory);
    bool take_strange(const Address& sender, std::uint32_t number, std::span<const std::byte> records,
                      std::optional<std::uint64_t> boot_id, Clock::time_point now);
    bool begin_after(Sessions::iterator former, const Address& sender, std::uint32_t number,
                     std::span<const std::byte> records, std::uint64_t boot_id, Clock::time_point now);
    std::vector<Address> close_superseded(Clock::time_point now);
    void close(Sessions::iterator session, const std::string& why, Clock::time_point now);
    void report_settled();
    void count_stray(const Address& sender, bool of_trace);
    void fail(lib::Error error);

    Limits m_limits;
    Observer& m_observer;
    Usage m_usage;
    Strays m_strays;
    bool m_alone;
    Syncer m_syncer;
    Surroundings m_surroundings;
    SessionPlaces m_places;
    Strangers m_strangers;
    Sessions m_open;
    Sessions m_closing; // ended, and not yet on the disk
    std::deque<Former> m_former;
    std::vector<Superseded> m_superseded;
    Progress m_ended; // of sessions that have ended
    Outcome m_outcome;
};

} // namespace host::collector
