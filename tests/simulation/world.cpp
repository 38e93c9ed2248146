// SPDX-License-Identifier: MIT
#include "tests/simulation/world.hpp"

#include "tracer/record/event_table.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace simulation {

namespace {

constexpr Time kTick = lib::milliseconds(5);
constexpr Time kPauseMin = lib::microseconds(50);
constexpr Time kPauseMax = lib::milliseconds(5);
constexpr std::size_t kInboxMax = 32; // frames that a card's memory holds

std::vector<std::byte> random_records(Random& random, std::size_t count) {
    Bytes bytes(count * tracer::kRecordBytes);
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) {
        lib::store_le(std::span(bytes).subspan(i), random.next());
    }
    return bytes;
}

} // namespace

// --- a guest ---------------------------------------------------------------------------------------------------------

Guest::Guest(World& world, const Options& chosen)
    : sink(*this, {.packet_records_max = world.random.chance(0.1) ? 64 : world.random.between(1, 4)})
    , options(chosen)
    , m_world(world) {
    if (options.key) {
        sink.set_key(*options.key);
    }
    make_chunks();
    next_step = world.now;
}

void Guest::make_chunks() {
    Random& random = m_world.random;
    for (std::uint64_t packets = 0; packets < options.packets;) {
        const std::size_t records = random.between(1, 2 * options.packets);
        packets += records / 2;
        Chunk& chunk = m_chunks.emplace_back();
        chunk.bytes = random_records(random, records);
        const std::size_t cut = random.between(0, records) * tracer::kRecordBytes;
        chunk.image.parts[0] = std::span(chunk.bytes).first(cut);
        chunk.image.parts[2] = std::span(chunk.bytes).subspan(cut);
        chunk.image.description.cpu = static_cast<std::uint16_t>(random.between(0, options.streams - 1U));
        chunk.image.description.boot_id = options.boot_id;
        chunk.image.description.tsc_khz = 1'000'000;
    }
}

lib::Result<void> Guest::send(std::span<const std::byte> datagram) {
    if (device) {
        if (const auto taken = device(); !taken) {
            return taken;
        }
    }
    require(++m_sent_in_step <= wire::ReliableSink::kSentPerStep, "a step sent more than 4 datagrams");
    ++progress;
    ++sent_datagrams;
    m_world.transmit(Way::to_host, options.address, Bytes(datagram.begin(), datagram.end()));
    return {};
}

lib::Nanoseconds Guest::now() {
    return m_world.now;
}

lib::Result<std::size_t> Guest::receive(std::span<std::byte> out) {
    if (m_inbox.empty()) {
        return lib::Error::not_found;
    }
    require(++m_received_in_step <= wire::ReliableSink::kReceivedPerStep, "a step received more than 8 datagrams");
    const Bytes datagram = std::move(m_inbox.front());
    m_inbox.pop_front();
    ++progress;
    if (datagram.size() > out.size()) {
        return lib::Error::no_space;
    }
    std::ranges::copy(datagram, out.begin());
    return datagram.size();
}

void Guest::arrive(Bytes datagram) {
    if (m_inbox.size() < kInboxMax) {
        m_inbox.push_back(std::move(datagram));
        next_step = std::min(next_step, m_world.now + lib::microseconds(m_world.random.between(1, 50)));
    }
}

void Guest::work() {
    const std::uint64_t before = progress;
    m_sent_in_step = 0;
    m_received_in_step = 0;
    if (sink.state() == tracer::SinkState::busy) {
        static_cast<void>(sink.step());
    }
    if (sink.state() == tracer::SinkState::idle && !done()) {
        check_carried();
        if (m_next_chunk < m_chunks.size()) {
            const Chunk& chunk = m_chunks[m_next_chunk++];
            Bytes& all = m_sent[chunk.image.description.cpu];
            all.insert(all.end(), chunk.bytes.begin(), chunk.bytes.end());
            require(sink.submit(chunk.image).ok(), "an idle sink refused a chunk");
        } else if (!m_finish_called) {
            m_finish_called = true;
            finish_called_at = m_world.now;
            require(sink.finish({.chunks = static_cast<std::uint32_t>(m_chunks.size())}).ok(), "finish() was refused");
        }
    }
    // A task of the lowest priority runs when it can; one that has nothing to do sleeps longer.
    m_pause = progress != before ? kPauseMin : std::min(Time{m_pause.value * 2}, kPauseMax);
    next_step = m_world.now + Time{m_pause.value + m_world.random.next() % m_pause.value};
}

