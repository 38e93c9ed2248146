// SPDX-License-Identifier: MIT
// F15 to F18: ends, the guest's network, liveness.
#include "tests/simulation/steps.hpp"

namespace simulation {

void lost_ends(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    const wire::PacketType lost = world.random.chance(0.5) ? wire::PacketType::fin : wire::PacketType::fin_ack;
    const double share = world.random.chance(0.3) ? 1.0 : 0.5;
    world.drop = [&world, lost, share](Way, const Bytes& datagram) {
        return type_of(datagram) == lost && world.random.chance(share);
    };
    world.run_until([&] { return guest.done() || guest.failed(); }, kPatience, "the transfer does not end");
    require(world.now - guest.finish_called_at <= lib::milliseconds(21'000), "the end took more than 20 s");
    sums.note("s until the end", seconds(world.now - guest.finish_called_at));
    const StoredSession* const stored = world.stored(guest);
    require(stored != nullptr, "no session is stored");
    const bool complete =
        std::ranges::all_of(stored->streams, [](const auto& stream) { return stream.second.mark.ended; });
    if (guest.done()) {
        world.require_delivered(guest);
    } else {
        require(guest.sink.last_error() == lib::Error::timeout, "it failed for another reason");
        require(share == 1.0, "half of the packets arrive, and it gave up");
        require(!complete || lost == wire::PacketType::fin_ack, "complete without an end");
    }
    world.require_prefix(guest);
}

void no_address(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    const bool forever = world.random.chance(0.3);
    const Time asking = world.now + kSecond;
    const Time answered = forever ? kForever : world.now + lib::milliseconds(world.random.between(1, 20'000));
    guest.device = [&world, asking, answered] {
        if (world.now >= answered) {
            return lib::Result<void>{};
        }
        return lib::Result<void>(world.now < asking ? lib::Error::busy : lib::Error::unreachable);
    };
    if (!forever) {
        finish(world, guest);
        return;
    }
    guest.sink.set_patience({10 * kSecond.value});
    world.run_until([&] { return guest.failed(); }, {11 * kSecond.value}, "the sender never gives up");
}

void card_stops(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    Time stopped_until;
    guest.device = [&world, &stopped_until] {
        if (world.now >= stopped_until && world.random.chance(0.02)) {
            stopped_until = world.now + lib::milliseconds(world.random.between(1, 200));
        }
        return world.now < stopped_until ? lib::Result<void>(lib::Error::busy) : lib::Result<void>{};
    };
    finish(world, guest);
}

// Any of the failures together; then none, and the transfer ends within 5 s.
void liveness(World& world, Sums& sums) {
    Random& random = world.random;
    Guest& guest = add_some_guest(world);
    for (std::uint64_t phases = random.between(1, 5); phases != 0; --phases) {
        for (Faults& faults : world.faults) {
            faults = {.loss = random.chance(0.2) ? 1 : static_cast<double>(random.between(0, 70)) / 100,
                      .duplicate = random.chance(0.3) ? 0.5 : 0,
                      .copies_max = 5,
                      .damage = random.chance(0.3) ? 0.2 : 0,
                      .jitter = random.chance(0.3) ? lib::milliseconds(random.between(1, 100)) : Time{}};
        }
        world.disk.full = random.chance(0.1);
        world.disk.stuck = random.chance(0.1);
        const bool stuck = random.chance(0.1);
        guest.device = [stuck] { return stuck ? lib::Result<void>(lib::Error::busy) : lib::Result<void>{}; };
        if (random.chance(0.3)) {
            world.kill_collector();
        }
        world.run_for(lib::milliseconds(random.between(1, random.chance(0.1) ? 30'000 : 1'000)));
        if (world.receiver == nullptr) {
            world.start_collector();
        }
    }
    set_faults(world, {});
    world.disk.full = false;
    world.disk.stuck = false;
    guest.device = nullptr;
    if (guest.failed()) { // the end may not take more than 20 s
        const lib::Error why = guest.sink.last_error();
        require((why == lib::Error::timeout || why == lib::Error::no_space) && guest.finish_called_at.value != 0,
                "it gave up");
        world.require_prefix(guest);
        return;
    }
    sums.note("s until the end", finish(world, guest, {5 * kSecond.value}));
}

} // namespace simulation
