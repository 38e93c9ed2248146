// SPDX-License-Identifier: MIT
// F11 to F14 and F19: packets of others, and a full disk.
#include "tests/simulation/steps.hpp"

namespace simulation {

namespace {

Bytes packet(const wire::Header& header, const wire::SipKey* key, std::uint64_t first = 0, std::uint64_t second = 0,
             wire::Covers covers = wire::Covers::packet) {
    Bytes bytes(wire::kHeaderBytes + wire::kControlBytes);
    lib::store_le(std::span(bytes).subspan(wire::kHeaderBytes), first);
    lib::store_le(std::span(bytes).subspan(wire::kHeaderBytes + sizeof(first)), second);
    wire::encode(header, key, bytes, covers);
    return bytes;
}

// The key of the guest's session, or null while the collector has none.

const wire::SipKey* session_key_of(const World& world, const Guest& guest) {
    for (const auto& entry : world.receiver->sessions()) {
        if (entry->number == guest.sink.session() && entry->peer == guest.options.address) {
            return &entry->key;
        }
    }
    return nullptr;
}

} // namespace

void two_guests(World& world, Sums& /*sums*/) {
    Guest& first = add_some_guest(world);
    Guest::Options options = some_guest(world);
    options.boot_id = first.options.boot_id;
    options.address.port = 20001;
    options.key = world.key;
    Guest& second = world.add_guest(options);
    run_into_the_middle(world, first);
    if (world.key) {
        // Another session is demanded in the first guest's name, with another key or none.
        const wire::SipKey wrong{world.random.next(), world.random.next()};
        const wire::Header header{.type = wire::PacketType::hello, .session = world.random.next()};
        const std::size_t sessions = world.receiver->sessions().size();
        const std::uint64_t unauthentic = world.receiver->counters().unauthentic;
        for (const wire::SipKey* key : {&wrong, static_cast<const wire::SipKey*>(nullptr)}) {
            require(world.receiver->handle(packet(header, key), first.options.address, world.now).empty(),
                    "a forged HELLO was answered");
        }
        require(world.receiver->sessions().size() == sessions &&
                    world.receiver->counters().unauthentic == unauthentic + 2,
                "a forged HELLO was not counted");
    }
    finish(world, first);
    finish(world, second);
}

void nonsense_answers(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    for (int i = 0; i < 20; ++i) {
        run_into_the_middle(world, guest);
        if (guest.done()) {
            break;
        }
        wire::Header header{.type = wire::PacketType::ack, .session = guest.sink.session(), .stamp = world.now.value};
        std::uint64_t received = 0;
        std::uint64_t window = std::uint64_t{64} << 32;
        // Half of it from a machine that knows the key, half of it from a stranger.
        const wire::SipKey* key = session_key_of(world, guest);
        const bool stranger = key == nullptr || world.random.chance(0.5);
        switch (world.random.between(0, 6)) {
        case 0: // the future
            header.seq = (std::uint64_t{1} << world.random.between(20, 62));
            break;
        case 1: // packets that were never sent
            received = ~std::uint64_t{0};
            break;
        case 2: // more is not durable than was ever received
            window |= 0xFFFF'FFFF;
            break;
        case 3:
            header.session ^= std::uint64_t{1} << world.random.between(0, 63);
            break;
        case 4: // an answer to what has not been sent yet
            header.stamp += kSecond.value;
            break;
        case 5: // to a packet that was not sent at that time
            header.type = wire::PacketType::unknown;
            header.stamp -= world.random.between(1, kSecond.value);
            break;
        default:
            header.type = wire::PacketType::hello_ack; // to no HELLO
            header.stamp = 1;
        }
        const std::uint64_t before = guest.sink.counters().ignored + guest.sink.counters().unauthentic;
        const wire::SipKey* const master = world.key ? &*world.key : nullptr;
        key = wire::before_session(header.type) ? master : key;
        guest.arrive(packet(header, stranger ? nullptr : key, received, window,
                            world.key ? wire::Covers::packet : wire::Covers::header));
        world.run_until(
            [&] { return guest.done() || guest.sink.counters().ignored + guest.sink.counters().unauthentic != before; },
            kSecond, "nonsense was not counted");
    }
    finish(world, guest);
}

void disk_full(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    run_into_the_middle(world, guest);
    (world.random.chance(0.5) ? world.disk.full : world.disk.stuck) = true;
    const auto repeated = [&guest] { return guest.sent_datagrams - guest.sink.counters().packets; };
    const std::uint64_t before = repeated();
    world.run_for({60 * kSecond.value});
    const std::uint64_t ends = guest.finish_called_at.value == 0 ? 0 : 100; // four FINs a second, for at most 20 s
    require(repeated() - before <= wire::kWindowPackets + 70 + ends, "more than one probe a second");
    if (ends == 0) {
        sums.note("probes a second", static_cast<double>(repeated() - before) / 60);
    }
    world.disk.full = false;
    world.disk.stuck = false;
    if (guest.failed()) { // the end may not take more than 20 s
        const lib::Error why = guest.sink.last_error();
        require((why == lib::Error::timeout || why == lib::Error::no_space) && guest.finish_called_at.value != 0,
                "it gave up");
        world.require_prefix(guest);
        return;
    }
    sums.note("s until the end", finish(world, guest, {5 * kSecond.value}));
}

namespace {

// A machine that sends what it can and does not see what others send. Without the shared key it forges MACs; it asks
// for sessions, and if it gets them, sends a packet of one record, or a window that begins with a gap. In the guest's
// name it sends packets of sessions that do not exist.
class Flooder {
  public:
    Flooder(World& world, std::uint32_t ipv4)
        : m_world(world)
        , m_ipv4(ipv4) {}

