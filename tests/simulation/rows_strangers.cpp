// SPDX-License-Identifier: MIT
// F11 to F14: packets of others, and a full disk.
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
