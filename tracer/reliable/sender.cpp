// SPDX-License-Identifier: MIT
// This file sends HELLO, packets of the image and FIN. sender_receive.cpp takes what arrives.
#include "tracer/reliable/sender.hpp"

#include "lib/copy_bytes.hpp"
#include "tracer/names/metadata_writer.hpp"

#include <algorithm>

namespace tracer::reliable {

namespace {

constexpr std::uint32_t kCongestionMin = 4;
constexpr std::uint64_t kNextSession = 0x9E37'79B9'7F4A'7C15;

} // namespace

void ReliableSink::set_patience(lib::Nanoseconds patience) {
    m_patience = patience;
    m_progress_at = m_peer.now();
}

lib::Result<void> ReliableSink::submit(const ChunkImage& image) {
    if (m_state == SinkState::failed) {
        return m_error;
    }
    ASSERT(m_state == SinkState::idle && !m_finishing && image.size_bytes() != 0);
    if (image.description.cpu >= kStreamsMax) {
        return lib::Error::invalid_argument;
    }
    choose_session(image.description);
    begin(image, image.description.cpu);
    m_state = SinkState::busy; // last: a submit() that was abandoned is repeated
    return {};
}

lib::Result<void> ReliableSink::finish(const ExportEnd& totals) {
    if (m_state == SinkState::failed) {
        return m_error;
    }
    ASSERT(m_state == SinkState::idle && !m_image_done);
    MetadataWriter writer(m_end, m_last_stamp);
    writer.combined(event_code(ExportEnd::kEvent), totals);
    ChunkImage end;
    end.parts[0] = writer.written();
    choose_session(end.description);
    begin(end, m_stream);
    m_finishing = true;
    m_state = SinkState::busy; // last, as in submit()
    return {};
}

// Chooses the session, which the first image names.
void ReliableSink::choose_session(const ChunkBegin& description) {
    if (!m_session_chosen) {
        m_session = description.boot_id != 0 ? description.boot_id : m_boot_id;
        m_tsc_khz = description.tsc_khz;
        m_session_chosen = true;
    }
}

// Begins an image. An open stream continues; another one begins with HELLO.
void ReliableSink::begin(const ChunkImage& image, std::uint16_t stream_number) {
    m_now = m_peer.now();
    m_progress_at = m_now;
    m_image = image;
    if (!m_connected || stream_number != m_stream) {
        m_stream = stream_number;
        m_connected = false;
        reconnect();
    }
    m_base = stream().packets;
    count_packets();
    m_durable = m_base;
    m_received = m_base;
    m_next = m_base;
    m_sacked = 0;
    m_base_bytes = stream().bytes;
    m_base_crc = stream().crc32c;
    m_crc = m_base_crc;
    m_timer = m_now;
}

void ReliableSink::count_packets() {
    const std::size_t packet_bytes = m_packet_records * kRecordBytes;
    m_end_packet = m_base + (m_image.size_bytes() + packet_bytes - 1) / packet_bytes;
}

SinkState ReliableSink::step() {
    if (m_state != SinkState::busy) {
        return m_state;
    }
    if (m_in_step) {
        resume();
    }
    m_in_step = true;
    m_budget = kSentPerStep;
    const auto polled = m_peer.poll();
    m_now = m_peer.now();
    if (!polled && polled.error() != lib::Error::busy && polled.error() != lib::Error::unreachable) {
        fail(polled.error());
    } else {
        receive_some();
        if (m_state == SinkState::busy) {
            work();
        }
    }
    m_in_step = false;
    return m_state;
}

void ReliableSink::work() {
    const lib::Nanoseconds waited = m_now - m_progress_at;
    if ((m_patience && waited >= *m_patience) || (m_finishing && waited >= m_limits.finish_time_max)) {
        fail(m_refused                                  ? lib::Error::refused
             : m_phase == Phase::open && m_granted == 0 ? lib::Error::no_space
                                                        : lib::Error::timeout);
        return;
    }
    switch (m_phase) {
    case Phase::hello:
        say_hello();
        return;
    case Phase::replay:
        replay();
        return;
    case Phase::open:
        break;
    }
    if (m_image_done) {
        send_fin();
    } else {
        send_data();
    }
}

// Repairs the window after an abandoned step. It may be half changed, but everything in it follows from the image, and
// while FIN is sent from the streams.
void ReliableSink::resume() {
    if (m_image_done) {
        m_connected = false;
        finish_next_stream();
    } else {
        reconnect();
    }
}

// --- the handshake ---------------------------------------------------------------------------------------------------

// Goes back to HELLO at once: for a new stream, after UNKNOWN, an absence, or an abandoned step.
void ReliableSink::reconnect() {
    m_phase = Phase::hello;
    m_connected = false;
    m_hello_interval = m_limits.hello_first;
    m_hello_at = std::max(m_now, m_hello_stamp.value == 0 ? m_now : m_hello_stamp + RoundTrip::kTimeoutMin);
    m_silent = 0;
}

void ReliableSink::say_hello() {
    if (m_now < m_hello_at) {
        return;
    }
    const lib::Nanoseconds previous = m_hello_stamp;
    m_hello_stamp = m_now;
    const bool fresh = std::ranges::none_of(m_streams, [](const Stream& each) { return each.used; });
    if (!transmit_control(PacketType::hello, fresh ? kFlagFresh : std::uint8_t{0}, m_base,
                          Hello{.cookie = m_cookie, .tsc_khz = m_tsc_khz})) {
        m_hello_stamp = previous; // not sent: busy
        return;
    }
    m_hello_at = m_now + m_hello_interval;
    const bool is_near = m_heard_at && m_now - *m_heard_at < kHeardLately && !m_refused;
    const lib::Nanoseconds longest = m_finishing || is_near ? m_limits.finish_interval : m_limits.hello_max;
    m_hello_interval = std::min(lib::Nanoseconds{2 * m_hello_interval.value}, longest);
}

// Takes the next number: the collector has other bytes, or more, than this run sent, so this number was another run's.
void ReliableSink::next_session() {
    if (++m_sessions_tried > kSessionsMax) {
        fail(lib::Error::exists);
        return;
    }
    m_session += kNextSession ^ m_random;
    m_cookie = 0;
    reconnect();
    m_hello_at = m_now;
}

void ReliableSink::replay() {
    for (std::size_t i = 0; i < kSentPerStep && m_next < m_resume; ++i, ++m_next) {
        const auto body = std::span(m_packet).subspan(kHeaderBytes);
        m_crc = lib::crc32c(body.first(read_packet(m_next, body)), m_crc);
    }
    if (m_next < m_resume) {
        return;
    }
    if (!m_lossy && m_crc != m_expected_crc) {
        next_session();
        return;
    }
    open_stream();
}

void ReliableSink::open_stream() {
    if (++m_fruitless > 2 && m_next == m_base && !m_image_done) {
        m_packet_records = std::min(m_packet_records, kShortRecords);
        count_packets();
    }
    m_phase = Phase::open;
    m_connected = true;
    m_durable = m_next;
    m_received = m_next;
    m_sacked = 0;
    m_congestion = kCongestionMin;
    m_threshold = kWindowPackets;
    m_growth = 0;
    m_newest_arrived = {};
    m_timer = m_now;
    m_fin_at = m_now;
    ++m_counters.handshakes;
    if (m_durable == m_end_packet && !m_image_done) {
        complete_image();
    }
}

// --- packets of the image --------------------------------------------------------------------------------------------

// Sends what is lost first. The packet that fills the window asks for an answer, because nothing follows without one.
void ReliableSink::send_data() {
    check_timer();
    if (m_phase != Phase::open || m_granted == 0) {
        return;
    }
    std::uint32_t in_flight = 0;
    const lib::Nanoseconds lost = lost_before();
    for (std::uint64_t seq = m_received; seq < m_next; ++seq) {
        if (!sacked(seq)) {
            if (m_sent_at[seq % kWindowPackets] < lost && (m_budget == 0 || !send_packet(seq, kFlagPush))) {
                return;
            }
            ++in_flight;
        }
    }
    const std::uint64_t end = std::min(m_end_packet, m_received + std::min<std::uint64_t>(m_granted, kWindowPackets));
    for (; m_budget != 0 && m_next < end && in_flight < m_congestion; ++in_flight) {
        const bool fills = m_next + 1 == end || in_flight + 1 == m_congestion;
        if (!send_packet(m_next, fills ? kFlagAsk : std::uint8_t{0})) {
            return;
        }
    }
}

// Returns the time before which a packet that was sent, and not received, is lost: one that was sent later has arrived,
// and it is late by what is usual on this network.
lib::Nanoseconds ReliableSink::lost_before() const {
    const lib::Nanoseconds late = m_round_trip.late_after();
    return m_now < late ? lib::Nanoseconds{} : std::min(m_newest_arrived, m_now - late + lib::Nanoseconds{1});
}

// Without progress for the timeout, the oldest packet is sent again, or the last one, if all have been received and the
// collector has not stated that they are durable. With the disk full, one packet asks whether it still is.
void ReliableSink::check_timer() {
    const bool waiting = m_received < m_next || m_received == m_end_packet || m_granted == 0;
    if (!waiting || m_now - m_timer < (m_granted == 0 ? m_limits.full_probe : m_round_trip.timeout())) {
        return;
    }
    const std::uint64_t seq = m_received < m_end_packet ? m_received : m_end_packet - 1;
    if (!send_packet(seq, kFlagPush)) {
        return;
    }
    m_timer = m_now;
    if (m_granted == 0) {
        return;
    }
    m_round_trip.back_off();
    m_threshold = std::max(m_congestion / 2, kCongestionMin);
    m_congestion = m_threshold;
    if (++m_silent >= (m_fruitless > 1 ? m_limits.silent_timeouts_max / 2 : m_limits.silent_timeouts_max)) {
        ++m_counters.absences;
        reconnect();
    }
}

// Sends a packet. With kFlagPush, which the last packet has in any case, the answer states what is durable.
bool ReliableSink::send_packet(std::uint64_t seq, std::uint8_t flags) {
    const auto body = std::span(m_packet).subspan(kHeaderBytes);
    const auto bytes = body.first(read_packet(seq, body));
    ASSERT(!bytes.empty() && seq <= m_next);
    const std::uint32_t crc =
        bytes.size() == kBodyBytesMax ? m_whole_body_crc.of(bytes.first<kBodyBytesMax>()) : lib::crc32c(bytes);
    const Header header{.type = PacketType::data,
                        .flags = seq + 1 == m_end_packet ? kFlagPush : flags,
                        .stream = m_stream,
                        .session = m_session,
                        .seq = seq,
                        .stamp = m_now.value};
    if (!transmit(header, kHeaderBytes + bytes.size(), crc)) {
        return false;
    }
    ++m_counters.sends;
    m_sent_at[seq % kWindowPackets] = m_now;
    if (seq != m_next) {
        return true;
    }
    ++m_counters.packets;
    if (m_received == m_next) {
        m_timer = m_now; // nothing was on its way
    }
    m_crc = joined_with_body(m_crc, crc, bytes.size());
    if (m_image.description.encoding == Encoding::records) {
        m_last_stamp = std::max(m_last_stamp, decode_record(bytes.last(kRecordBytes)).stamp());
    }
    ++m_next;
    return true;
}

std::size_t ReliableSink::read_packet(std::uint64_t seq, std::span<std::byte> body) {
    const std::size_t packet_bytes = m_packet_records * kRecordBytes;
    const std::size_t offset = (seq - m_base) * packet_bytes;
    std::size_t copied = 0;
    while (copied < packet_bytes) {
        auto piece = m_image.piece(offset + copied);
        piece = piece.first(std::min(piece.size(), packet_bytes - copied));
        if (piece.empty()) {
            break;
        }
        lib::copy_bytes(piece, body.subspan(copied));
        copied += piece.size();
    }
    return copied;
}

// Completes an image whose packets are all durable. If abandoned, it happens again: it changes nothing that it reads.
void ReliableSink::complete_image() {
    Stream& done = stream();
    done.used = true;
    done.packets = m_end_packet;
    done.bytes = m_base_bytes + m_image.size_bytes();
    done.crc32c = m_crc;
    if (!m_finishing) {
        m_state = SinkState::idle;
        return;
    }
    m_image_done = true;
    finish_next_stream();
}

// --- the end ---------------------------------------------------------------------------------------------------------

void ReliableSink::send_fin() {
    if (m_now < m_fin_at) {
        return;
    }
    if (++m_silent >= m_limits.silent_timeouts_max) {
        reconnect();
        return;
    }
    m_fin_stamp = m_now;
    std::uint32_t streams = 0;
    for (const Stream& each : m_streams) {
        streams += each.used ? 1 : 0;
    }
    const Totals totals{.bytes = stream().bytes, .crc32c = stream().crc32c, .streams = streams};
    if (transmit_control(PacketType::fin, 0, stream().packets, totals)) {
        m_fin_at = m_now + std::min(m_round_trip.timeout(), m_limits.finish_interval);
        m_round_trip.back_off();
    }
}

// Sends FIN for a stream whose end the collector has not confirmed, the present one first; if none is left, it ends.
void ReliableSink::finish_next_stream() {
    for (std::size_t i = 0; i < m_streams.size(); ++i) {
        const std::size_t number = (m_stream + i) % m_streams.size();
        if (m_streams[number].used && !m_streams[number].finished) {
            begin({}, static_cast<std::uint16_t>(number));
            m_fin_at = m_now;
            return;
        }
    }
    m_state = SinkState::idle;
}

// --- to the network --------------------------------------------------------------------------------------------------

template <typename Body>
bool ReliableSink::transmit_control(PacketType type, std::uint8_t flags, std::uint64_t seq, const Body& body) {
    const auto bytes = std::span(m_packet).subspan(kHeaderBytes, kControlBytes);
    encode_body(body, bytes);
    const Header header{
        .type = type, .flags = flags, .stream = m_stream, .session = m_session, .seq = seq, .stamp = m_now.value};
    return transmit(header, kHeaderBytes + kControlBytes, lib::crc32c(bytes));
}

// Returns false if the packet was not sent, because the device is busy or has failed. A datagram that the network
// refuses counts as sent and lost: a closed port may be a collector that is about to start again.
bool ReliableSink::transmit(const Header& header, std::size_t bytes, std::uint32_t body_crc32c) {
    const auto packet = std::span(m_packet).first(bytes);
    encode(header, key_for(header.type), packet, m_key ? Covers::packet : Covers::header, body_crc32c);
    --m_budget;
    const auto taken = m_peer.send(packet);
    if (taken || taken.error() == lib::Error::unreachable) {
        m_counters.refused += taken ? 0U : 1U;
        return true;
    }
    if (taken.error() != lib::Error::busy) {
        fail(taken.error());
    }
    return false;
}

const SipKey* ReliableSink::key_for(PacketType type) const {
    if (before_session(type)) {
        return m_key ? &*m_key : nullptr;
    }
    return &m_session_key;
}

void ReliableSink::fail(lib::Error error) {
    m_error = error;
    m_state = SinkState::failed;
}

} // namespace tracer::reliable
