// SPDX-License-Identifier: MIT
// Keeps the sessions of a collector, by sender (address and port) and boot id. The table decides to which session a
// packet belongs.
//
//   packet of a sender   without a session   It is held until the sender is plausible (Strangers). If it is an
//                                            acknowledged one of an address with another session, it belongs to
//                                            another run: that session ends when what came for it is durable.
//                        with a session      The session takes it. If it begins a chunk of another boot, the machine
//                                            has been reset: the session ends as not complete, and another one is
//                                            opened.
//
// `record --out` records one run: its session exists from the start and belongs to the first plausible sender; all
// other senders are only counted. A session that has ended is remembered for a while, so that a late packet of it opens
// no second one. Packets are never moved between sessions. In a full table a session that makes no progress gives up
// its place (reliable/admission.hpp): an acknowledged one is recorded anew, whole, if its machine continues.
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

// Makes the directories of sessions. A name is the boot id as 16 hexadecimal digits and the first free number, <16
// digits>-<n>. A served directory holds one such directory for each session. `record --out DIR` writes its run into DIR
// itself; if the machine restarts meanwhile, the next boot is stored beside it, in DIR-<16 digits>-<n>.
class SessionPlaces {
  public:
    // Makes directories in `root`, which stays locked. Existing sessions are left as they are and count for the limits.
    [[nodiscard]] static SessionPlaces served(std::shared_ptr<SessionDirectory> root, Usage& usage);

    // Makes directories beside `first`.
    [[nodiscard]] static SessionPlaces beside(const SessionDirectory& first);

    // Makes a directory. no_space: there are `directories_max` already; other errors: it cannot be made.
    [[nodiscard]] SessionDirectory::Opened make(std::uint64_t boot_id, std::size_t directories_max);

    // Must be called when this number of directories has been removed.
    void release(std::size_t directories) { m_directories -= std::min(m_directories, directories); }

  private:
    std::shared_ptr<SessionDirectory> m_root; // of served sessions, else null
    trace::Descriptor m_parent;               // the directory in which they are made
    std::string m_parent_path;
    std::string m_prefix;
    std::size_t m_directories = 0;
};

// The senders that own no session yet. A chunk_begin that can be read makes a sender plausible at once. A published
// sender, whose packets are plain records, becomes plausible with its second packet of records that a tracer could have
// written. Until then its packets are held, so that a packet that overtook the first one is not lost. Number 0, other
// data and an end without a begin make no session. At most kSendersMax senders with kHeldMax packets each are held; the
// sender that was silent for the longest time is dropped first.

// Returns whether a tracer that sends no metadata could have written these records: they have codes of the event table
// other than metadata, no reserved bits, and stamps that decrease at most once (in a cyclic chunk, or at an emergency
// area).
[[nodiscard]] bool plausible_records(std::span<const std::byte> records_untrusted);

class Strangers {
  public:
    static constexpr std::size_t kSendersMax = 64;
    static constexpr std::size_t kHeldMax = 64;

    // Holds packets by their numbers.
    using Packets = std::map<std::uint32_t, std::vector<std::byte>>;

    // Holds the packet. If the sender is plausible and has_room, returns all its packets including this one. begins:
    // the packet begins with a chunk_begin that can be read.
    [[nodiscard]] std::optional<Packets> take(const Address& sender, std::uint32_t number,
                                              std::span<const std::byte> records, bool begins, bool has_room = true);

    struct Stranger {
        Address sender;
        Packets packets;
        std::size_t plausible = 0; // how many packets have plausible records
        bool begins = false;       // one begins with a chunk_begin that can be read
    };

    // Returns a sender of one plausible packet, which is a short trace without metadata. For the end, when nothing more
    // will come.
    [[nodiscard]] std::optional<Stranger> take_plausible();

  private:
    std::list<Stranger> m_strangers; // in the order of their latest packets
};

class SessionTable {
  public:
    // States how the sessions of a collector ended.
    struct Outcome {
        std::uint64_t sessions = 0;
        std::uint64_t complete = 0;
        std::optional<lib::Error> error; // the first error: no_space (the disk, or a limit), exists, io
    };

    // So many ended sessions may wait for the disk beside the open ones; then no session is opened.
    static constexpr std::size_t kClosingMax = 8;

    // first: the directory of `record --out`, else null. root: that of `record --serve`, else null. The observer must
    // outlive the table.
    SessionTable(std::shared_ptr<SessionDirectory> first, std::shared_ptr<SessionDirectory> root, const Limits& limits,
                 Observer& observer);
    SessionTable(const SessionTable&) = delete;
    SessionTable& operator=(const SessionTable&) = delete;

