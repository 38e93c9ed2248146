// SPDX-License-Identifier: MIT
#include "tests/simulation/rows.hpp"

#include <algorithm>
#include <limits>

namespace simulation {

namespace {

constexpr Time kPatience = lib::milliseconds(300'000); // simulated; no run may take longer
constexpr Time kForever{std::numeric_limits<std::uint64_t>::max() / 2};

Guest::Options some_guest(World& world) {
    return {.boot_id = world.random.next(),
            .packets = world.random.between(1, 150),
            .streams = static_cast<std::uint16_t>(world.random.chance(0.2) ? world.random.between(2, 4) : 1)};
}

void set_faults(World& world, const Faults& faults) {
    world.faults = {faults, faults};
}

std::size_t index_of(Way way) {
    return static_cast<std::size_t>(way);
}

// One in four has a key, and so has the collector.
Guest& add_some_guest(World& world) {
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

void finish(World& world, Guest& guest, Time limit = kPatience) {
    world.run_until([&] { return guest.done() || guest.failed(); }, limit, "the transfer does not end");
    require(!guest.failed(), "the sender gave up");
    world.require_delivered(guest);
}

// Runs until about this share of the guest's packets has been sent.
void run_into_the_middle(World& world, const Guest& guest) {
    const std::uint64_t messages = world.messages + world.random.between(0, 2 * guest.options.packets);
    world.run_until([&] { return world.messages >= messages || guest.done() || guest.failed(); }, kPatience,
                    "the transfer does not begin");
}

wire::PacketType type_of(const Bytes& datagram) {
    constexpr std::size_t kTypeOffset = 24;
    return static_cast<wire::PacketType>(datagram.at(kTypeOffset));
}

// --- F1 to F5: a bad network -----------------------------------------------------------------------------------------

constexpr std::array kLosses = {0.0, 0.01, 0.1, 0.3, 0.5};

void loss(World& world, Sums& sums) {
    const std::size_t chosen = world.random.between(0, kLosses.size() - 1);
    set_faults(world, {.loss = kLosses[chosen]});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
    sums.packets[chosen] += guest.sink.counters().packets;
    sums.sends[chosen] += guest.sink.counters().sends;
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
void burst(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    run_into_the_middle(world, guest);
    set_faults(world, {.loss = 1});
    const Time begin = world.now;
    world.run_for(lib::microseconds(200 * world.random.between(20, 2'000)));
    // While a stream is being opened, HELLO is repeated after twice the time.
    const Time timeout = std::max(guest.sink.timeout(), world.now - begin);
    set_faults(world, {});
    const std::uint64_t before = guest.sink.counters().acknowledgements + guest.sink.counters().handshakes;
    const Time limit = Time{2 * timeout.value} + lib::milliseconds(220); // HELLO is repeated after 100 ms, then 200 ms
    world.run_until(
        [&] {
            return guest.done() || guest.sink.counters().acknowledgements + guest.sink.counters().handshakes != before;
        },
        limit, "no recovery within two timeouts after a burst");
    finish(world, guest);
}

void duplicates(World& world, Sums& /*sums*/) {
    set_faults(world, {.duplicate = 1, .copies_max = world.random.between(2, 10)});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
}

// Delays of any length up to beyond the smallest timeout: packets overtake each other by a window and more.
void reordering(World& world, Sums& sums) {
    set_faults(world, {.jitter = lib::microseconds(world.random.between(100, 60'000))});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
    sums.packets[0] += guest.sink.counters().packets;
    sums.sends[0] += guest.sink.counters().sends;
}

const char* judge_reordering(const Sums& sums) {
    return static_cast<double>(sums.sends[0]) > 1.05 * static_cast<double>(sums.packets[0])
               ? "more than 5 % of the packets were sent again without a loss"
               : nullptr;
}

void damage(World& world, Sums& /*sums*/) {
    set_faults(world, {.damage = world.random.chance(0.5) ? 1e-4 : 0.1});
    Guest& guest = add_some_guest(world);
    finish(world, guest);
}

// --- F6 to F10: one side is away -------------------------------------------------------------------------------------

void silence(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    run_into_the_middle(world, guest);
    world.faults[index_of(Way::to_guest)].loss = 1;
    const std::uint64_t before = guest.sent_datagrams;
    world.run_for({10 * kSecond.value});
    // A window, ten timeouts, and a HELLO now and then.
    require(guest.sent_datagrams - before <= wire::kWindowPackets + 10 + 20, "no backoff while nothing is answered");
    world.faults[index_of(Way::to_guest)].loss = 0;
    const std::uint64_t session = guest.sink.session();
    finish(world, guest, {5 * kSecond.value});
    require(guest.sink.session() == session, "the session began anew");
}

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

// The collector is killed before every message of its life in one run or another.
void restarts(World& world, Sums& /*sums*/) {
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
}

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
void forgotten(World& world) {
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
}

void lost_tail(World& world, Sums& sums) {
    if (world.random.chance(0.3)) {
        forgotten(world);
    } else {
        kills_at_the_disk(world, sums);
    }
}

void absent(World& world, Sums& /*sums*/) {
    world.kill_collector();
    Guest& guest = add_some_guest(world);
    if (world.random.chance(0.5)) {
        guest.device = [] { return lib::Result<void>(lib::Error::unreachable); }; // the port is closed
    }
    const Time away = lib::milliseconds(world.random.between(100, 60'000));
    world.run_for(away);
    require(guest.sink.state() == tracer::SinkState::busy, "the chunk was not kept");
    require(guest.sent_datagrams <= 8 + away.value / kSecond.value, "no backoff without a collector");
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

// --- F11 to F14: strangers -------------------------------------------------------------------------------------------

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

void disk_full(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    run_into_the_middle(world, guest);
    (world.random.chance(0.5) ? world.disk.full : world.disk.stuck) = true;
    const auto repeated = [&guest] { return guest.sent_datagrams - guest.sink.counters().packets; };
    const std::uint64_t before = repeated();
    world.run_for({60 * kSecond.value});
    const std::uint64_t ends = guest.finish_called_at.value == 0 ? 0 : 100; // four FINs a second, for at most 20 s
    require(repeated() - before <= wire::kWindowPackets + 70 + ends, "more than one probe a second");
    world.disk.full = false;
    world.disk.stuck = false;
    if (guest.failed()) { // the end may not take more than 20 s
        require(guest.sink.last_error() == lib::Error::timeout && guest.finish_called_at.value != 0, "it gave up");
        world.require_prefix(guest);
        return;
    }
    finish(world, guest, {5 * kSecond.value});
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

// --- F15 to F18: ends, the guest's network, liveness -----------------------------------------------------------------

void lost_ends(World& world, Sums& /*sums*/) {
    Guest& guest = add_some_guest(world);
    const wire::PacketType lost = world.random.chance(0.5) ? wire::PacketType::fin : wire::PacketType::fin_ack;
    const double share = world.random.chance(0.3) ? 1.0 : 0.5;
    world.drop = [&world, lost, share](Way, const Bytes& datagram) {
        return type_of(datagram) == lost && world.random.chance(share);
    };
    world.run_until([&] { return guest.done() || guest.failed(); }, kPatience, "the transfer does not end");
    require(world.now - guest.finish_called_at <= lib::milliseconds(21'000), "the end took more than 20 s");
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
void liveness(World& world, Sums& /*sums*/) {
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
        require(guest.sink.last_error() == lib::Error::timeout && guest.finish_called_at.value != 0, "it gave up");
        world.require_prefix(guest);
        return;
    }
    finish(world, guest, {5 * kSecond.value});
}

} // namespace

const std::array<Row, 18> rows = {{
    {"F1", "loss of 0, 1, 10, 30 and 50 % in both directions", &loss, &judge_loss},
    {"F2", "a burst of 200 lost packets", &burst},
    {"F3", "each packet twice to ten times", &duplicates},
    {"F4", "reordering by more than a window, delays beyond the timeout", &reordering, &judge_reordering},
    {"F5", "flipped bits, truncation, trailing bytes", &damage},
    {"F6", "no answer for 10 s", &silence},
    {"F7", "the collector is killed at any message and starts again", &restarts},
    {"F8", "killed between write and sync; its directory removed", &lost_tail},
    {"F9", "no collector at the start, or ever", &absent},
    {"F10", "the guest is reset", &guest_resets},
    {"F11", "two guests with one session number; a forged HELLO", &two_guests},
    {"F12", "answers about the future, the past, another session", &nonsense_answers},
    {"F13", "the disk is full for 60 s", &disk_full},
    {"F14", "packets of an earlier session", &replay},
    {"F15", "FIN or FIN_ACK is lost", &lost_ends},
    {"F16", "no answer to ARP, for a time or ever", &no_address},
    {"F17", "the network card stops for a time", &card_stops},
    {"F18", "any of these, then none: the transfer ends within 5 s", &liveness},
}};

} // namespace simulation
