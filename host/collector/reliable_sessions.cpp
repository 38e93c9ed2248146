// SPDX-License-Identifier: MIT
#include "host/collector/reliable_sessions.hpp"

#include "host/formats/dat/chunk_begin.hpp"
#include "host/text/format.hpp"
#include "lib/assert.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <sys/random.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace host::collector {

namespace {

constexpr lib::Nanoseconds kAfterEnd = lib::milliseconds(1'000);
constexpr lib::Nanoseconds kAfterEndOfLossy = lib::milliseconds(5'000); // long enough for many repetitions of FIN
constexpr lib::Nanoseconds kAfterPacket = lib::milliseconds(3'000);

// The secret of the cookies must not be guessed. If the system has no randomness it can be, and a stranger may open a
// session.
tracer::reliable::SipKey random_key() {
    tracer::reliable::SipKey key;
    if (::getrandom(&key, sizeof(key), 0) != static_cast<ssize_t>(sizeof(key))) {
        key.first = static_cast<std::uint64_t>(::getpid());
    }
    return key;
}

} // namespace

ReliableSessions::ReliableSessions(Options options, Calls calls, Usage& usage)
    : m_options(std::move(options))
    , m_calls(std::move(calls))
    , m_usage(usage)
    , m_files(
          m_options.journals,
          {.session_bytes = m_options.limits.session_bytes, .total_bytes = m_options.limits.total_bytes},
          [this](const std::string& why) {
              const std::scoped_lock lock(m_reports_mutex);
              m_reports.push_back(why);
          },
          m_options.flush_aside ? reliable::FileStores::Flushes::aside : reliable::FileStores::Flushes::at_once,
          &m_usage.bytes)
    , m_receiver(*this, {.secret = random_key(), .key = m_options.key}) {
    count_earlier();
}

lib::Nanoseconds steady_time() {
    const std::chrono::nanoseconds since = std::chrono::steady_clock::now().time_since_epoch();
    return {static_cast<std::uint64_t>(since.count())};
}

void ReliableSessions::take(std::span<const std::byte> datagram_untrusted, const Address& sender) {
    const auto reply = m_receiver.handle(datagram_untrusted, {sender.ipv4, sender.port}, now());
    if (!reply.empty()) {
        m_calls.send(sender, reply);
    }
    report();
}

void ReliableSessions::tick() {
    if (m_files.event() >= 0) {
        std::uint64_t flushes = 0;
        static_cast<void>(::read(m_files.event(), &flushes, sizeof(flushes))); // before what is done is looked at
    }
    m_receiver.tick(now(), [this](const reliable::Peer& peer, std::span<const std::byte> reply) {
        m_calls.send({peer.ipv4, peer.port}, reply);
    });
    m_receiver.forget_ended(now(), m_options.forget_after,
                            [this](const auto& entry) { return release(entry.peer, entry.number); });
    release_ended();
    pass_on_earlier(false);
    report();
}

void ReliableSessions::report() {
    std::vector<std::string> reports;
    {
        const std::scoped_lock lock(m_reports_mutex);
        reports.swap(m_reports);
    }
    std::ranges::for_each(reports, m_calls.refuse);
    report_forgeries();
    if (!m_full_reported && m_receiver.counters().table_full != 0) {
        m_full_reported = true;
        m_calls.refuse(fmt::format("a machine is refused: {} acknowledged sessions are open, and all of them progress",
                                   reliable::Receiver::kSessionsMax));
    }
}

// Removes the session's journal unless that must be kept. Returns true if the session need not be remembered any more.
bool ReliableSessions::release(const reliable::Peer& peer, std::uint64_t session) {
    if (!m_calls.settled(address_of(peer, session))) {
        return false;
    }
    const Key key{peer.ipv4, peer.port, session};
    const auto passed = m_passed_on.find(key);
    if (passed != m_passed_on.end() && !passed->second.all) {
        return false;
    }
    if (m_kept.erase(key) == 0) {
        if (!m_files.remove(peer, session)) {
            return false;
        }
        m_strangers.erase(key);
    }
    forget_earlier(peer, session);
    m_passed_on.erase(key);
    return true;
}

// What is not received any more may be continued, and is passed on from the beginning if its session is closed. Of what
// was not passed on at all, nothing is remembered: anybody can open such sessions without end.
void ReliableSessions::forgotten(const reliable::Peer& peer, std::uint64_t session, bool ended) {
    const Key key{peer.ipv4, peer.port, session};
    if (ended) {
        forget_earlier(peer, session);
        m_ended.emplace_back(peer, session);
        return;
    }
    const auto passed = m_passed_on.find(key);
    if (passed != m_passed_on.end() && passed->second.all &&
        std::ranges::find(m_earlier, std::pair(peer, session)) != m_earlier.end()) {
        return; // pass_on_earlier() finds out whether it has ended
    }
    abandon(peer, session);
    if (passed != m_passed_on.end() && (passed->second.number == 0 || m_calls.settled(address_of(peer, session)))) {
        m_passed_on.erase(passed);
        m_kept.erase(key);
    }
}

// What is not written elsewhere, too, is kept.
void ReliableSessions::abandon(const reliable::Peer& peer, std::uint64_t session) {
    const Key key{peer.ipv4, peer.port, session};
    const auto passed = m_passed_on.find(key);
    if (m_kept.contains(key) || passed == m_passed_on.end() || !passed->second.all) {
        return;
    }
    if (!m_files.has_journal(peer, session)) {
        m_strangers.erase(key);
        return;
    }
    if (std::ranges::find(m_abandoned, std::pair(peer, session)) == m_abandoned.end()) {
        m_abandoned.emplace_back(peer, session);
    }
}

// A machine that has not heard the end of its session asks again. Then the store exists and needs its journal.
void ReliableSessions::release_ended() {
    std::erase_if(m_ended, [&](const auto& ended) {
        return received_session(ended.first, ended.second) == nullptr && release(ended.first, ended.second);
    });
}

void ReliableSessions::keep(const reliable::Peer& peer, std::uint64_t session) {
    if (m_kept.insert({peer.ipv4, peer.port, session}).second) {
        m_calls.refuse(fmt::format("{}: what came has no place in a session, and stays there",
                                   m_files.stream_path(peer, session, 0)));
    }
}

// Reports the first forgery, the 1024th, and so on.
void ReliableSessions::report_forgeries() {
    constexpr std::uint64_t kLessOften = 1024;
    const std::uint64_t count = m_receiver.counters().unauthentic;
    if (m_options.key && count >= m_forgeries_reported_at) {
        m_calls.refuse(fmt::format("{} that {} not authentic: the machine has another key than --key, or another "
                                   "machine forges them",
                                   count == 1 ? "a datagram came" : fmt::format("{} datagrams came", count),
                                   count == 1 ? "is" : "are"));
        while (count >= m_forgeries_reported_at) {
            m_forgeries_reported_at *= kLessOften;
        }
    }
}

void ReliableSessions::drop(const Address& sender) {
    if (sender.session) {
        const reliable::Peer peer{sender.ipv4, sender.port};
        m_receiver.drop(peer, *sender.session);
        leave_earlier(peer, *sender.session);
        abandon(peer, *sender.session);
        const Key key{sender.ipv4, sender.port, *sender.session};
        m_passed_on.erase(key);
        m_kept.erase(key);
    }
}

void ReliableSessions::sync() {
    static_cast<void>(m_receiver.sync_all());
    if (m_earlier_store != nullptr) { // what has begun is passed on whole
        pass_on_earlier(true);
    }
}

const reliable::Session* ReliableSessions::received_session(const reliable::Peer& peer, std::uint64_t session) const {
    const auto& sessions = m_receiver.sessions();
    const auto found = std::ranges::find_if(
        sessions, [&](const auto& entry) { return entry->peer == peer && entry->number == session; });
    return found == sessions.end() ? nullptr : &(*found)->session;
}

bool ReliableSessions::awaited() const {
    if (!m_earlier.empty()) { // it is passed on by tick()
        return true;
    }
    const lib::Nanoseconds time = now();
    for (const auto& entry : m_receiver.sessions()) {
        if (m_owner && *m_owner != entry->peer) {
            continue;
        }
        const lib::Nanoseconds silence = time - entry->heard;
        const reliable::Session::Counters& seen = entry->session.counters();
        const bool lossy = seen.duplicates != 0 || seen.early != 0 || m_receiver.counters().malformed != 0;
        const lib::Nanoseconds after_end = lossy ? kAfterEndOfLossy : kAfterEnd;
        if (silence < (entry->session.ended() ? after_end : kAfterPacket)) {
            return true;
        }
    }
    return false;
}

bool ReliableSessions::disk_full() const {
    return std::ranges::any_of(m_receiver.sessions(), [](const auto& entry) { return entry->session.disk_full(); });
}

void ReliableSessions::remove_journals() {
    for (const auto& entry : m_receiver.sessions()) {
        const std::pair session(entry->peer, entry->number);
        if (entry->session.ended() || std::ranges::find(m_ended, session) != m_ended.end()) {
            static_cast<void>(release(entry->peer, entry->number));
        }
    }
    release_ended();
    ::rmdir(m_options.journals.c_str()); // fails if a journal is left, which is intended
}

std::shared_ptr<reliable::SessionStore> ReliableSessions::open(const reliable::Peer& peer, std::uint64_t session) {
    if (m_options.alone && m_owner && *m_owner != peer) {
        m_calls.stray(address_of(peer, session));
        return nullptr;
    }
    std::erase(m_abandoned, std::pair(peer, session));
    leave_earlier(peer, session);
    if (!takes_journal(peer, session)) {
        return nullptr;
    }
    auto files = m_files.open(peer, session);
    if (files == nullptr) {
        m_calls.refuse(m_files.why());
        return nullptr;
    }
    return delivering(peer, session, std::move(files));
}

// Returns whether a session may have a journal although it begins with no chunk.
bool ReliableSessions::takes_stranger(const reliable::Peer& peer, std::uint64_t session) {
    const Key key{peer.ipv4, peer.port, session};
    const auto of_address =
        std::ranges::count_if(m_strangers, [&peer](const Key& one) { return std::get<0>(one) == peer.ipv4; });
    const bool takes =
        m_options.key || m_strangers.contains(key) ||
        (m_strangers.size() < m_options.strangers_max && std::cmp_less(of_address, m_options.strangers_of_address_max));
    if (takes) {
        m_strangers.insert(key);
    } else if (!std::exchange(m_strangers_reported, true)) {
        m_calls.refuse(
            fmt::format("{} sessions begin with no chunk, {} of one address: no more are taken without --key",
                        m_strangers.size(), of_address));
    }
    return takes;
}

// Returns whether a session has a journal or may have one. That is asked again when it is made, because many sessions
// may have been opened meanwhile.
bool ReliableSessions::takes_journal(const reliable::Peer& peer, std::uint64_t session) {
    const bool takes = m_files.has_journal(peer, session) || has_journal_left();
    if (!takes && !std::exchange(m_journals_reported, true)) {
        m_calls.refuse(fmt::format("{} has {} journals of sessions that have not ended: move some elsewhere",
                                   m_options.journals, m_options.journals_max));
    }
    return takes;
}

// Returns whether there may be one more journal. If there are too many, some that are written elsewhere, too, are
// removed, the oldest first: several at once, so that not each newcomer searches for one. If there are none, that is
// tried again a second later, because there may be many journals.
bool ReliableSessions::has_journal_left() {
    const auto is_full = [this] { return m_files.journals() >= m_options.journals_max; };
    if (is_full() && (m_listed.value == 0 || now() - m_listed >= lib::milliseconds(1'000))) {
        m_files.recount(); // some may have been moved elsewhere
        const std::size_t most =
            is_full() ? m_options.journals_max - m_options.journals_max / 64 : m_options.journals_max;
        std::erase_if(m_abandoned, [this, most](const auto& session) {
            return m_files.journals() >= most && release(session.first, session.second);
        });
        m_listed = is_full() ? now() : lib::Nanoseconds{};
    }
    m_journals_reported = m_journals_reported && is_full();
    return !is_full();
}

std::shared_ptr<reliable::SessionStore> ReliableSessions::delivering(const reliable::Peer& peer, std::uint64_t session,
                                                                     std::shared_ptr<reliable::SessionStore> files) {
    const Address sender = address_of(peer, session);
    return std::make_shared<DeliveringStore>(
        std::move(files),
        DeliveringStore::Calls{
            .deliver =
                [this, peer, sender](std::uint32_t number, std::span<const std::byte> records) {
                    if (m_options.alone && !m_owner && formats::dat::read_chunk_begin(records)) {
                        m_owner = peer;
                    }
                    if (!m_calls.deliver(sender, number, records)) {
                        keep(peer, *sender.session);
                    }
                },
            .has_room = m_calls.has_room,
            .may_begin =
                [this, peer, session](bool with_chunk) {
                    return takes_journal(peer, session) && (with_chunk || takes_stranger(peer, session));
                },
            .path = [this, peer, session](std::uint16_t stream) { return m_files.stream_path(peer, session, stream); },
            .failed = m_calls.refuse},
        m_passed_on[{peer.ipv4, peer.port, session}]);
}

} // namespace host::collector
