// SPDX-License-Identifier: MIT
// Receives TRACER-V2.0 from many senders: which session a datagram belongs to, whether it is authentic, and the answer.
// It owns no socket and no clock: a datagram and the time go in, an answer comes out.
//
// A machine that has not proven that it receives at its address costs no memory: HELLO is answered with a cookie, a
// keyed hash of its address and session number, and only HELLO with that cookie opens a session. A datagram has at most
// one answer, and no answer is longer than it. All limits are compiled in; nothing is allocated by a number from the
// wire. A full table refuses new sessions, with ABORT. It replaces those that have ended, those of which nothing came
// but HELLO for seconds, and those that are silent for minutes: what came is durable, and their senders continue with
// HELLO.
#pragma once

#include "host/collector/reliable/reliable_session.hpp"
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
#include <vector>

namespace host::collector::reliable {

class Receiver {
  public:
    static constexpr std::size_t kSessionsMax = 64;
    static constexpr lib::Nanoseconds kCookiePeriod = lib::milliseconds(64'000); // valid for one to two periods
    static constexpr lib::Nanoseconds kUnknownInterval = lib::milliseconds(20);  // between two UNKNOWN or ABORT, to all
    static constexpr lib::Nanoseconds kSilentMax = lib::milliseconds(300'000);   // of a session in a full table
    static constexpr lib::Nanoseconds kEmptyMax = lib::milliseconds(10'000);     // likewise, if nothing came of it
    static constexpr std::uint64_t kForgeriesMax = std::uint64_t{1} << 20U;      // with a key; then nothing is answered

    struct Options {
        wire::SipKey secret;             // random; of the cookies
        std::optional<wire::SipKey> key; // shared with the senders; none: every sender is believed
        std::uint64_t forgeries_max = kForgeriesMax;
    };

    struct Counters {
        std::uint64_t packets = 0;
        std::uint64_t malformed = 0;   // wrong size, count or CRC
        std::uint64_t unauthentic = 0; // wrong MAC
        std::uint64_t unknown = 0;     // of no session; at most some are answered
        std::uint64_t cookies = 0;     // answered with one
        std::uint64_t refused = 0;     // HELLO, but no session could be opened; at most some are answered
        std::uint64_t table_full = 0;  // of them, because of the others
        std::uint64_t replies = 0;
    };

    // The provider outlives the receiver.
    Receiver(StoreProvider& provider, const Options& options)
        : m_provider(provider)
        , m_options(options) {}

    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;

    // The answer to send to `peer`, valid until the next call; empty: none.
    [[nodiscard]] std::span<const std::byte> handle(std::span<const std::byte> datagram_untrusted, const Peer& peer,
                                                    lib::Nanoseconds now);

    // Sends the answers that were held back and are due, and makes durable what has waited. At least every 10 ms while
    // packets arrive.
    void tick(lib::Nanoseconds now, const std::function<void(const Peer&, std::span<const std::byte>)>& send);

    // For a collector that stops: false if something that was received is not durable.
    [[nodiscard]] bool sync_all();

    struct Entry {
        Peer peer;
        std::uint64_t number = 0;
        std::uint64_t cookie = 0;
        wire::SipKey key;       // of the session
        lib::Nanoseconds heard; // when its last authentic packet came
        Session session;

        Entry(const Peer& from, std::uint64_t session_number, std::unique_ptr<SessionStore> store, lib::Nanoseconds now)
            : peer(from)
            , number(session_number)
            , heard(now)
            , session(std::move(store)) {}
    };

    [[nodiscard]] const std::vector<std::unique_ptr<Entry>>& sessions() const { return m_sessions; }

    // Forgets a session that may continue: what came is durable, and its sender begins again with HELLO. False: it is
    // not.
    [[nodiscard]] bool drop(const Peer& peer, std::uint64_t session);

    // Offers the sessions that have ended and of which nothing has come for so long; forgets those that `release`
    // returns true for. They are durable.
    void forget_ended(lib::Nanoseconds now, lib::Nanoseconds silence, const std::function<bool(const Entry&)>& release);

    [[nodiscard]] const Counters& counters() const { return m_counters; }

  private:
    [[nodiscard]] std::span<const std::byte> hello(const wire::Header& header, const wire::Hello& hello,
                                                   const Peer& peer, lib::Nanoseconds now);
    // UNKNOWN or ABORT; nothing if such an answer was sent a moment ago.
    template <typename Body>
    [[nodiscard]] std::span<const std::byte> rarely(wire::PacketType type, const wire::Header& header, const Body& body,
                                                    lib::Nanoseconds now);
    [[nodiscard]] std::span<const std::byte> unknown(const wire::Header& header, lib::Nanoseconds now);
    [[nodiscard]] Entry* find(const Peer& peer, std::uint64_t session);
    [[nodiscard]] lib::Result<Entry*, wire::RefusalReason> open(const Peer& peer, std::uint64_t session,
                                                                lib::Nanoseconds now);
    [[nodiscard]] bool make_space(lib::Nanoseconds now);
    [[nodiscard]] std::uint64_t cookie(const Peer& peer, std::uint64_t session, std::uint64_t period) const;
    [[nodiscard]] std::span<const std::byte> encoded(const Reply& reply, std::uint64_t session,
                                                     const wire::SipKey* key);

    [[nodiscard]] const wire::SipKey* master_key() const { return m_options.key ? &*m_options.key : nullptr; }

    [[nodiscard]] wire::Covers covers() const { return m_options.key ? wire::Covers::packet : wire::Covers::header; }

    StoreProvider& m_provider;
    Options m_options;
    std::vector<std::unique_ptr<Entry>> m_sessions;
    std::optional<lib::Nanoseconds> m_unknown_at; // when UNKNOWN or ABORT was last sent
    std::uint64_t m_random = 0;                   // how many random numbers have been sent
    std::array<std::byte, wire::kHeaderBytes + wire::kControlBytes> m_reply{};
    Counters m_counters;
};

} // namespace host::collector::reliable
