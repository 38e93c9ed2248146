// SPDX-License-Identifier: MIT
// One simulated run: guests with the real sender, a collector with the real receiver, a network that loses, repeats,
// delays and damages, and a clock that only this program moves. A row (rows.cpp) sets the faults and states what must
// hold; what must always hold is checked here:
//
//   a step receives at most 8 datagrams and sends at most 4; an answer is not longer than its packet, and there are no
//   more answers than packets; a chunk is done only if all its bytes are durable; what is stored is a prefix of what
//   was sent, in order, once.
#pragma once

#include "host/collector/reliable/receiver.hpp"
#include "tests/simulation/disk.hpp"
#include "tests/simulation/failed.hpp"
#include "tests/simulation/random.hpp"
#include "tracer/reliable/sender.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <vector>

namespace simulation {

namespace wire = tracer::reliable;
using Bytes = std::vector<std::byte>;
using Time = lib::Nanoseconds;

constexpr Time kMillisecond = lib::milliseconds(1);
constexpr Time kSecond = lib::milliseconds(1'000);

enum class Way : std::uint8_t {
    to_host,
    to_guest,
};

// Probabilities of one packet in one direction.
struct Faults {
    double loss = 0;
    double duplicate = 0;
    std::uint64_t copies_max = 1;
    double damage = 0;
    Time jitter{}; // a packet takes up to this much longer
};

class World;

class Guest final : public wire::DatagramPeer {
  public:
    struct Options {
        reliable::Peer address{0x0A00'020F, 20000};
        std::uint64_t boot_id = 1;
        std::uint64_t packets = 100; // in all, about
        std::uint16_t streams = 1;
        std::optional<wire::SipKey> key{};
    };

    Guest(World& world, const Options& options);

    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override;

    [[nodiscard]] lib::Result<void> poll() override { return poll_result; }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override;
    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override;

    // As a task that carries chunks would: a step, and the next chunk if there is one.
    void work();
    void arrive(Bytes datagram);

    [[nodiscard]] bool done() const { return m_finish_called && sink.state() == tracer::SinkState::idle; }

    [[nodiscard]] bool failed() const { return sink.state() == tracer::SinkState::failed; }

    [[nodiscard]] const std::map<std::uint16_t, Bytes>& sent() const { return m_sent; }

    wire::ReliableSink sink;
    Options options;
    Time next_step;
    lib::Result<void> poll_result;
    std::function<lib::Result<void>()> device; // null: takes every datagram
    bool check_durable = true;                 // false: the row makes the collector forget
    bool stopped = false;                      // the machine was reset
    std::uint64_t progress = 0;                // datagrams sent or received
    std::uint64_t sent_datagrams = 0;
    Time finish_called_at;

  private:
    struct Chunk {
        Bytes bytes;
        tracer::ChunkImage image;
    };

    void make_chunks();
    void check_carried();

    World& m_world;
    std::deque<Chunk> m_chunks;
    std::size_t m_next_chunk = 0;
    std::map<std::uint16_t, Bytes> m_sent; // of the chunks submitted, by stream
    bool m_finish_called = false;
    std::deque<Bytes> m_inbox;
    std::size_t m_received_in_step = 0;
    std::size_t m_sent_in_step = 0;
    Time m_pause = lib::microseconds(50);
};

class World {
  public:
    explicit World(std::uint64_t seed);

    Guest& add_guest(const Guest::Options& options);

    // Until the condition holds; Failed if it does not before `limit`.
    void run_until(const std::function<bool()>& condition, Time limit, const char* what);
    void run_for(Time time);

    void start_collector();

    void kill_collector() { receiver.reset(); }

    void transmit(Way way, const reliable::Peer& guest, Bytes datagram);

    // The guest has ended, the session is complete and holds exactly what was sent.
    void require_delivered(const Guest& guest);
    // What is stored of the guest is a prefix of what was sent.
    void require_prefix(const Guest& guest);
    [[nodiscard]] const StoredSession* stored(const Guest& guest) const;

    Random random;
    Time now;
    Disk disk;
    std::unique_ptr<reliable::Receiver> receiver;
    std::optional<wire::SipKey> key;
    std::vector<std::unique_ptr<Guest>> guests;
    std::array<Faults, 2> faults{}; // by Way
    Time latency = lib::microseconds(100);
    std::function<bool(Way, const Bytes&)> drop;      // true: this packet is lost
    std::function<void(const Bytes&)> before_message; // at the collector
    bool trace = false;                               // prints every packet
    std::uint64_t messages = 0;                       // that a collector received
    std::uint64_t replies = 0;

  private:
    struct Event {
        Time time;
        std::uint64_t order = 0;
        Way way = Way::to_host;
        reliable::Peer guest;
        Bytes datagram;

        bool operator<(const Event& other) const { return std::tie(other.time, other.order) < std::tie(time, order); }
    };

    void deliver(Event event);
    void print(Way way, const Bytes& datagram, std::string_view fate) const;
    void answer(const reliable::Peer& guest, std::span<const std::byte> reply);
    [[nodiscard]] bool advance(); // false: nothing will happen any more
    Bytes damaged(Bytes datagram);

    std::priority_queue<Event> m_events;
    std::uint64_t m_order = 0;
    Time m_next_tick;
};

} // namespace simulation
