// SPDX-License-Identifier: MIT
// Receives TRACER-V2.0 from many senders: decides to which session a datagram belongs and whether it is authentic, and
// makes the answer. It has no socket and no clock: the caller passes a datagram and the time, and gets an answer.
//
// A machine that has not proven that it receives at its address needs no memory: HELLO is answered with a cookie, a
// keyed hash of its address and session number, and only HELLO with that cookie opens a session. A datagram has at most
// one answer, and no answer is longer than the datagram. All limits are compiled in; no number from the wire determines
// an allocation. In a full table the sessions that make the least progress give up their places (admission.hpp): what
// they promised is durable, and their senders continue with HELLO. A session holds at most kEarlyMax packets that are
// not in order yet and kUnsyncedMax bytes that are not durable yet, so 64 of them hold at most 24 MiB.
#pragma once

#include "host/collector/reliable/admission.hpp"
#include "host/collector/reliable/store.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"
#include "tracer/reliable/packet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace host::collector::reliable {

// A Session is the receiving side of one session of TRACER-V2.0 (tracer/reliable/packet.hpp): it puts the packets of
// each stream in order, appends them to the store exactly once, and states what is durable. Receiver authenticates the
// packets, and sends the answers that are returned here. Each packet has at most one answer: at once if the sender
// asks, if a packet is missing, and for every eighth packet in order; else after 10 ms. Answers are few, because the
// sender reads each from its network card word by word. What states that packets are durable is answered when they are:
// the store may flush beside the receiver.

namespace wire = tracer::reliable;

// Is an answer without session and authentication.
struct Reply {
    wire::Header header;
    std::array<std::byte, wire::kControlBytes> body{};
};