// The chunks submitted so far will be overwritten: the disk has them.
void Guest::check_carried() {
    const StoredSession* const session = m_world.stored(*this);
    for (const auto& [number, bytes] : m_sent) {
        const auto found = session == nullptr ? decltype(session->streams.begin()){} : session->streams.find(number);
        const bool durable =
            session != nullptr && found != session->streams.end() && found->second.mark.bytes >= bytes.size();
        require(durable || !check_durable, "a chunk was released that is not durable");
    }
}

// --- the network -----------------------------------------------------------------------------------------------------

World::World(std::uint64_t seed)
    : random(seed)
    , now(lib::milliseconds(1 + seed % 1'000)) {
    disk.clock = [this] { return now; };
    disk.flush_time = lib::milliseconds(random.chance(0.5) ? 0 : random.between(1, 40));
    start_collector();
}

Guest& World::add_guest(const Guest::Options& options) {
    return *guests.emplace_back(std::make_unique<Guest>(*this, options));
}

void World::start_collector() {
    require(receiver == nullptr, "two collectors");
    disk.begin_process();
    receiver = std::make_unique<reliable::Receiver>(
        disk, reliable::Receiver::Options{.secret = {random.next(), random.next()}, .key = key});
    m_next_tick = now;
}

void World::transmit(Way way, const reliable::Peer& guest, Bytes datagram) {
    const Faults& fault = faults[static_cast<std::size_t>(way)];
    const bool lost = (drop && drop(way, datagram)) || random.chance(fault.loss);
    if (trace) {
        print(way, datagram, lost ? " lost" : "");
    }
    if (lost) {
        return;
    }
    const std::uint64_t copies = random.chance(fault.duplicate) ? random.between(2, fault.copies_max) : 1;
    for (std::uint64_t i = 0; i < copies; ++i) {
        const Time extra{fault.jitter.value == 0 ? 0 : random.next() % fault.jitter.value};
        m_events.push(
            {now + latency + extra, m_order++, way, guest, random.chance(fault.damage) ? damaged(datagram) : datagram});
    }
}

// A flipped bit, a lost end, or something appended.
Bytes World::damaged(Bytes datagram) {
    switch (random.between(0, 2)) {
    case 0:
        datagram[random.next() % datagram.size()] ^= static_cast<std::byte>(1U << random.between(0, 7));
        break;
    case 1:
        datagram.resize(random.next() % datagram.size());
        break;
    default:
        datagram.insert(datagram.end(), random.between(1, 64), std::byte{0x5A});
    }
    return datagram;
}

void World::print(Way way, const Bytes& datagram, std::string_view fate) const {
    constexpr std::array<std::string_view, 8> kNames = {"",    "HELLO", "HELLO_ACK", "DATA",
                                                        "ACK", "FIN",   "FIN_ACK",   "UNKNOWN"};
    const auto decoded = wire::decode(datagram);
    if (!decoded) {
        return;
    }
    const wire::Header& header = decoded.value();
    fmt::print("{:>12.3f} ms {} {} flags {} stream {} seq {} stamp {:.3f} session {:x}{}\n",
               static_cast<double>(now.value) / 1e6, way == Way::to_host ? "-->" : "<--",
               kNames.at(static_cast<std::size_t>(header.type)), header.flags, header.stream, header.seq,
               static_cast<double>(header.stamp) / 1e6, header.session, fate);
}

void World::deliver(Event event) {
    if (event.way == Way::to_guest) {
        for (const auto& guest : guests) {
            if (guest->options.address == event.guest && !guest->stopped) {
                guest->arrive(event.datagram);
            }
        }
        return;
    }
    if (before_message) {
        before_message(event.datagram);
    }
    if (receiver == nullptr) {
        return;
    }
    ++messages;
    try {
        const auto reply = receiver->handle(event.datagram, event.guest, now);
        if (!reply.empty()) {
            require(reply.size() <= event.datagram.size(), "an answer is longer than its packet");
            answer(event.guest, reply);
        }
    } catch (const Killed&) {
        kill_collector();
    }
}

void World::answer(const reliable::Peer& guest, std::span<const std::byte> reply) {
    require(++replies <= messages, "more answers than packets");
    transmit(Way::to_guest, guest, Bytes(reply.begin(), reply.end()));
}

bool World::advance() {
    Time next = receiver != nullptr ? m_next_tick : Time{~std::uint64_t{0}};
    Guest* first = nullptr;
    for (const auto& guest : guests) {
        if (!guest->stopped && !guest->done() && !guest->failed() && guest->next_step < next) {
            next = guest->next_step;
            first = guest.get();
        }
    }
    if (!m_events.empty() && m_events.top().time <= next) {
        Event event = m_events.top();
        m_events.pop();
        now = std::max(now, event.time);
        deliver(std::move(event));
        return true;
    }
    if (next.value == ~std::uint64_t{0}) {
        return false;
    }
    now = std::max(now, next);
    if (first != nullptr) {
        first->work();
        return true;
    }
    m_next_tick = now + kTick;
    try {
        receiver->tick(now,
                       [this](const reliable::Peer& peer, std::span<const std::byte> reply) { answer(peer, reply); });
    } catch (const Killed&) {
        kill_collector();
    }
    return true;
}

void World::run_until(const std::function<bool()>& condition, Time limit, const char* what) {
    const Time end = now + limit;
    while (!condition()) {
        if (now >= end || !advance()) {
            throw Failed(what);
        }
    }
}

void World::run_for(Time time) {
    const Time end = now + time;
    while (now < end) {
        if (!advance()) {
            now = end;
        }
    }
}

// --- what must hold --------------------------------------------------------------------------------------------------

const StoredSession* World::stored(const Guest& guest) const {
    const reliable::Peer& address = guest.options.address;
    const auto found = disk.sessions().find({address.ipv4, address.port, guest.sink.session()});
    return found == disk.sessions().end() ? nullptr : &found->second;
}

void World::require_prefix(const Guest& guest) {
    const StoredSession* const session = stored(guest);
    for (const auto& [number, stream] : session == nullptr ? decltype(session->streams){} : session->streams) {
        const auto sent = guest.sent().find(number);
        const std::size_t bytes = sent == guest.sent().end() ? 0 : sent->second.size();
        const std::size_t common = std::min(bytes, stream.bytes.size());
        require(std::equal(stream.bytes.begin(), stream.bytes.begin() + static_cast<std::ptrdiff_t>(common),
                           sent == guest.sent().end() ? stream.bytes.begin() : sent->second.begin()),
                "other bytes are stored than were sent");
        const std::span<const std::byte> rest = std::span(stream.bytes).subspan(common);
        for (std::size_t at = 0; at < rest.size(); at += tracer::kRecordBytes) {
            require(tracer::decode_record(rest.subspan(at)).event_code() == tracer::event_code("export_end"),
                    "something is stored that was not sent");
        }
    }
}

void World::require_delivered(const Guest& guest) {
    require(guest.done(), "the sender has not ended");
    require_prefix(guest);
    const StoredSession* const session = stored(guest);
    require(session != nullptr, "no session is stored");
    std::size_t ends = 0;
    for (const auto& [number, bytes] : guest.sent()) {
        const auto found = session->streams.find(number);
        require(found != session->streams.end(), "a stream is missing");
        const StoredStream& stream = found->second;
        require(stream.mark.ended && stream.mark.lost == 0, "a stream is not complete");
        require(stream.mark.bytes == stream.bytes.size(), "a stream is not durable");
        require(stream.bytes.size() >= bytes.size(), "bytes are missing");
        ends += stream.bytes.size() > bytes.size() ? 1U : 0U;
    }
    require(ends == 1, "the totals are not in one stream, once");
}

} // namespace simulation
