// SPDX-License-Identifier: MIT
// The receive loop waits in poll() and never spins.
#include "host/collector/collector.hpp"

#include "host/text/format.hpp"
#include "tracer/export/wire.hpp"

#include <algorithm>
#include <fmt/chrono.h>
#include <sys/resource.h>
#include <utility>

namespace host::collector {

namespace {

constexpr std::chrono::milliseconds kPoll{100};
constexpr std::chrono::milliseconds kPollReliable{10}; // an answer of the receiver may be due
constexpr std::chrono::milliseconds kReport{1000};
// Every datagram of the protocol fits; a longer one is malformed because of its size.
constexpr std::size_t kDatagramBytesMax = 65536;

ReliableSessions::Options reliable_options(const CollectOptions& options) {
    const bool alone = options.directory != nullptr;
    return {.journals = alone ? ReliableSessions::journals_of(options.directory->path())
                              : ReliableSessions::journals_in(options.serve->path()),
            .limits = options.limits,
            .alone = alone,
            .beside = options.force,
            .flush_aside = true,
            .key = options.key};
}

// Senders may hold a quarter of the descriptors that the process may open. An open session has three of them: its
// directory, its lock and its file.
Limits within_descriptors(Limits limits) {
    constexpr std::size_t kOthers = SessionTable::kClosingMax * 2 + reliable::FileStores::kOpenMax + 20;
    rlimit descriptors{};
    if (::getrlimit(RLIMIT_NOFILE, &descriptors) == 0 && descriptors.rlim_cur != RLIM_INFINITY) {
        const std::size_t quarter = descriptors.rlim_cur / 4;
        limits.sessions = std::min(limits.sessions, quarter > kOthers + 3 ? (quarter - kOthers) / 3 : 1);
    }
    return limits;
}

} // namespace

Collector::Collector(UdpSocket& socket, const CollectOptions& options, Observer& observer)
    : m_socket(socket)
    , m_observer(observer)
    , m_options(options)
    , m_buffer(kDatagramBytesMax)
    , m_table(std::exchange(m_options.directory, nullptr), std::exchange(m_options.serve, nullptr),
              within_descriptors(options.limits), observer)
    , m_reliable(
          reliable_options(options),
          {.deliver =
               [this](const Address& sender, std::uint32_t number, std::span<const std::byte> records) {
                   return m_table.take(sender, number, records, Clock::now());
               },
           .open_beside = [this](const Address& sender,
                                 std::uint64_t boot_id) { return m_table.open_beside(sender, boot_id, Clock::now()); },
           .send = [this](const Address& to, std::span<const std::byte> reply) { m_socket.send(reply, to); },
           .refuse = [this](const std::string& why) { m_observer.refused(why); },
           .stray = [this](const Address& sender) { m_table.count_refused(sender); },
           .settled = [this](const Address& sender) { return m_table.settled(sender); },
           .has_room = [this] { return m_table.has_room(); }},
          m_table.usage()) {}

SessionTable::Outcome Collector::run() {
    m_started = Clock::now();
    Clock::time_point reported = m_started;
    m_reliable.begin();
    std::string stopped;
    while (!ended() && stopped.empty()) {
        const auto poll = m_reliable.awaited() ? kPollReliable : kPoll;
        if (m_socket.wait(static_cast<int>(poll.count()), m_reliable.event()) && !drain()) {
            stopped = "the socket failed";
        }
        m_table.release(m_observer.take_freed());
        const Clock::time_point now = Clock::now();
        m_reliable.tick();
        m_table.set_malformed_acknowledged(m_reliable.malformed());
        for (const Address& cut : m_table.tick(now, m_options.idle_timeout)) {
            m_reliable.drop(cut);
        }
        if (now - reported >= kReport) {
            reported = now;
            m_observer.progress(m_table.progress());
        }
        if (stopped.empty()) {
            stopped = reason_to_stop(now);
        }
    }
    const bool full = m_reliable.disk_full();
    m_reliable.sync(); // what sync() passes on belongs to sessions that are still open
    m_table.close_all(stopped);
    SessionTable::Outcome outcome = m_table.outcome();
    m_reliable.remove_journals(); // of sessions that are on the disk
    if (full && !outcome.error) {
        outcome.error = lib::Error::no_space;
    }
    return outcome;
}

// Takes waiting datagrams for a bounded time, so that answers, timeouts and signals do not wait for the end of a flood.
bool Collector::drain() {
    const Clock::time_point until = Clock::now() + kPollReliable;
    for (Clock::time_point now; !ended() && now < until;) {
        now = Clock::now();
        const auto datagram = m_socket.receive(m_buffer);
        if (!datagram) {
            return datagram.error() == lib::Error::busy || datagram.error() == lib::Error::unreachable;
        }
        m_table.set_socket_overflow(m_socket.overflows());
        take(std::span(m_buffer).first(std::min(datagram.value().size_bytes, m_buffer.size())), datagram.value().sender,
             now);
    }
    return true;
}

void Collector::take(std::span<const std::byte> datagram, const Address& sender, Clock::time_point now) {
    if (tracer::reliable::is_version_2(datagram)) {
        m_reliable.take(datagram, sender);
        return;
    }
    const auto header = tracer::decode_packet_header(datagram);
    if (m_options.key) {
        if (header) {
            m_observer.refused("packets of TRACER-V1.0 come, which no key authenticates: a machine without the key, or "
                               "with PROTOCOL=v1");
        }
        return;
    }
    if (!header || header.value().number == 0 || header.value().records > tracer::kPacketRecordsMax) {
        m_table.count_malformed(sender);
        return;
    }
    m_table.take(sender, header.value().number, datagram.subspan(tracer::kPacketHeaderBytes), now);
}

std::string Collector::reason_to_stop(Clock::time_point now) const {
    if (m_options.stop != nullptr && *m_options.stop != 0) {
        return "asked to stop";
    }
    if (m_options.timeout && now - m_started >= *m_options.timeout) {
        return fmt::format("no end within {}", *m_options.timeout);
    }
    return {};
}

} // namespace host::collector
