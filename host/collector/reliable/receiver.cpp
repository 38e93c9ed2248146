// SPDX-License-Identifier: MIT
#include "host/collector/reliable/receiver.hpp"

#include <algorithm>
#include <utility>

namespace host::collector::reliable {

std::span<const std::byte> Receiver::handle(std::span<const std::byte> datagram_untrusted, const Peer& peer,
                                            lib::Nanoseconds now) {
    ++m_counters.packets;
    const auto decoded = wire::decode(datagram_untrusted);
    if (!decoded) {
        ++m_counters.malformed;
        return {};
    }
    const wire::Header& header = decoded.value();
    Entry* const entry = find(peer, header.session);
    const bool early = wire::before_session(header.type);
    if (!early && entry == nullptr) {
        return unknown(header, peer, now);
    }
    // Wrong MACs are counted and change nothing, because a limit would let any stranger silence the collector.
    if (!wire::authentic(header, early ? master_key() : &entry->key, datagram_untrusted, covers())) {
        ++m_counters.unauthentic;
        return {};
    }
    if (entry != nullptr && !early) {
        entry->heard = now;
    }
    std::optional<Reply> reply;
    const std::uint64_t before = entry != nullptr ? entry->session.counters().packets : 0;
    switch (header.type) {
    case wire::PacketType::hello:
        return hello(header, wire::decode_body<wire::Hello>(datagram_untrusted), peer, now);
    case wire::PacketType::data:
    case wire::PacketType::fin:
        if (!entry->session.is_open(header.stream)) {
            return unknown(header, peer, now);
        }
        reply = header.type == wire::PacketType::data
                    ? entry->session.data(header, datagram_untrusted.subspan(wire::kHeaderBytes), now)
                    : entry->session.fin(header, wire::decode_body<wire::Totals>(datagram_untrusted));
        break;
    case wire::PacketType::hello_ack:
    case wire::PacketType::ack:
    case wire::PacketType::fin_ack:
    case wire::PacketType::unknown:
    case wire::PacketType::abort:
        ++m_counters.malformed; // only the receiver sends these
        return {};
    }
    if (entry->session.counters().packets != before) {
        entry->progressed = now;
    }
    return reply ? encoded(*reply, header.session, &entry->key) : std::span<const std::byte>{};
}

std::span<const std::byte> Receiver::hello(const wire::Header& header, const wire::Hello& hello, const Peer& peer,
                                           lib::Nanoseconds now) {
    Entry* entry = find(peer, header.session);
    const std::uint64_t period = now.value / kCookiePeriod.value;
    const std::uint64_t valid = cookie(peer, header.session, period);
    const bool proven = hello.cookie == valid ||
                        (period != 0 && hello.cookie == cookie(peer, header.session, period - 1)) ||
                        (entry != nullptr && hello.cookie == entry->cookie);
    if (!proven) {
        ++m_counters.cookies;
        Reply reply{.header = {.type = wire::PacketType::hello_ack,
                               .flags = wire::kFlagCookie,
                               .stream = header.stream,
                               .stamp = header.stamp}};
        wire::SipHash hash(m_options.secret);
        hash.add(++m_random);
        const std::uint64_t random = hash.result();
        wire::encode_body(wire::HelloAck{.cookie = valid,
                                         .crc32c = static_cast<std::uint32_t>(random),
                                         .window = static_cast<std::uint32_t>(random >> 32)},
                          reply.body);
        return encoded(reply, header.session, master_key());
    }
    if (entry == nullptr) {
        const auto opened = open(peer, header.session, now);
        if (!opened) {
            ++m_counters.refused;
            return rarely(wire::PacketType::abort, header, peer, wire::Refusal{.reason = opened.error()}, now);
        }
        entry = opened.value();
    }
    entry->heard = now;
    entry->cookie = hello.cookie;
    entry->key = wire::session_key(m_options.key.value_or(wire::SipKey{}), header.session, hello.cookie);
    const auto reply = entry->session.hello(header, hello, now);
    return reply ? encoded(*reply, header.session, master_key()) : std::span<const std::byte>{};
}

// The MAC of such a packet cannot be checked, because its session key is not known.
std::span<const std::byte> Receiver::unknown(const wire::Header& header, const Peer& peer, lib::Nanoseconds now) {
    ++m_counters.unknown;
    return rarely(wire::PacketType::unknown, header, peer, wire::Totals{}, now);
}

template <typename Body>
std::span<const std::byte> Receiver::rarely(wire::PacketType type, const wire::Header& header, const Peer& peer,
                                            const Body& body, lib::Nanoseconds now) {
    lib::Nanoseconds& from = m_unknown_from[cookie(peer, header.session, 0) / 2 % kUnknownPlaces];
    if (now < from) {
        return {};
    }
    from = now + kUnknownInterval;
    Reply reply{.header = {.type = type, .stream = header.stream, .seq = header.seq, .stamp = header.stamp}};
    wire::encode_body(body, reply.body);
    return encoded(reply, header.session, master_key());
}

void Receiver::tick(lib::Nanoseconds now, const std::function<void(const Peer&, std::span<const std::byte>)>& send) {
    for (const auto& entry : m_sessions) {
        while (const auto reply = entry->session.due(now)) {
            const bool early = wire::before_session(reply->header.type);
            send(entry->peer, encoded(*reply, entry->number, early ? master_key() : &entry->key));
        }
    }
    std::vector<std::pair<Peer, std::uint64_t>> failed;
    std::erase_if(m_sessions, [&failed](const auto& entry) {
        const bool goes = entry->session.failed();
        if (goes) {
            failed.emplace_back(entry->peer, entry->number);
        }
        return goes;
    });
    for (const auto& [peer, session] : failed) {
        m_provider.forgotten(peer, session, false);
    }
}

bool Receiver::sync_all() {
    bool all = true;
    for (const auto& entry : m_sessions) {
        all = entry->session.sync_all() && all;
    }
    return all;
}

Receiver::Entry* Receiver::find(const Peer& peer, std::uint64_t session) {
    const auto found = std::ranges::find_if(
        m_sessions, [&](const auto& entry) { return entry->number == session && entry->peer == peer; });
    return found == m_sessions.end() ? nullptr : found->get();
}

lib::Result<Receiver::Entry*, wire::RefusalReason> Receiver::open(const Peer& peer, std::uint64_t session,
                                                                  lib::Nanoseconds now) {
    const auto leaving = m_sessions.size() == kSessionsMax ? replaced_by(peer, now) : std::nullopt;
    if (m_sessions.size() == kSessionsMax && !leaving) {
        ++m_counters.table_full;
        return wire::RefusalReason::sessions;
    }
    auto store = m_provider.open(peer, session);
    if (store == nullptr) {
        return wire::RefusalReason::store;
    }
    if (leaving) {
        forget(leaving->first, leaving->second);
    }
    m_sessions.push_back(std::make_unique<Entry>(peer, session, std::move(store), now));
    return m_sessions.back().get();
}

// Returns the number of the session that gives up its place, and whether it has ended: if its store states that, and
// its sender has not asked again for a while.
std::optional<std::pair<std::size_t, bool>> Receiver::replaced_by(const Peer& newcomer, lib::Nanoseconds now) const {
    std::vector<Occupant> occupants;
    for (const auto& entry : m_sessions) {
        occupants.push_back(
            {.ipv4 = entry->peer.ipv4,
             .bytes = entry->session.bytes(),
             .silence = now - entry->progressed,
             .over = entry->session.ended() && entry->session.make_all_durable() && now - entry->heard >= kEndedFor});
    }
    const auto replaced = Admission::replaced(occupants, newcomer.ipv4);
    return replaced ? std::optional(std::pair(*replaced, occupants[*replaced].over)) : std::nullopt;
}

// Its sender has what is not durable.
void Receiver::forget(std::size_t place, bool ended) {
    const Peer peer = m_sessions[place]->peer;
    const std::uint64_t session = m_sessions[place]->number;
    m_sessions.erase(m_sessions.begin() + static_cast<std::ptrdiff_t>(place));
    ++m_counters.replaced;
    m_provider.forgotten(peer, session, ended);
}

void Receiver::drop(const Peer& peer, std::uint64_t session) {
    std::erase_if(m_sessions, [&](const auto& entry) { return entry->number == session && entry->peer == peer; });
}

void Receiver::forget_ended(lib::Nanoseconds now, lib::Nanoseconds silence,
                            const std::function<bool(const Entry&)>& release) {
    std::erase_if(m_sessions, [&](const auto& entry) {
        return entry->session.ended() && now - entry->heard >= silence && entry->session.make_all_durable() &&
               release(*entry);
    });
}

// Never returns 0, which means no cookie.
std::uint64_t Receiver::cookie(const Peer& peer, std::uint64_t session, std::uint64_t period) const {
    wire::SipHash hash(m_options.secret);
    hash.add((std::uint64_t{peer.ipv4} << 16) | peer.port);
    hash.add(session);
    hash.add(period);
    return hash.result() | 1;
}

std::span<const std::byte> Receiver::encoded(const Reply& reply, std::uint64_t session, const wire::SipKey* key) {
    ++m_counters.replies;
    wire::Header header = reply.header;
    header.session = session;
    std::ranges::copy(reply.body, m_reply.begin() + wire::kHeaderBytes);
    wire::encode(header, key, m_reply, covers());
    return m_reply;
}

} // namespace host::collector::reliable
