// SPDX-License-Identifier: MIT
#include "host/collector/reliable/receiver.hpp"

#include "lib/crc32c.hpp"

#include <algorithm>
#include <utility>

namespace host::collector::reliable {

namespace {

template <typename Body>
Reply reply_to(const wire::Header& header, wire::PacketType type, std::uint64_t seq, const Body& body) {
    Reply reply{.header = {.type = type, .stream = header.stream, .seq = seq, .stamp = header.stamp}};
    wire::encode_body(body, reply.body);
    return reply;
}

} // namespace

Session::Session(std::unique_ptr<SessionStore> store)
    : m_store(std::move(store)) {}

std::optional<Reply> Session::hello(const wire::Header& header, const wire::Hello& hello, lib::Nanoseconds now) {
    auto& place = m_streams[header.stream];
    if (place == nullptr) {
        place = std::make_unique<Stream>();
        place->durable = m_store->durable(header.stream);
        place->received = place->durable;
        m_any = m_any || place->durable.packets != 0;
        m_counters.lost += place->durable.lost;
    }
    Stream& stream = *place;
    if (stream.hello_stamp != header.stamp) {
        // A sender that begins again also sends again what is in the window, perhaps with other contents, from another
        // boot.
        for (Slot& slot : stream.window) {
            slot = {};
        }
        stream.hello_stamp = header.stamp;
        stream.newest_stamp = 0;
        stream.push_until = 0;
        stream.unanswered = 0;
        stream.acknowledge_at.reset();
    }
    // A sender of which nothing has been acknowledged has lost nothing, so a loss, and with it the stream, belongs to
    // another run.
    const bool other_run =
        (header.flags & wire::kFlagFresh) != 0 && (holds_more_than(header.stream) || stream.received.lost != 0);
    const bool loses = header.seq > stream.received.packets && !stream.received.ended;
    if (loses || stream.durable != stream.received) {
        if (m_hello_sync_at && now - *m_hello_sync_at < kHelloSyncInterval) {
            return std::nullopt;
        }
        m_hello_sync_at = now;
    }
    if (loses) {
        // What is before the gap is made durable first, so that a mark states where the gap is.
        if (!make_durable(header.stream)) {
            return std::nullopt;
        }
        const std::uint64_t lost = header.seq - stream.received.packets;
        m_store->lost(header.stream, lost);
        stream.received.packets = header.seq;
        stream.received.lost += lost;
        m_counters.lost += lost;
    }
    if (!make_durable(header.stream)) {
        return std::nullopt;
    }
    const bool lossy = stream.durable.lost != 0;
    Reply reply = reply_to(
        header, wire::PacketType::hello_ack, stream.durable.packets,
        wire::HelloAck{.cookie = hello.cookie,
                       .crc32c = lossy ? static_cast<std::uint32_t>(stream.durable.lost) : stream.durable.crc32c,
                       .window = wire::kWindowPackets});
    reply.header.flags = static_cast<std::uint8_t>((stream.durable.ended || other_run ? wire::kFlagEnded : 0) |
                                                   (lossy ? wire::kFlagLost : 0));
    return reply;
}

// Returns whether packets of other streams are held: a sender of which nothing has been acknowledged may have sent this
// stream only.
bool Session::holds_more_than(std::uint16_t number) const {
    for (std::uint16_t i = 0; i < wire::kStreamsMax; ++i) {
        const Mark mark = m_streams[i] != nullptr ? m_streams[i]->received : m_store->durable(i);
        if (i != number && mark.packets != 0) {
            return true;
        }
    }
    return false;
}

std::optional<Reply> Session::data(const wire::Header& header, std::span<const std::byte> records,
                                   lib::Nanoseconds now) {
    Stream& stream = *m_streams[header.stream];
    const std::uint64_t next = stream.received.packets;
    if (header.seq >= next + wire::kWindowPackets || stream.received.ended) {
        ++m_counters.out_of_window;
        return std::nullopt;
    }
    stream.newest_stamp = std::max(stream.newest_stamp, header.stamp);
    if ((header.flags & wire::kFlagPush) != 0) {
        stream.push_until = std::max(stream.push_until, header.seq + 1);
    }
    const bool in_order = header.seq == next;
    m_counters.early += header.seq > next ? 1 : 0;
    Slot& slot = stream.window[header.seq % wire::kWindowPackets];
    bool duplicate = header.seq < next;
    m_any = true;
    if (!duplicate && slot.empty()) {
        slot.assign(records.begin(), records.end());
    } else {
        duplicate = true;
        ++m_counters.duplicates;
    }
    const bool whole = advance(header.stream, now);
    const bool pushed = stream.push_until > stream.durable.packets && stream.push_until <= stream.received.packets;
    if (pushed || stream.received.bytes - stream.durable.bytes >= kSyncBytes) {
        static_cast<void>(make_durable(header.stream));
    }
    Reply reply = acknowledgement(header.stream);
    reply.header.stamp = header.stamp;
    const bool asked = (header.flags & wire::kFlagAsk) != 0;
    const bool at_once = !in_order || duplicate || !whole || pushed || asked || stream.received.packets != next + 1;
    if (at_once || ++stream.unanswered == kAcknowledgeEvery) {
        stream.unanswered = 0;
        stream.acknowledge_at.reset();
        return reply;
    }
    if (!stream.acknowledge_at) {
        stream.acknowledge_at = now + kAcknowledgeAfter;
    }
    return std::nullopt;
}

bool Session::advance(std::uint16_t number, lib::Nanoseconds now) {
    Stream& stream = *m_streams[number];
    for (;;) {
        Slot& slot = stream.window[stream.received.packets % wire::kWindowPackets];
        if (slot.empty()) {
            stream.full = false;
            return true;
        }
        if (!m_store->append(number, slot)) {
            ++m_counters.no_space;
            stream.full = true;
            return false;
        }
        if (stream.received == stream.durable) {
            stream.dirty_since = now;
        }
        ++stream.received.packets;
        stream.received.bytes += slot.size();
        stream.received.crc32c = lib::crc32c(slot, stream.received.crc32c);
        ++m_counters.packets;
        m_counters.bytes += slot.size();
        slot = {}; // frees its memory, too, because most packets come in order
    }
}

bool Session::make_durable(std::uint16_t number) {
    Stream& stream = *m_streams[number];
    if (stream.durable == stream.received) {
        return true;
    }
    stream.sync_failed = !m_store->sync(number, stream.received);
    if (stream.sync_failed) {
        ++m_counters.no_space;
        return false;
    }
    stream.durable = stream.received;
    return true;
}

// The stamp is that of the newest packet unless the caller sets another.
Reply Session::acknowledgement(std::uint16_t number) {
    const Stream& stream = *m_streams[number];
    wire::Ack ack{.received = 0,
                  .not_durable = static_cast<std::uint32_t>(stream.received.packets - stream.durable.packets),
                  .window = stream.full || stream.sync_failed ? 0 : static_cast<std::uint32_t>(wire::kWindowPackets)};
    for (std::uint64_t i = 0; i + 1 < wire::kWindowPackets; ++i) {
        const Slot& slot = stream.window[(stream.received.packets + 1 + i) % wire::kWindowPackets];
        ack.received |= std::uint64_t{!slot.empty()} << i;
    }
    const wire::Header header{.stream = number, .stamp = stream.newest_stamp};
    return reply_to(header, wire::PacketType::ack, stream.received.packets, ack);
}

// The answer has the totals of the receiver: both sides compare them.
std::optional<Reply> Session::fin(const wire::Header& header, const wire::Totals& totals) {
    Stream& stream = *m_streams[header.stream];
    const bool equal = header.seq == stream.received.packets && totals.bytes == stream.received.bytes &&
                       totals.crc32c == stream.received.crc32c && stream.received.lost == 0;
    m_counters.duplicates += stream.fin ? 1 : 0;
    stream.fin = true;
    stream.received.ended = stream.durable.ended || equal;
    m_streams_announced = std::min<std::size_t>(totals.streams, wire::kStreamsMax);
    if (!make_durable(header.stream)) {
        return std::nullopt;
    }
    return reply_to(header, wire::PacketType::fin_ack, stream.durable.packets,
                    wire::Totals{.bytes = stream.durable.bytes,
                                 .crc32c = stream.durable.crc32c,
                                 .streams = static_cast<std::uint32_t>(m_streams_announced)});
}

std::optional<Reply> Session::due(lib::Nanoseconds now) {
    for (std::uint16_t i = 0; i < wire::kStreamsMax; ++i) {
        if (m_streams[i] == nullptr) {
            continue;
        }
        Stream& stream = *m_streams[i];
        if (stream.received != stream.durable && now - stream.dirty_since >= kSyncAfter) {
            stream.dirty_since = now; // if the sync fails, it is tried again a second later
            static_cast<void>(make_durable(i));
        }
        if (stream.acknowledge_at && now >= *stream.acknowledge_at) {
            stream.acknowledge_at.reset();
            stream.unanswered = 0;
            return acknowledgement(i);
        }
    }
    return std::nullopt;
}

bool Session::disk_full() const {
    return std::ranges::any_of(
        m_streams, [](const auto& stream) { return stream != nullptr && (stream->full || stream->sync_failed); });
}

bool Session::sync_all() {
    bool all = true;
    for (std::uint16_t i = 0; i < wire::kStreamsMax; ++i) {
        all = (m_streams[i] == nullptr || make_durable(i)) && all;
    }
    return all;
}

std::size_t Session::ended_streams() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(m_streams, [](const auto& stream) { return stream != nullptr && stream->fin; }));
}

