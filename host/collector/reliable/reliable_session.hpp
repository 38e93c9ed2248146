// SPDX-License-Identifier: MIT
// The receiving side of one session of TRACER-V2.0 (tracer/reliable/packet.hpp): puts the packets of each stream in
// order, appends them to the store exactly once, and says what is durable. It does not authenticate: receiver.hpp does,
// and sends what is returned here. Each packet has at most one answer: at once if the sender asks, if a packet is
// missing, and for every eighth one in order; else after 10 ms. The sender reads each answer from its card word
// by word.
#pragma once

#include "host/collector/reliable/store.hpp"
#include "lib/units.hpp"
#include "tracer/reliable/packet.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace host::collector::reliable {

namespace wire = tracer::reliable;

// An answer without its session and authentication.
struct Reply {
    wire::Header header;
    std::array<std::byte, wire::kControlBytes> body{};
};

class Session {
  public:
    static constexpr lib::Nanoseconds kAcknowledgeAfter = lib::milliseconds(10);
    static constexpr std::uint32_t kAcknowledgeEvery = 8; // of the packets in order; the window is 64
    static constexpr lib::Nanoseconds kSyncAfter = lib::milliseconds(1'000);
    static constexpr std::uint64_t kSyncBytes = 4U << 20U;
    static constexpr lib::Nanoseconds kHelloSyncInterval = lib::milliseconds(20); // between two syncs for a HELLO

    struct Counters {
        std::uint64_t packets = 0; // appended
        std::uint64_t bytes = 0;
        std::uint64_t duplicates = 0;
        std::uint64_t early = 0; // one before it had not arrived
        std::uint64_t out_of_window = 0;
        std::uint64_t no_space = 0; // a packet could not be appended, or not be made durable
        std::uint64_t lost = 0;     // packets that neither side has any more
    };

    explicit Session(std::unique_ptr<SessionStore> store);
    Session(const Session&) = delete;
    Session& operator=(const Session&) = delete;

    // Opens the stream and states from where on to send. Nothing if what was received cannot be made durable now, or if
    // the disk was flushed for another HELLO a moment ago.
    [[nodiscard]] std::optional<Reply> hello(const wire::Header& header, const wire::Hello& hello,
                                             lib::Nanoseconds now);

    // Nothing if the stream is open and the answer comes later, from due().
    [[nodiscard]] std::optional<Reply> data(const wire::Header& header, std::span<const std::byte> records,
                                            lib::Nanoseconds now);
    [[nodiscard]] std::optional<Reply> fin(const wire::Header& header, const wire::Totals& totals);

    // Whether the stream has been opened by hello().
    [[nodiscard]] bool is_open(std::uint16_t stream) const { return m_streams[stream] != nullptr; }

    // An answer that was held back and is due; to be called until it returns nothing. Syncs what has waited long
    // enough.
    [[nodiscard]] std::optional<Reply> due(lib::Nanoseconds now);

    // Makes durable what has been received; false: something is not. For a collector that stops.
    [[nodiscard]] bool sync_all();

    // Every stream that the sender announced has ended with equal totals, and nothing was lost.
    [[nodiscard]] bool complete() const;

    // The sender has said of every stream that it is at its end.
    [[nodiscard]] bool ended() const { return m_streams_announced != 0 && ended_streams() == m_streams_announced; }

    // No packet has come, to this process or an earlier one.
    [[nodiscard]] bool empty() const { return !m_any; }

    // Of any stream.
    [[nodiscard]] bool disk_full() const;

    [[nodiscard]] const Counters& counters() const { return m_counters; }

  private:
    using Slot = std::vector<std::byte>; // the records of a packet; empty: none

    // Packets received before `received.packets` are appended; later ones wait in the window.
    struct Stream {
        Mark received;
        Mark durable;
        std::uint64_t push_until = 0; // the sender waits until this many packets are durable
        std::uint64_t hello_stamp = 0;
        std::optional<lib::Nanoseconds> acknowledge_at;
        std::uint32_t unanswered = 0; // since the last answer
        lib::Nanoseconds dirty_since; // valid if received != durable
        std::uint64_t newest_stamp = 0;
        bool fin = false;         // the sender has announced its totals
        bool full = false;        // the last append failed
        bool sync_failed = false; // the last sync failed
        std::array<Slot, wire::kWindowPackets> window{};
    };

    // Appends what is in order now. False: the disk is full.
    bool advance(std::uint16_t number, lib::Nanoseconds now);
    [[nodiscard]] bool make_durable(std::uint16_t number);
    [[nodiscard]] Reply acknowledgement(std::uint16_t number);
    [[nodiscard]] bool holds_more_than(std::uint16_t number) const;
    [[nodiscard]] std::size_t ended_streams() const;

    std::unique_ptr<SessionStore> m_store;
    std::array<std::unique_ptr<Stream>, wire::kStreamsMax> m_streams;
    std::size_t m_streams_announced = 0;
    bool m_any = false;                              // a packet has come
    std::optional<lib::Nanoseconds> m_hello_sync_at; // when the disk was last flushed for a HELLO
    Counters m_counters;
};

} // namespace host::collector::reliable
