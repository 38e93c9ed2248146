// SPDX-License-Identifier: MIT
// The sink of the network uses TRACER-V2.0 if a collector answers it, else TRACER-V1.0 to the same address. The first
// chunk decides, for the whole run: one session does not mix them.
//
//   choose(automatic) --> first chunk: HELLO of V2 --answer--> V2
//                                          +--none for kAnswerTime--> V1, with the same chunk from its beginning
//
// With wait_for_answer(true), as while the application runs, there is no change to V1: the chunk stays with V2, which
// backs off, until a collector answers. A run without a chunk has only an end to send, and does so by V1 unless V2 was
// chosen. The context of each function is that of ChunkSink.
#pragma once

#include "tracer/export/sink_udp.hpp"
#include "tracer/reliable/datagram_peer.hpp"
#include "tracer/reliable/sender.hpp"

#include <optional>

namespace tracer::reliable {

class NetworkSink final : public ChunkSink {
  public:
    static constexpr lib::Nanoseconds kAnswerTime = lib::milliseconds(1'000);
    static constexpr lib::Nanoseconds kAbsenceTime = lib::milliseconds(5'000);

    struct Limits {
        // These limits send five HELLOs in kAnswerTime.
        ReliableSink::Limits v2{.hello_first = lib::milliseconds(50), .hello_max = lib::milliseconds(500)};
        UdpSink::Limits v1;
    };

    constexpr explicit NetworkSink(DatagramPeer& peer)
        : NetworkSink(peer, Limits{}) {}

    constexpr NetworkSink(DatagramPeer& peer, const Limits& limits)
        : m_peer(peer)
        , m_v2(peer, limits.v2)
        , m_v1(peer, limits.v1) {}

    // Chooses the protocol for the chunks of this run; automatic changes nothing. exists: one has already been sent by
    // another protocol; refused: it is V1, although there is a key.
    [[nodiscard]] lib::Result<void> choose(Protocol protocol);

    // Sets whether to wait for an answer, at first false. A call begins kAnswerTime again.
    void wait_for_answer(bool wait);

    // Does what the function of ReliableSink does.
    void set_boot(std::uint64_t boot_id) { m_v2.set_boot(boot_id); }

    // Does what the function of ReliableSink does. With a key, automatic means V2, because V1 proves nothing.
    void set_key(const SipKey& key);

    // Does what the function of ReliableSink does once a collector has answered; one that never has is given up after
    // kAbsenceTime.
    void set_patience(lib::Nanoseconds patience);

    // Returns the protocol of the chunks, or automatic while it is not decided.
    [[nodiscard]] Protocol used() const { return m_decided ? m_used : Protocol::automatic; }

    [[nodiscard]] const ReliableSink& v2() const { return m_v2; }

    [[nodiscard]] std::string_view name() const override { return "udp"; }

    [[nodiscard]] lib::Result<void> submit(const ChunkImage& image) override;
    SinkState step() override;
    [[nodiscard]] lib::Result<void> finish(const ExportEnd& totals) override;

    [[nodiscard]] SinkState state() const override { return current().state(); }

    [[nodiscard]] lib::Error last_error() const override { return current().last_error(); }

  private:
    [[nodiscard]] ChunkSink& current() { return m_used == Protocol::v1 ? static_cast<ChunkSink&>(m_v1) : m_v2; }

    [[nodiscard]] const ChunkSink& current() const {
        return m_used == Protocol::v1 ? static_cast<const ChunkSink&>(m_v1) : m_v2;
    }

    void use(Protocol protocol);

    DatagramPeer& m_peer;
    ReliableSink m_v2;
    UdpSink m_v1;
    Protocol m_chosen = Protocol::automatic;
    Protocol m_used = Protocol::automatic; // automatic: V2 so far, until it is decided
    bool m_decided = false;
    bool m_keyed = false;
    bool m_waits = false;
    std::optional<lib::Nanoseconds> m_patience; // to be set when there is an answer
    std::optional<lib::Nanoseconds> m_asked_at; // none: no chunk yet
    ChunkImage m_image;                         // of the first chunk, until it is decided
};

} // namespace tracer::reliable