bool Session::complete() const {
    const auto whole =
        std::ranges::count_if(m_streams, [](const auto& stream) { return stream != nullptr && stream->durable.ended; });
    return m_streams_announced != 0 && static_cast<std::size_t>(whole) == m_streams_announced;
}

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
        return unknown(header, now);
    }
    // The limit only holds with a shared key, because without one a stranger could silence the collector.
    if ((m_options.key && m_counters.unauthentic >= m_options.forgeries_max) ||
        !wire::authentic(header, early ? master_key() : &entry->key, datagram_untrusted, covers())) {
        ++m_counters.unauthentic;
        return {};
    }
    if (entry != nullptr && !early) {
        entry->heard = now;
    }
    std::optional<Reply> reply;
    switch (header.type) {
    case wire::PacketType::hello:
        return hello(header, wire::decode_body<wire::Hello>(datagram_untrusted), peer, now);
    case wire::PacketType::data:
    case wire::PacketType::fin:
        if (!entry->session.is_open(header.stream)) {
            return unknown(header, now);
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
        break;
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
            return rarely(wire::PacketType::abort, header, wire::Refusal{.reason = opened.error()}, now);
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
std::span<const std::byte> Receiver::unknown(const wire::Header& header, lib::Nanoseconds now) {
    ++m_counters.unknown;
    return rarely(wire::PacketType::unknown, header, wire::Totals{}, now);
}

template <typename Body>
std::span<const std::byte> Receiver::rarely(wire::PacketType type, const wire::Header& header, const Body& body,
                                            lib::Nanoseconds now) {
    if (m_unknown_at && now - *m_unknown_at < kUnknownInterval) {
        return {};
    }
    m_unknown_at = now;
    Reply reply{.header = {.type = type, .stream = header.stream, .seq = header.seq, .stamp = header.stamp}};
    wire::encode_body(body, reply.body);
    return encoded(reply, header.session, master_key());
}

void Receiver::tick(lib::Nanoseconds now, const std::function<void(const Peer&, std::span<const std::byte>)>& send) {
    for (const auto& entry : m_sessions) {
        while (const auto reply = entry->session.due(now)) {
            send(entry->peer, encoded(*reply, entry->number, &entry->key));
        }
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
    if (m_sessions.size() == kSessionsMax && !make_space(now)) {
        ++m_counters.table_full;
        return wire::RefusalReason::sessions;
    }
    auto store = m_provider.open(peer, session);
    if (store == nullptr) {
        return wire::RefusalReason::store;
    }
    m_sessions.push_back(std::make_unique<Entry>(peer, session, std::move(store), now));
    return m_sessions.back().get();
}

// Forgets an ended or empty session, or the one that has been silent for the longest time. What it received is made
// durable first, and its store states whether it ended.
bool Receiver::make_space(lib::Nanoseconds now) {
    const auto rank = [now](const auto& entry) {
        const lib::Nanoseconds silence = now - entry->heard;
        const bool over = entry->session.ended() || (entry->session.empty() && silence >= kEmptyMax);
        return over ? kSilentMax + silence : silence;
    };
    const auto oldest = std::ranges::max_element(m_sessions, {}, rank);
    if (rank(*oldest) < kSilentMax || !(*oldest)->session.sync_all()) {
        return false;
    }
    const bool ended = (*oldest)->session.ended();
    const Peer peer = (*oldest)->peer;
    const std::uint64_t session = (*oldest)->number;
    m_sessions.erase(oldest);
    if (ended) {
        m_provider.forgotten(peer, session);
    }
    return true;
}

bool Receiver::drop(const Peer& peer, std::uint64_t session) {
    const auto found = std::ranges::find_if(
        m_sessions, [&](const auto& entry) { return entry->number == session && entry->peer == peer; });
    if (found == m_sessions.end() || !(*found)->session.sync_all()) {
        return found == m_sessions.end();
    }
    m_sessions.erase(found);
    return true;
}

void Receiver::forget_ended(lib::Nanoseconds now, lib::Nanoseconds silence,
                            const std::function<bool(const Entry&)>& release) {
    std::erase_if(m_sessions, [&](const auto& entry) {
        return entry->session.ended() && now - entry->heard >= silence && entry->session.sync_all() && release(*entry);
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