class Session {
  public:
    static constexpr lib::Nanoseconds kAcknowledgeAfter = lib::milliseconds(10);
    static constexpr std::uint32_t kAcknowledgeEvery = 8; // counts packets in order; the window is 64
    static constexpr lib::Nanoseconds kSyncAfter = lib::milliseconds(1'000);
    static constexpr std::uint64_t kSyncBytes = 128U << 10U;           // begins a sync
    static constexpr std::uint64_t kUnsyncedMax = 256U << 10U;         // of a session; more waits in the window
    static constexpr std::size_t kEarlyMax = 2 * wire::kWindowPackets; // packets of a session that wait for others
    static constexpr lib::Nanoseconds kHelloSyncInterval = lib::milliseconds(20); // between two syncs for a HELLO

    struct Counters {
        std::uint64_t packets = 0; // appended packets
        std::uint64_t bytes = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t early = 0; // an earlier packet had not arrived
        std::uint64_t out_of_window = 0;
        std::uint64_t no_space = 0; // a packet could not be appended or made durable
        std::uint64_t lost = 0;     // packets that neither side has any more
    };

    explicit Session(std::shared_ptr<SessionStore> store);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Opens the stream and returns an answer that states where to continue. None if what is durable is not known, or
    // what was received is not durable yet: then the answer comes from due(). None, too, if the disk was flushed for
    // another HELLO within kHelloSyncInterval.
    [[nodiscard]] std::optional<Reply> hello(const wire::Header& header, const wire::Hello& hello,
                                             lib::Nanoseconds now);

    // Return none if the answer comes later from due(), or none is due. Precondition: is_open().
    [[nodiscard]] std::optional<Reply> data(const wire::Header& header, std::span<const std::byte> records,
                                            lib::Nanoseconds now);
    [[nodiscard]] std::optional<Reply> fin(const wire::Header& header, const wire::Totals& totals);

    // Returns whether hello() has opened the stream.
    [[nodiscard]] bool is_open(std::uint16_t stream) const { return m_streams[stream] != nullptr; }

    // Returns a delayed answer that is due; must be called until it returns none. Also takes note of what has become
    // durable, and begins to sync what has waited long enough.
    [[nodiscard]] std::optional<Reply> due(lib::Nanoseconds now);

    // Begins to make durable what has been received. Returns whether all of it is, and is passed on.
    [[nodiscard]] bool make_all_durable();

    // Makes durable what has been received, for a collector that stops. Returns false if something is not durable.
    [[nodiscard]] bool sync_all();

    // Returns `ready` if what the store holds has ended and is passed on, `failed` if it is passed on and has not
    // ended.
    [[nodiscard]] StoreState held() const {
        return m_state != StoreState::ready || m_store->has_ended() ? m_state : StoreState::failed;
    }

    // Returns how many bytes have come, to this process or an earlier one.
    [[nodiscard]] std::uint64_t bytes() const;

    // Returns whether every stream that the sender announced has ended with equal totals, and nothing was lost.
    [[nodiscard]] bool complete() const;

    // Returns whether the sender has announced the end of every stream.
    [[nodiscard]] bool ended() const { return m_streams_announced != 0 && ended_streams() == m_streams_announced; }

    // Returns whether no packet has come, to this process or an earlier one.
    [[nodiscard]] bool empty() const { return !m_any; }

    // Returns whether the session cannot be continued because its store has failed.
    [[nodiscard]] bool failed() const { return m_state == StoreState::failed && !m_waiting; }

    // Returns whether an append or a sync of any stream has failed.
    [[nodiscard]] bool disk_full() const;

    [[nodiscard]] const Counters& counters() const { return m_counters; }

    // Returns how many packets wait for earlier ones.
    [[nodiscard]] std::size_t early_packets() const { return m_early; }

  private:
    using Slot = std::vector<std::byte>; // the records of a packet; empty if there is none

    // HELLO or FIN whose answer states what is durable.
    struct Question {
        wire::Header header;
        std::uint64_t cookie = 0; // of HELLO
        bool other_run = false;
    };

    // Packets before `received.packets` are appended; later ones wait in the window.
    struct Stream {
        Mark received;
        Mark durable;
        std::optional<Mark> syncing;      // becomes `durable` when the store's sync has ended
        std::optional<Question> question; // is answered when everything is durable
        std::uint64_t push_until = 0;     // the sender waits until this many packets are durable
        std::uint64_t hello_stamp = 0;
        bool answer_synced = false; // the answer to that is due when a sync has ended
        std::optional<lib::Nanoseconds> acknowledge_at;
        std::uint32_t unanswered = 0; // packets since the last answer
        lib::Nanoseconds dirty_since; // valid if received != durable
        std::uint64_t newest_stamp = 0;
        bool fin = false;         // the sender has announced its totals
        bool full = false;        // the last append failed
        bool sync_failed = false; // the last sync failed
        std::array<Slot, wire::kWindowPackets> window{};

        // Returns whether the sender waits until what has been received is durable.
        [[nodiscard]] bool is_pushed() const { return push_until > durable.packets && push_until <= received.packets; }
    };

    // Appends the packets that are in order now, unless much is not durable yet. Returns false if there is no space.
    bool advance(std::uint16_t number, lib::Nanoseconds now);
    // Begins to make everything durable. Returns whether it is.
    bool make_durable(std::uint16_t number);
    // Takes note of a sync that has ended.
    void settle(std::uint16_t number);
    void take_sync(Stream& stream, const Mark& mark, SyncState state);
    void drop_early(Stream& stream);
    [[nodiscard]] std::optional<Reply> due(std::uint16_t number, lib::Nanoseconds now);
    // Returns the answer to HELLO or FIN; none if not everything is durable.
    [[nodiscard]] std::optional<Reply> answer(std::uint16_t number, const Question& question);
    [[nodiscard]] Reply acknowledgement(std::uint16_t number);
    [[nodiscard]] bool holds_more_than(std::uint16_t number) const;
    [[nodiscard]] std::size_t ended_streams() const;

    std::shared_ptr<SessionStore> m_store;
    StoreState m_state;                                            // since the last poll()
    std::optional<std::pair<wire::Header, wire::Hello>> m_waiting; // HELLO while the store loads
    std::array<std::unique_ptr<Stream>, wire::kStreamsMax> m_streams;
    std::size_t m_streams_announced = 0;
    std::size_t m_early = 0;                         // packets in the windows
    std::uint64_t m_unsynced = 0;                    // bytes of all streams that are not durable
    bool m_any = false;                              // a packet has come
    std::optional<lib::Nanoseconds> m_hello_sync_at; // when the disk was last flushed for a HELLO
    Counters m_counters;
};

class Receiver {
  public:
    static constexpr std::size_t kSessionsMax = 64;
    // A cookie is valid for one to two periods.
    static constexpr lib::Nanoseconds kCookiePeriod = lib::milliseconds(64'000);
    // This passes between two UNKNOWN or ABORT to a session. All share kUnknownPlaces such times by a keyed hash of
    // address, port and number, so that a flood starves none of its answer.
    static constexpr lib::Nanoseconds kUnknownInterval = lib::milliseconds(20);
    static constexpr std::size_t kUnknownPlaces = 4096;
    // A sender that has its last answer does not ask again for longer.
    static constexpr lib::Nanoseconds kEndedFor = lib::milliseconds(1'000);

    struct Options {
        wire::SipKey secret;             // for the cookies; random
        std::optional<wire::SipKey> key; // shared with the senders; none: every sender is trusted
    };

    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t malformed = 0;   // wrong size, count or CRC
        std::uint64_t unauthentic = 0; // wrong MAC
        std::uint64_t unknown = 0;     // of no session; only some are answered
        std::uint64_t cookies = 0;     // HELLO that were answered with a cookie
        std::uint64_t refused = 0;     // HELLO for which no session could be opened; only some are answered
        std::uint64_t table_full = 0;  // how many of them because the table was full
        std::uint64_t replaced = 0;    // sessions that gave up their places
        std::uint64_t replies = 0;
    };

    // The provider must outlive the receiver.
    Receiver(StoreProvider& provider, const Options& options)
        : m_provider(provider)
        , m_options(options) {}

    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    // Takes a datagram. Returns the answer to send to `peer`, valid until the next call; empty if there is none.
    [[nodiscard]] std::span<const std::byte> handle(std::span<const std::byte> datagram_untrusted, const Peer& peer,
                                                    lib::Nanoseconds now);

    // Must be called at least every 10 ms while packets arrive. Sends the delayed answers that are due, and makes
    // durable what has waited.
    void tick(lib::Nanoseconds now, const std::function<void(const Peer&, std::span<const std::byte>)>& send);

    // Makes durable what has been received, for a collector that stops. Returns false if something is not durable.
    [[nodiscard]] bool sync_all();

    struct Entry {
        Peer peer;
        std::uint64_t number = 0;
        std::uint64_t cookie = 0;
        wire::SipKey key;            // that of the session
        lib::Nanoseconds heard;      // when its last authentic packet came
        lib::Nanoseconds progressed; // when its last new packet came, or it was opened
        Session session;

        Entry(const Peer& from, std::uint64_t session_number, std::shared_ptr<SessionStore> store, lib::Nanoseconds now)
            : peer(from)
            , number(session_number)
            , heard(now)
            , progressed(now)
            , session(std::move(store)) {}
    };

    [[nodiscard]] const std::vector<std::unique_ptr<Entry>>& sessions() const { return m_sessions; }

    // Forgets a session that may continue: its sender has what is not durable, and begins again with HELLO.
    void drop(const Peer& peer, std::uint64_t session);

    // Calls `release` for the ended sessions of which nothing has come for the time `silence`, and which are durable.
    // Forgets those for which it returns true.
    void forget_ended(lib::Nanoseconds now, lib::Nanoseconds silence, const std::function<bool(const Entry&)>& release);

    [[nodiscard]] const Counters& counters() const { return m_counters; }

  private:
    [[nodiscard]] std::span<const std::byte> hello(const wire::Header& header, const wire::Hello& hello,
                                                   const Peer& peer, lib::Nanoseconds now);
    // Returns UNKNOWN or ABORT; empty if such an answer was sent to the session within kUnknownInterval.
    template <typename Body>
    [[nodiscard]] std::span<const std::byte> rarely(wire::PacketType type, const wire::Header& header, const Peer& peer,
                                                    const Body& body, lib::Nanoseconds now);
    [[nodiscard]] std::span<const std::byte> unknown(const wire::Header& header, const Peer& peer,
                                                     lib::Nanoseconds now);
    [[nodiscard]] Entry* find(const Peer& peer, std::uint64_t session);
    [[nodiscard]] lib::Result<Entry*, wire::RefusalReason> open(const Peer& peer, std::uint64_t session,
                                                                lib::Nanoseconds now);
    [[nodiscard]] std::optional<std::pair<std::size_t, bool>> replaced_by(const Peer& newcomer,
                                                                          lib::Nanoseconds now) const;
    void forget(std::size_t place, bool ended);
    [[nodiscard]] std::uint64_t cookie(const Peer& peer, std::uint64_t session, std::uint64_t period) const;
    [[nodiscard]] std::span<const std::byte> encoded(const Reply& reply, std::uint64_t session,
                                                     const wire::SipKey* key);

    [[nodiscard]] const wire::SipKey* master_key() const { return m_options.key ? &*m_options.key : nullptr; }

    [[nodiscard]] wire::Covers covers() const { return m_options.key ? wire::Covers::packet : wire::Covers::header; }

    StoreProvider& m_provider;
    Options m_options;
    std::vector<std::unique_ptr<Entry>> m_sessions;
    // When UNKNOWN or ABORT may be sent again.
    std::vector<lib::Nanoseconds> m_unknown_from = std::vector<lib::Nanoseconds>(kUnknownPlaces);
    std::uint64_t m_random = 0; // how many random numbers have been sent
    std::array<std::byte, wire::kHeaderBytes + wire::kControlBytes> m_reply{};
    Counters m_counters;
};

} // namespace host::collector::reliable