    // Takes a well-formed packet: its number, which is not 0, and its records. Returns false if it belongs to no
    // session.
    bool take(const Address& sender, std::uint32_t number, std::span<const std::byte> records, Clock::time_point now);

    // Counts a sender that was refused before it sent a packet.
    void count_refused(const Address& sender) { count_stray(sender, false); }

    // Sets the number of malformed acknowledged packets so far.
    void set_malformed_acknowledged(std::uint64_t datagrams) { m_strays.malformed_acknowledged = datagrams; }

    // Counts a datagram that is no packet.
    void count_malformed(const Address& sender);

    void set_socket_overflow(std::uint64_t datagrams) { m_strays.socket_overflow = datagrams; }

    // A session stays open for this long after another run of its machine has replaced it: twice the time until a
    // packet is durable.
    static constexpr std::chrono::seconds kSupersededFor{2};

    // Must be called regularly. idle: a session without a packet for this time ends. A session of acknowledged packets
    // lasts until its machine ends it, unless one run is recorded or half of the table is in use. Returns the senders
    // whose sessions were closed before they ended since the last call: what they send is passed on from the beginning.
    std::vector<Address> tick(Clock::time_point now, std::optional<std::chrono::milliseconds> idle);

    // Opens a session beside the run that is recorded, for what an earlier collector received of this sender. Returns
    // false if it cannot be made.
    [[nodiscard]] bool open_beside(const Address& sender, std::uint64_t boot_id, Clock::time_point now);

    // Returns whether the run of `record --out` has ended. A trace whose end is unknown is that of a boot that a reset
    // ended; the run of its machine follows, however long it takes.
    [[nodiscard]] bool finished() const { return m_alone && m_open.empty() && !m_run_follows; }

    // Ends the open sessions and waits until all of them are on the disk.
    void close_all(const std::string& why);

    // Returns when every sealed chunk is on the disk and in its manifest.
    void settle();

    [[nodiscard]] const Outcome& outcome() const { return m_outcome; }

    // Returns whether another session could be opened: else too many wait for the disk.
    [[nodiscard]] bool has_room() const { return m_open.size() + m_closing.size() < m_limits.sessions + kClosingMax; }

    // Returns whether everything that came from this sender is on the disk and listed, and its session is closed.
    [[nodiscard]] bool settled(const Address& sender) const;

    // Must be called when sessions were removed.
    void release(const Freed& freed);

    // Returns the usage, for other writers to the same disk.
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

    // An acknowledged session whose machine runs again: the collector may still pass on what it had received.
    struct Superseded {
        const Session* session;
        std::uint64_t next_boot_id = 0;
        Clock::time_point since;
    };

    [[nodiscard]] Sessions::iterator session_of(const Address& sender);
    [[nodiscard]] bool was_of(const Address& sender, std::optional<std::uint64_t> boot_id, Clock::time_point now) const;
    [[nodiscard]] Session* open_for(const Address& sender, std::uint64_t boot_id, Clock::time_point now);
    [[nodiscard]] Session* open_new(const Address& sender, std::uint64_t boot_id, Clock::time_point now);
    [[nodiscard]] bool of_same_machine(const Address& sender) const;
    void open(std::shared_ptr<SessionDirectory> directory);
    bool take_strange(const Address& sender, std::uint32_t number, std::span<const std::byte> records,
                      std::optional<std::uint64_t> boot_id, Clock::time_point now);
    bool begin_after(Sessions::iterator former, const Address& sender, std::uint32_t number,
                     std::span<const std::byte> records, std::uint64_t boot_id, Clock::time_point now);
    void close_superseded(Clock::time_point now);
    [[nodiscard]] bool make_space(const Address& newcomer, Clock::time_point now);
    void cut(Sessions::iterator session, const std::string& why, Clock::time_point now);
    void close(Sessions::iterator session, const std::string& why, Clock::time_point now);
    void report_settled();
    void count_stray(const Address& sender, bool of_trace);
    void fail(lib::Error error);

    Limits m_limits;
    Observer& m_observer;
    Usage m_usage;
    Strays m_strays;
    bool m_alone;
    bool m_run_follows = false; // the session that ended last has the trace of a boot that a reset ended
    Syncer m_syncer;
    Surroundings m_surroundings;
    SessionPlaces m_places;
    Strangers m_strangers;
    Sessions m_open;
    Sessions m_closing; // ended, but not on the disk yet
    std::deque<Former> m_former;
    std::vector<Superseded> m_superseded;
    std::vector<Address> m_cut;       // senders whose sessions were closed since the last tick()
    std::vector<Address> m_unwritten; // senders of whose sessions something could not be written
    Progress m_ended;                 // that of ended sessions
    Outcome m_outcome;
};

} // namespace host::collector
