// SPDX-License-Identifier: MIT
// One session of the receiver: its windows, what it answers, and when it asks for a flush of the disk.
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

Session::Session(std::shared_ptr<SessionStore> store)
    : m_store(std::move(store))
    , m_state(m_store->poll()) {}

std::optional<Reply> Session::hello(const wire::Header& header, const wire::Hello& hello, lib::Nanoseconds now) {
    if (m_state == StoreState::loading || m_state == StoreState::failed) {
        m_waiting = {header, hello};
        return std::nullopt;
    }
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
        drop_early(stream);
        stream.question.reset();
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
    make_durable(header.stream);
    const Question question{.header = header, .cookie = hello.cookie, .other_run = other_run};
    const auto reply = answer(header.stream, question);
    if (!reply) {
        stream.question = question;
    }
    return reply;
}

std::optional<Reply> Session::answer(std::uint16_t number, const Question& question) {
    const Mark& durable = m_streams[number]->durable;
    if (durable != m_streams[number]->received) {
        return std::nullopt;
    }
    if (question.header.type == wire::PacketType::fin) {
        return reply_to(question.header, wire::PacketType::fin_ack, durable.packets,
                        wire::Totals{.bytes = durable.bytes,
                                     .crc32c = durable.crc32c,
                                     .streams = static_cast<std::uint32_t>(m_streams_announced)});
    }
    const bool lossy = durable.lost != 0;
    Reply reply = reply_to(question.header, wire::PacketType::hello_ack, durable.packets,
                           wire::HelloAck{.cookie = question.cookie,
                                          .crc32c = lossy ? static_cast<std::uint32_t>(durable.lost) : durable.crc32c,
                                          .window = wire::kWindowPackets});
    reply.header.flags = static_cast<std::uint8_t>((durable.ended || question.other_run ? wire::kFlagEnded : 0) |
                                                   (lossy ? wire::kFlagLost : 0));
    return reply;
}

