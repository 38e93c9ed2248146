// SPDX-License-Identifier: MIT
// Takes what arrives at the sender. Every datagram is untrusted until its CRC, its session and its numbers agree with
// what was sent; one that does not agree is counted and changes nothing.
#include "tracer/reliable/sender.hpp"

#include <algorithm>

namespace tracer::reliable {

void ReliableSink::receive_some() {
    for (std::size_t i = 0; i < kReceivedPerStep && m_state == SinkState::busy; ++i) {
        const auto size = m_peer.receive(m_datagram);
        if (size) {
            take(std::span<const std::byte>(m_datagram).first(size.value()));
        } else if (size.error() == lib::Error::no_space) {
            ++m_counters.malformed;
        } else {
            return;
        }
    }
}

void ReliableSink::take(std::span<const std::byte> datagram_untrusted) {
    const auto decoded = decode(datagram_untrusted);
    if (!decoded) {
        ++m_counters.malformed;
        return;
    }
    const Header& header = decoded.value();
    if (header.session != m_session || header.stream != m_stream || header.stamp > m_now.value) {
        ++m_counters.ignored;
        return;
    }
    if (!authentic(header, key_for(header.type), datagram_untrusted, m_key ? Covers::packet : Covers::header)) {
        ++m_counters.unauthentic;
        return;
    }
    m_heard_at = m_now;
    switch (header.type) {
    case PacketType::hello_ack:
        take_hello_ack(header, decode_body<HelloAck>(datagram_untrusted));
        return;
    case PacketType::ack:
        take_ack(header, decode_body<Ack>(datagram_untrusted));
        return;
    case PacketType::fin_ack:
        take_fin_ack(header, decode_body<Totals>(datagram_untrusted));
        return;
    case PacketType::unknown:
        if (answers_sent_packet(header)) {
            m_cookie = 0;
            reconnect();
            return;
        }
        break;
    case PacketType::abort:
        take_abort(header);
        return;
    case PacketType::hello:
    case PacketType::data:
    case PacketType::fin:
        break; // our own direction
    }
    ++m_counters.ignored;
}

// UNKNOWN has no MAC without a shared key: it repeats what only a machine that saw the packet knows.
bool ReliableSink::answers_sent_packet(const Header& header) const {
    if (m_phase != Phase::open) {
        return false;
    }
    if (m_image_done) {
        return header.seq == stream().packets && header.stamp == m_fin_stamp.value;
    }
    return header.seq < m_next && m_next - header.seq <= kWindowPackets &&
           header.stamp == m_sent_at[header.seq % kWindowPackets].value;
}

// Takes a refusal of the session. The collector is asked again, as rarely as an absent one.
void ReliableSink::take_abort(const Header& header) {
    if (m_phase != Phase::hello || header.stamp != m_hello_stamp.value) {
        ++m_counters.ignored;
        return;
    }
    ++m_counters.aborted;
    m_answered = true;
    m_refused = true;
}

void ReliableSink::take_hello_ack(const Header& header, const HelloAck& ack) {
    if (m_phase != Phase::hello || header.stamp != m_hello_stamp.value) {
        ++m_counters.ignored;
        return;
    }
    m_answered = true;
    m_round_trip.sample(m_now - m_hello_stamp);
    if ((header.flags & kFlagCookie) != 0) {
        // The first cookie is returned at once. Further ones are not, or two machines could answer each other forever.
        const bool first = m_cookie == 0;
        m_cookie = ack.cookie;
        m_random = ack.random();
        m_hello_interval = m_limits.hello_first;
        m_hello_at = first ? m_now : m_now + m_hello_interval;
        return;
    }
    if (ack.cookie != m_cookie || header.seq < m_base) {
        ++m_counters.ignored;
        return;
    }
    const bool ended_without_us = (header.flags & kFlagEnded) != 0 && !m_image_done;
    if (ended_without_us || header.seq > m_end_packet) {
        next_session();
        return;
    }
    m_session_key = session_key(m_key.value_or(SipKey{}), m_session, m_cookie);
    m_refused = false;
    m_lossy = (header.flags & kFlagLost) != 0;
    if (m_lossy) {
        m_counters.lost += ack.crc32c - std::min<std::uint64_t>(ack.crc32c, stream().lost);
        stream().lost = ack.crc32c;
    }
    m_expected_crc = ack.crc32c;
    m_granted = ack.window;
    m_resume = header.seq;
    if (m_resume > m_durable) { // an acknowledgement of it was lost
        m_progress_at = m_now;
    }
    m_next = m_base;
    m_received = m_base;
    m_crc = m_base_crc;
    m_phase = Phase::replay;
}

void ReliableSink::take_ack(const Header& header, const Ack& ack) {
    const std::uint64_t received = header.seq;
    if (m_phase != Phase::open || m_image_done || received < m_received || received > m_next ||
        ack.not_durable > received - m_base) {
        ++m_counters.ignored;
        return;
    }
    // Bit 0 of `sacked` is the packet that is missing.
    const std::uint64_t sacked = ack.received << 1;
    const std::uint64_t sent = m_next - received; // at most kWindowPackets
    const std::uint64_t sent_bits = sent >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << sent) - 1;
    if ((sacked & ~sent_bits) != 0 || (ack.received >> 63) != 0) {
        ++m_counters.ignored;
        return;
    }
    ++m_counters.acknowledgements;
    m_silent = 0;
    m_granted = ack.window;
    m_round_trip.sample(m_now - lib::Nanoseconds{header.stamp});
    const std::uint64_t advance = received - m_received;
    const std::uint64_t known = advance >= 64 ? 0 : m_sacked >> advance;
    // The newest answer is right even if it takes something back: the collector may have started again.
    const bool newest = header.stamp >= m_newest_arrived.value;
    const std::uint64_t merged = newest ? sacked : (known | sacked) & ~std::uint64_t{1};
    const std::uint64_t durable = std::max(m_durable, received - ack.not_durable);
    if (advance != 0 || durable != m_durable || (merged & ~known) != 0) {
        m_timer = m_now;
    }
    if (advance != 0 || durable != m_durable) {
        m_progress_at = m_now;
    }
    m_fruitless = advance != 0 ? 0 : m_fruitless;
    m_newest_arrived = std::max(m_newest_arrived, lib::Nanoseconds{header.stamp});
    m_sacked = merged;
    m_received = received;
    m_durable = durable;
    grow_window(advance);
    if (m_durable == m_end_packet) {
        complete_image();
    }
}

// Grows the window by slow start up to the threshold, then by one packet for each window that was acknowledged.
void ReliableSink::grow_window(std::uint64_t acknowledged) {
    m_growth += static_cast<std::uint32_t>(acknowledged);
    if (m_congestion < m_threshold) {
        m_congestion += m_growth;
        m_growth = 0;
    } else if (m_growth >= m_congestion) {
        m_growth = 0;
        ++m_congestion;
    }
    m_congestion = std::min<std::uint32_t>(m_congestion, kWindowPackets);
}

void ReliableSink::take_fin_ack(const Header& header, const Totals& totals) {
    if (m_phase != Phase::open || !m_image_done) {
        ++m_counters.ignored;
        return;
    }
    m_silent = 0;
    m_round_trip.sample(m_now - lib::Nanoseconds{header.stamp});
    if (header.seq != stream().packets || totals.bytes != stream().bytes || totals.crc32c != stream().crc32c) {
        fail(lib::Error::corrupt); // the collector's stream is not what was sent, and it knows: its session is partial
        return;
    }
    stream().finished = true;
    finish_next_stream();
}

} // namespace tracer::reliable
