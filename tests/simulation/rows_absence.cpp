// SPDX-License-Identifier: MIT
// F6 to F10: one side is away.
#include "tests/simulation/steps.hpp"

namespace simulation {

void silence(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    run_into_the_middle(world, guest);
    world.faults[index_of(Way::to_guest)].loss = 1;
    const std::uint64_t before = guest.sent_datagrams;
    world.run_for({10 * kSecond.value});
    // A window, ten timeouts, and a HELLO now and then.
    require(guest.sent_datagrams - before <= wire::kWindowPackets + 10 + 20, "no backoff while nothing is answered");
    world.faults[index_of(Way::to_guest)].loss = 0;
    sums.note("datagrams in 10 s without an answer", static_cast<double>(guest.sent_datagrams - before));
    const std::uint64_t session = guest.sink.session();
    sums.note("s until the end", finish(world, guest, {5 * kSecond.value}));
    require(guest.sink.session() == session, "the session began anew");
}

namespace {

void run_with_restarts(World& world, Guest& guest) {
    while (!guest.done() && !guest.failed()) {
        world.run_until([&] { return guest.done() || guest.failed() || world.receiver == nullptr; }, kPatience,
                        "the transfer does not end");
        if (world.receiver == nullptr) {
            world.run_for(world.random.chance(0.5) ? Time{1} : lib::milliseconds(world.random.between(1, 3'000)));
            world.start_collector();
        }
    }
    require(!guest.failed(), "the sender gave up");
    world.require_delivered(guest);
}

} // namespace

// The collector is killed before every message of its life in one run or another.
void restarts(World& world, Sums& sums) {
    set_faults(world, {.loss = world.random.chance(0.5) ? 0 : 0.1});
    Guest& guest = add_some_guest(world);
    std::uint64_t kills = world.random.between(1, 4);
    std::uint64_t left = world.random.between(0, 2 * guest.options.packets);
    world.before_message = [&](const Bytes&) {
        if (kills != 0 && left-- == 0) {
            --kills;
            left = world.random.between(0, guest.options.packets);
            world.kill_collector();
        }
    };
    run_with_restarts(world, guest);
    sums.note("handshakes", static_cast<double>(guest.sink.counters().handshakes));
}

namespace {

// Killed before or after a write or a sync, in the middle of a message.
void kills_at_the_disk(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    std::uint64_t kills = world.random.between(1, 4);
    std::uint64_t left = world.random.between(0, 3 * guest.options.packets);
    world.disk.at_boundary = [&] {
        if (kills != 0 && left-- == 0) {
            --kills;
            left = world.random.between(0, guest.options.packets);
            throw Killed{};
        }
    };
    run_with_restarts(world, guest);
}

// The directory is gone as well: what the guest no longer has is lost, and both sides know how much.
void forgotten(World& world, Sums& sums) {
    Guest& guest = add_some_guest(world);
    guest.check_durable = false;
    run_into_the_middle(world, guest);
    if (guest.done()) {
        return;
    }
    world.kill_collector();
    world.disk.wipe();
    world.run_for(kMillisecond);
    if (guest.done()) {
        return; // the last answer was on its way
    }
    world.start_collector();
    world.run_until([&] { return guest.done() || guest.failed(); }, kPatience, "the transfer does not end");
    if (guest.done() && guest.sink.counters().lost == 0) {
        world.require_delivered(guest);
        return;
    }
    require(guest.failed() && guest.sink.last_error() == lib::Error::corrupt, "a loss was not reported");
    std::uint64_t lost = 0;
    for (const auto& [number, stream] : world.stored(guest)->streams) {
        lost += stream.mark.lost;
        const Bytes& sent = guest.sent().at(number);
        require(stream.mark.lost == 0 || !stream.mark.ended, "a stream with a gap counts as complete");
        const std::size_t bytes = std::min(stream.bytes.size(), sent.size());
        require(stream.mark.lost != 0 ||
                    std::equal(stream.bytes.begin(), stream.bytes.begin() + std::ptrdiff_t(bytes), sent.begin()),
                "other bytes are stored than were sent");
    }
    require(lost != 0 && lost == guest.sink.counters().lost, "the two sides count different losses");
    sums.note("packets lost with the directory, as both sides count", static_cast<double>(lost));
}

} // namespace

void lost_tail(World& world, Sums& sums) {
    if (world.random.chance(0.3)) {
        forgotten(world, sums);
    } else {
        kills_at_the_disk(world, sums);
    }
}

void absent(World& world, Sums& sums) {
    world.kill_collector();
    Guest& guest = add_some_guest(world);
    if (world.random.chance(0.5)) {
        guest.device = [] { return lib::Result<void>(lib::Error::unreachable); }; // the port is closed
    }
    const Time away = lib::milliseconds(world.random.between(100, 60'000));
    world.run_for(away);
    require(guest.sink.state() == tracer::SinkState::busy, "the chunk was not kept");
    require(guest.sent_datagrams <= 8 + away.value / kSecond.value, "no backoff without a collector");
    sums.note("datagrams a second without a collector",
              static_cast<double>(guest.sent_datagrams) / (1 + seconds(away)));
    guest.device = nullptr;
    if (world.random.chance(0.5)) {
        world.start_collector();
        finish(world, guest);
        return;
    }
    guest.sink.set_patience({5 * kSecond.value});
    world.run_until([&] { return guest.failed(); }, {6 * kSecond.value}, "the sender never gives up");
    require(guest.sink.last_error() == lib::Error::timeout && world.disk.sessions().empty(), "something else happened");
}

namespace {

// Boot after boot with one number, each with another trace: more than a sender tries numbers.
void many_boots(World& world) {
    Guest::Options options = some_guest(world);
    for (int boot = 0; boot < 12; ++boot) {
        options.packets = world.random.between(1, 20);
        Guest& guest = world.add_guest(options);
        finish(world, guest);
        guest.stopped = true;
    }
    require(world.disk.sessions().size() == 12, "two boots are one session");
}

} // namespace

void guest_resets(World& world, Sums& /*sums*/) {
    if (world.random.chance(0.05)) {
        many_boots(world);
        return;
    }
    set_faults(world, {.loss = world.random.chance(0.5) ? 0 : 0.3});
    Guest& first = add_some_guest(world);
    run_into_the_middle(world, first);
    first.stopped = true;
    world.run_for({2 * kSecond.value}); // a machine takes its time to boot
    Guest::Options options = some_guest(world);
    options.boot_id = world.random.chance(0.5) ? first.options.boot_id : options.boot_id;
    options.key = world.key;
    Guest& second = world.add_guest(options);
    finish(world, second);
    if (second.sink.session() != first.sink.session()) {
        world.require_prefix(first);
        const StoredSession* const stored = world.stored(first);
        const bool ended = stored != nullptr && std::ranges::any_of(stored->streams, [](const auto& stream) {
                               return stream.second.mark.ended;
                           });
        require(first.done() || !ended || first.finish_called_at.value != 0, "half a session counts as complete");
    }
}

} // namespace simulation