void Session::drop_early(Stream& stream) {
    for (Slot& slot : stream.window) {
        m_early -= slot.empty() ? 0U : 1U;
        slot = {};
    }
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
    const bool in_order = header.seq == next;
    if (header.seq >= next + wire::kWindowPackets || stream.received.ended || (!in_order && m_early >= kEarlyMax)) {
        ++m_counters.out_of_window;
        return std::nullopt;
    }
    stream.newest_stamp = std::max(stream.newest_stamp, header.stamp);
    if ((header.flags & wire::kFlagPush) != 0) {
        stream.push_until = std::max(stream.push_until, header.seq + 1);
    }
    m_counters.early += header.seq > next ? 1 : 0;
    Slot& slot = stream.window[header.seq % wire::kWindowPackets];
    bool duplicate = header.seq < next;
    m_any = true;
    if (!duplicate && slot.empty()) {
        slot.assign(records.begin(), records.end());
        ++m_early;
    } else {
        duplicate = true;
        ++m_counters.duplicates;
    }
    const bool whole = advance(header.stream, now);
    const bool pushed = stream.is_pushed();
    if (pushed || stream.received.bytes - stream.durable.bytes >= kSyncBytes || m_unsynced >= kUnsyncedMax) {
        make_durable(header.stream);
    }
    const bool blocked = m_unsynced >= kUnsyncedMax && in_order && !duplicate && stream.received.packets == next;
    if (blocked) {
        return std::nullopt; // it is appended, and answered, after a sync
    }
    if (pushed && stream.syncing && !duplicate) {
        stream.answer_synced = true; // the answer states that it is durable
        return std::nullopt;
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
        if (slot.empty() || m_unsynced >= kUnsyncedMax) {
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
        m_unsynced += slot.size();
        --m_early;
        slot = {}; // frees its memory, too, because most packets come in order
    }
}

bool Session::make_durable(std::uint16_t number) {
    Stream& stream = *m_streams[number];
    settle(number);
    if (stream.durable != stream.received && !stream.syncing) {
        take_sync(stream, stream.received, m_store->begin_sync(number, stream.received));
    }
    return stream.durable == stream.received;
}

void Session::settle(std::uint16_t number) {
    Stream& stream = *m_streams[number];
    if (const auto syncing = std::exchange(stream.syncing, std::nullopt)) {
        take_sync(stream, *syncing, m_store->sync_state(number));
    }
}

void Session::take_sync(Stream& stream, const Mark& mark, SyncState state) {
    if (state == SyncState::pending) {
        stream.syncing = mark;
        return;
    }
    stream.sync_failed = state == SyncState::failed;
    if (stream.sync_failed) {
        ++m_counters.no_space;
    } else {
        m_unsynced -= mark.bytes - stream.durable.bytes;
        stream.durable = mark;
    }
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
    make_durable(header.stream);
    auto reply = answer(header.stream, {.header = header});
    if (!reply) {
        stream.question = {.header = header};
    }
    return reply;
}

std::optional<Reply> Session::due(lib::Nanoseconds now) {
    m_state = m_store->poll();
    if (m_waiting && m_state != StoreState::loading) {
        const auto [header, hello] = *std::exchange(m_waiting, std::nullopt);
        const wire::Refusal refusal{.reason = wire::RefusalReason::store};
        if (auto reply = failed() ? reply_to(header, wire::PacketType::abort, header.seq, refusal)
                                  : this->hello(header, hello, now)) {
            return reply;
        }
    }
    for (std::uint16_t i = 0; i < wire::kStreamsMax; ++i) {
        if (m_streams[i] != nullptr) {
            if (auto reply = due(i, now)) {
                return reply;
            }
        }
    }
    return std::nullopt;
}

std::optional<Reply> Session::due(std::uint16_t number, lib::Nanoseconds now) {
    Stream& stream = *m_streams[number];
    settle(number);
    if (stream.answer_synced && !stream.syncing) {
        if (stream.is_pushed() && !stream.sync_failed) {
            make_durable(number); // what was pushed during the sync that has ended
        }
        stream.answer_synced = stream.syncing.has_value();
        stream.acknowledge_at = stream.answer_synced ? stream.acknowledge_at : now;
    }
    const bool waited = !stream.window[stream.received.packets % wire::kWindowPackets].empty() && !stream.full;
    if (waited && m_unsynced < kUnsyncedMax) { // what waited for a sync
        advance(number, now);
        stream.acknowledge_at = now;
    }
    const bool urgent = (m_unsynced >= kUnsyncedMax || stream.question) && !stream.sync_failed;
    if (stream.received != stream.durable && (urgent || now - stream.dirty_since >= kSyncAfter)) {
        stream.dirty_since = now; // if the sync fails, it is tried again a second later
        make_durable(number);
    }
    if (stream.question) {
        if (auto reply = answer(number, *stream.question)) {
            stream.question.reset();
            return reply;
        }
    }
    if (stream.acknowledge_at && now >= *stream.acknowledge_at) {
        stream.acknowledge_at.reset();
        stream.unanswered = 0;
        return acknowledgement(number);
    }
    return std::nullopt;
}

bool Session::disk_full() const {
    return std::ranges::any_of(
        m_streams, [](const auto& stream) { return stream != nullptr && (stream->full || stream->sync_failed); });
}

bool Session::make_all_durable() {
    bool all = m_store->poll() == StoreState::ready;
    for (std::uint16_t i = 0; i < wire::kStreamsMax; ++i) {
        all = (m_streams[i] == nullptr || make_durable(i)) && all;
    }
    return all;
}

// A sync that is pending may cover only a part.
bool Session::sync_all() {
    for (int attempt = 0; attempt < 2 && !make_all_durable(); ++attempt) {
        m_store->wait();
    }
    return make_all_durable();
}

std::uint64_t Session::bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& stream : m_streams) {
        bytes += stream != nullptr ? stream->received.bytes : 0;
    }
    return bytes;
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

} // namespace host::collector::reliable
