// SPDX-License-Identifier: MIT
// What the rows of the failure matrix have in common: a guest, and how far it is let run.
#pragma once

#include "tests/simulation/rows.hpp"

#include <algorithm>
#include <limits>

namespace simulation {

inline constexpr Time kPatience = lib::milliseconds(300'000); // simulated; no run may take longer
inline constexpr Time kForever{std::numeric_limits<std::uint64_t>::max() / 2};

inline Guest::Options some_guest(World& world) {
    return {.boot_id = world.random.next(),
            .packets = world.random.between(1, 150),
            .streams = static_cast<std::uint16_t>(world.random.chance(0.2) ? world.random.between(2, 4) : 1)};
}

inline void set_faults(World& world, const Faults& faults) {
    world.faults = {faults, faults};
}

inline std::size_t index_of(Way way) {
    return static_cast<std::size_t>(way);
}

// One in four has a key, and so has the collector.
inline Guest& add_some_guest(World& world) {
    Guest::Options options = some_guest(world);
    if (world.random.chance(0.25)) {
        world.key = wire::SipKey{world.random.next(), world.random.next()};
        options.key = world.key;
        if (world.receiver != nullptr) {
            world.kill_collector();
            world.start_collector();
        }
    }
    return world.add_guest(options);
}

inline double seconds(Time time) {
    return static_cast<double>(time.value) / 1e9;
}

// Returns how long it took, in s.
inline double finish(World& world, Guest& guest, Time limit = kPatience) {
    const Time begin = world.now;
    world.run_until([&] { return guest.done() || guest.failed(); }, limit, "the transfer does not end");
    require(!guest.failed(), "the sender gave up");
    world.require_delivered(guest);
    return seconds(world.now - begin);
}

// Runs until about this share of the guest's packets has been sent.
inline void run_into_the_middle(World& world, const Guest& guest) {
    const std::uint64_t messages = world.messages + world.random.between(0, 2 * guest.options.packets);
    world.run_until([&] { return world.messages >= messages || guest.done() || guest.failed(); }, kPatience,
                    "the transfer does not begin");
}

inline wire::PacketType type_of(const Bytes& datagram) {
    constexpr std::size_t kTypeOffset = 24;
    return static_cast<wire::PacketType>(datagram.at(kTypeOffset));
}

} // namespace simulation
