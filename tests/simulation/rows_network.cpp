// SPDX-License-Identifier: MIT
// F1 to F5 and F20: a bad network.
#include "tests/simulation/steps.hpp"

namespace simulation {

namespace {

constexpr std::array kLosses = {0.0, 0.01, 0.1, 0.3, 0.5};

} // namespace

void loss(World& world, Sums& sums) {
    const std::size_t chosen = world.random.between(0, kLosses.size() - 1);
    set_faults(world, {.loss = kLosses[chosen]});
    Guest& guest = add_some_guest(world);
    const double seconds = finish(world, guest);
    if (chosen + 1 == kLosses.size()) {
        sums.note("s until the end, 50 % loss", seconds);
    }
    sums.packets[chosen] += guest.sink.counters().packets;
    sums.sends[chosen] += guest.sink.counters().sends;
    if (guest.sink.counters().packets > 30) { // of fewer, chance says more than the loss
        constexpr std::array<std::string_view, kLosses.size()> kNames = {
            "sends for each packet, 0 % loss", "sends for each packet, 1 % loss", "sends for each packet, 10 % loss",
            "sends for each packet, 30 % loss", "sends for each packet, 50 % loss"};
        sums.note(kNames[chosen], static_cast<double>(guest.sink.counters().sends) /
                                      static_cast<double>(guest.sink.counters().packets));
    }
}

// What is lost must be sent again: 1 / (1 - loss). Chance and the last packets of a chunk add a little.
const char* judge_loss(const Sums& sums) {
    constexpr std::array kSendsMax = {1.01, 1.05, 1.2, 1.6, 2.6};
    for (std::size_t i = 0; i < kSendsMax.size(); ++i) {
        const double sends = static_cast<double>(sums.sends[i]);
        if (sums.packets[i] > 5'000 && sends > kSendsMax[i] * static_cast<double>(sums.packets[i])) {
            return "more sends for each packet than the loss explains";
        }
    }
    return nullptr;
}

// Everything is lost for as long as 200 packets take.
void burst(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    run_into_the_middle(world, guest);
    const bool open = guest.sink.counters().handshakes != 0;
    set_faults(world, {.loss = 1});
    const Time begin = world.now;
    world.run_for(lib::microseconds(200 * world.random.between(20, 2'000)));
    // While a stream is being opened, HELLO is repeated after twice the time.
    const Time timeout = std::max(guest.sink.timeout(), world.now - begin);
    set_faults(world, {});
    const Time end = world.now;
    const std::uint64_t before = guest.sink.counters().acknowledgements + guest.sink.counters().handshakes;
    const Time limit = Time{2 * timeout.value} + lib::milliseconds(220); // HELLO is repeated after 100 ms, then 200 ms
    world.run_until(
        [&] {
            return guest.done() || guest.sink.counters().acknowledgements + guest.sink.counters().handshakes != before;
        },
        limit, "no recovery within two timeouts after a burst");
    sums.note("ms until an answer", 1e3 * seconds(world.now - end));
    if (guest.options.streams == 1 && open) {
        sums.note("timeouts until an answer, of an open stream", seconds(world.now - end) / seconds(timeout));
    }
    finish(world, guest);
}

void duplicates(World& world, Sums& sums) {
    set_faults(world, {.duplicate = 1, .copies_max = world.random.between(2, 10)});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
    sums.note("answers for each packet", static_cast<double>(world.replies) / static_cast<double>(world.messages));
}

// Delays of any length up to beyond the smallest timeout: packets overtake each other by a window and more.
void reordering(World& world, Sums& sums) {
    set_faults(world, {.jitter = lib::microseconds(world.random.between(100, 60'000))});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
    sums.packets[0] += guest.sink.counters().packets;
    sums.sends[0] += guest.sink.counters().sends;
    if (guest.sink.counters().packets > 30) {
        sums.note("packets sent again, of 100", 100 * (static_cast<double>(guest.sink.counters().sends) /
                                                           static_cast<double>(guest.sink.counters().packets) -
                                                       1));
    }
}

const char* judge_reordering(const Sums& sums) {
    return static_cast<double>(sums.sends[0]) > 1.05 * static_cast<double>(sums.packets[0])
               ? "more than 5 % of the packets were sent again without a loss"
               : nullptr;
}

void damage(World& world, Sums& sums) {
    set_faults(world, {.damage = world.random.chance(0.5) ? 1e-4 : 0.1});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
    sums.note("packets rejected",
              static_cast<double>(world.receiver->counters().malformed + guest.sink.counters().malformed));
}

// Only packets of many records are lost, on both ways; HELLO and its answers are not.
void short_path(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    constexpr std::size_t kBytesMax = 400;
    world.drop = [](Way, const Bytes& datagram) { return datagram.size() > kBytesMax; };
    sums.note("s until the end", finish(world, guest, {10 * kSecond.value}));
}

} // namespace simulation