    void open_session() {
        const reliable::Peer peer{m_ipv4, static_cast<std::uint16_t>(m_world.random.between(1'024, 65'535))};
        wire::Header header{.type = wire::PacketType::hello, .session = m_world.random.next()};
        const auto cookie = send(packet(header, nullptr), peer);
        const auto opened = cookie.empty() ? cookie : send(packet(header, nullptr, cookie_in(cookie)), peer);
        if (opened.empty() || wire::decode(opened).value().type != wire::PacketType::hello_ack) {
            return;
        }
        const wire::SipKey key = wire::session_key({}, header.session, cookie_in(opened));
        header.type = wire::PacketType::data;
        if (m_world.random.chance(0.9)) {
            send(data(header, key, 1), peer);
            return;
        }
        for (header.seq = 1; header.seq < wire::kWindowPackets; ++header.seq) {
            send(data(header, key, wire::kRecordsMax), peer);
        }
    }

    void forge(const Guest& guest) {
        const wire::SipKey wrong{m_world.random.next(), m_world.random.next()};
        send(packet({.type = wire::PacketType::hello, .session = guest.sink.session()}, &wrong), guest.options.address);
        send(data({.type = wire::PacketType::data, .session = m_world.random.next()}, wrong, 1), guest.options.address);
        send(packet({.type = wire::PacketType::fin, .session = m_world.random.next()}, nullptr), {m_ipv4, 7});
    }

  private:
    static std::uint64_t cookie_in(const Bytes& reply) { return wire::decode_body<wire::HelloAck>(reply).cookie; }

    Bytes data(const wire::Header& header, const wire::SipKey& key, std::size_t records) {
        Bytes bytes(wire::kHeaderBytes + records * tracer::kRecordBytes, std::byte{1});
        wire::encode(header, &key, bytes, m_world.key ? wire::Covers::packet : wire::Covers::header);
        return bytes;
    }

    Bytes send(const Bytes& datagram, const reliable::Peer& peer) {
        const auto reply = m_world.receiver->handle(datagram, peer, m_world.now);
        ++m_world.messages;
        m_world.replies += reply.empty() ? 0U : 1U;
        return {reply.begin(), reply.end()};
    }

    World& m_world;
    std::uint32_t m_ipv4;
};

} // namespace

void flood(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    const bool same_address = world.random.chance(0.5);
    Flooder flooder(world, guest.options.address.ipv4 + (same_address ? 0 : 1));
    for (std::size_t i = 0; i < reliable::Receiver::kSessionsMax; ++i) {
        flooder.open_session();
    }
    const std::uint64_t sessions_each_time = world.random.between(1, 8);
    const Time begin = world.now;
    while (!guest.done()) {
        require(!guest.failed() && world.now - begin < Time{2 * kSecond.value}, "the machine is kept waiting");
        for (std::uint64_t i = 0; i < sessions_each_time; ++i) {
            flooder.open_session();
            flooder.forge(guest);
        }
        world.run_for(lib::milliseconds(2));
    }
    world.require_delivered(guest);
    std::size_t early = 0;
    for (const auto& entry : world.receiver->sessions()) {
        early += entry->session.early_packets();
    }
    require(world.receiver->sessions().size() <= reliable::Receiver::kSessionsMax &&
                early <= reliable::Receiver::kSessionsMax * reliable::Session::kEarlyMax,
            "a stranger holds more than the limits");
    sums.note(same_address ? "s until the end, flooded from its address" : "s until the end, flooded from elsewhere",
              static_cast<double>((world.now - begin).value) / static_cast<double>(kSecond.value));
}

void replay(World& world, Sums& /*sums*/) {
    Guest& first = add_some_guest(world);
    std::vector<Bytes> recorded;
    world.before_message = [&](const Bytes& datagram) { recorded.push_back(datagram); };
    finish(world, first);
    world.before_message = nullptr;
    const StoredStream stored = world.stored(first)->streams.begin()->second;
    world.kill_collector();
    world.start_collector();
    Guest::Options options = some_guest(world);
    options.key = world.key;
    Guest& second = world.add_guest(options);
    const Time begin = world.now;
    for (const Bytes& datagram : recorded) {
        world.transmit(Way::to_host, first.options.address, datagram);
        world.run_for(lib::microseconds(world.random.between(1, 100)));
    }
    finish(world, second);
    const Time elapsed = world.now - begin;
    require(world.receiver->counters().replies <= second.sent_datagrams + world.receiver->counters().cookies + 1 +
                                                      elapsed.value / reliable::Receiver::kUnknownInterval.value,
            "old packets were answered more often than once in 20 ms");
    const StoredStream& after = world.stored(first)->streams.begin()->second;
    require(after.bytes == stored.bytes && after.mark == stored.mark, "old packets changed what is stored");
}

} // namespace simulation
