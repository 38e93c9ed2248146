// SPDX-License-Identifier: MIT
// Declares the sender of the acknowledged export, and its estimate of the round-trip time.
#pragma once

#include "lib/crc32c_folded.hpp"
#include "lib/units.hpp"
#include "tracer/export/sink.hpp"
#include "tracer/reliable/datagram_peer.hpp"
#include "tracer/reliable/packet.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tracer::reliable {

// Estimates the round-trip time of a flow and derives the timeout from it: RFC 6298, with bounds for a local network.
// Each packet carries the time at which it was sent and its answer repeats it, so a sample is never ambiguous (Karn's
// problem). Context: any.

class RoundTrip {
  public:
    static constexpr lib::Nanoseconds kTimeoutMin = lib::milliseconds(20);
    static constexpr lib::Nanoseconds kTimeoutMax = lib::milliseconds(2'000);
    static constexpr lib::Nanoseconds kTimeoutFirst = lib::milliseconds(200);
    static constexpr lib::Nanoseconds kBackedOffMin = lib::milliseconds(250); // a timeout doubles at least until here

    // Takes a sample, which also ends the backoff.
    constexpr void sample(lib::Nanoseconds time) {
        const std::uint64_t ns = std::min(time.value, kTimeoutMax.value);
        if (!m_known) {
            m_mean_ns = ns;
            m_deviation_ns = ns / 2;
            m_known = true;
        } else {
            const std::uint64_t distance = ns > m_mean_ns ? ns - m_mean_ns : m_mean_ns - ns;
            m_deviation_ns = (3 * m_deviation_ns + distance) / 4;
            m_mean_ns = (7 * m_mean_ns + ns) / 8;
        }
        m_timeout = std::clamp(late_after(), kTimeoutMin, kTimeoutMax);
    }

    // Doubles the timeout, up to four times what an answer usually takes. On a network that loses much, a longer one is
    // a pause after losses of which nothing is learned.
    constexpr void back_off() {
        const lib::Nanoseconds most = std::max(kBackedOffMin, lib::Nanoseconds{4 * late_after().value});
        m_timeout = std::max(m_timeout, std::min({lib::Nanoseconds{2 * m_timeout.value}, most, kTimeoutMax}));
    }

    // Returns the time, mean and four deviations, by which an answer usually comes.
    [[nodiscard]] constexpr lib::Nanoseconds late_after() const {
        return m_known ? lib::Nanoseconds{m_mean_ns + 4 * m_deviation_ns} : kTimeoutFirst;
    }

    [[nodiscard]] constexpr lib::Nanoseconds timeout() const { return m_timeout; }

  private:
    bool m_known = false;
    std::uint64_t m_mean_ns = 0;
    std::uint64_t m_deviation_ns = 0;
    lib::Nanoseconds m_timeout = kTimeoutFirst;
};

// Sends chunks as acknowledged packets (packet.hpp). A chunk is done only when the collector has acknowledged all of it
// as durable. There is no buffer for retransmissions: the chunk's image is the window, and a packet that is lost is
// read from it again.
//
//   submit --> hello --> replay --> open --> idle        finish --> ... open --> FIN for each stream --> idle
//                ^                   |
//                +--- absent, UNKNOWN, a step that was abandoned
//
// hello   asks, with backoff, until the collector answers. The answer states how much of the stream is durable, and its
//         CRC.
// replay  reads what is durable already again from the image, without sending, and compares the CRC. If it differs,
//         another run had the same session number: this one takes the next number and begins anew.
// open    at most min(64, what the collector grants, congestion window) packets are on their way. A packet is sent
//         again when one that was sent later has arrived and it is older than the round trip (mean + 4 deviations),
//         or, if no answer comes at all, after the retransmission timeout, which doubles.
// absent  after 8 timeouts without an answer. The chunk is kept; HELLO is repeated at most every 2 s. If HELLO is
//         answered twice in a row and no packet after it, the path carries no long packets: from then on they are
//         short.
//
// step() receives at most 8 datagrams, sends at most 4 and never waits. What contradicts what was sent (an
// acknowledgement of the future, of another session, of less than before) is counted and ignored. A step may be
// abandoned at any instruction, by a panic: the next one begins with HELLO again. Without a key, any machine that sees
// the packets can answer in the collector's name: docs/adr/0014-reliable-export.md. The context of each function is
// that of ChunkSink.

class ReliableSink final : public ChunkSink {
  public:
    static constexpr std::size_t kReceivedPerStep = 8;
    static constexpr std::size_t kSentPerStep = 4;

    struct Limits {
        std::size_t packet_records_max = kRecordsMax;                 // 1..kRecordsMax
        lib::Nanoseconds hello_first = lib::milliseconds(100);        // between two HELLOs; doubles
        lib::Nanoseconds hello_max = lib::milliseconds(2'000);        // until this
        lib::Nanoseconds full_probe = lib::milliseconds(1'000);       // while the collector's disk is full
        lib::Nanoseconds finish_time_max = lib::milliseconds(20'000); // without progress at the end; then it fails
        // At most, between two HELLOs or FINs at the end, and between two HELLOs if the collector was heard lately.
        lib::Nanoseconds finish_interval = lib::milliseconds(250);
        std::uint32_t silent_timeouts_max = 8; // in a row; then the collector is absent
    };

    struct Counters {
        std::uint64_t packets = 0; // DATA, each counted once
        std::uint64_t sends = 0;   // of DATA
        std::uint64_t acknowledgements = 0;
        std::uint64_t malformed = 0; // datagrams with a wrong size, count or CRC
        std::uint64_t unauthentic = 0;
        std::uint64_t ignored = 0;    // sound, but about the past, the future, or another session
        std::uint64_t handshakes = 0; // that led to an open stream
        std::uint64_t absences = 0;
        std::uint64_t refused = 0; // sends that the network refused: closed port, no answer to ARP
        std::uint64_t aborted = 0; // HELLOs that the collector refused
        std::uint64_t lost = 0;    // packets that a collector had acknowledged and no longer has
    };

    constexpr ReliableSink(DatagramPeer& peer, const Limits& limits)
        : m_peer(peer)
        , m_limits(limits)
        , m_packet_records(limits.packet_records_max) {}

    // Sets the key of all packets. Must be called before the first submit().
    void set_key(const SipKey& key) { m_key = key; }

    // Sets the number of a session whose first chunk names no boot, or that has none. Must be called before the first
    // submit().
    void set_boot(std::uint64_t boot_id) { m_boot_id = boot_id; }

    // From now on the sink fails when the transfer has made no progress for this long: with timeout, with refused if
    // the last answer was that the collector cannot take the session, or with no_space if it was that its disk is full
    // or a limit is reached. Initially it waits forever: the chunk remains in memory until the collector is there.
    void set_patience(lib::Nanoseconds patience);

    [[nodiscard]] std::string_view name() const override { return "udp2"; }

    [[nodiscard]] lib::Result<void> submit(const ChunkImage& image) override;
    SinkState step() override;
    [[nodiscard]] lib::Result<void> finish(const ExportEnd& totals) override;

    [[nodiscard]] SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return m_error; }

    [[nodiscard]] const Counters& counters() const { return m_counters; }

    [[nodiscard]] bool answered() const { return m_answered; }

    [[nodiscard]] std::uint64_t session() const { return m_session; }

    [[nodiscard]] lib::Nanoseconds timeout() const { return m_round_trip.timeout(); }

  private:
    enum class Phase : std::uint8_t {
        hello,
        replay,
        open,
    };

    // Describes the part of a stream that has been acknowledged as durable, up to the present image.
    struct Stream {
        bool used = false;
        bool finished = false;
        std::uint64_t packets = 0;
        std::uint64_t bytes = 0;
        std::uint32_t crc32c = 0;
        std::uint64_t lost = 0; // packets that the collector no longer has
    };

    void choose_session(const ChunkBegin& description);
    void begin(const ChunkImage& image, std::uint16_t stream);
    void receive_some();
    void take(std::span<const std::byte> datagram_untrusted);
    [[nodiscard]] bool answers_sent_packet(const Header& header) const;
    void take_hello_ack(const Header& header, const HelloAck& ack);
    void take_abort(const Header& header);
    void take_ack(const Header& header, const Ack& ack);
    void grow_window(std::uint64_t acknowledged);
    void take_fin_ack(const Header& header, const Totals& totals);
    void work();
    void say_hello();
    void replay();
    void send_data();
    void send_fin();
    void check_timer();
    void reconnect();
    void next_session();
    void open_stream();
    void count_packets();
    void complete_image();
    void finish_next_stream();
    void resume();
    void fail(lib::Error error);
    [[nodiscard]] lib::Nanoseconds lost_before() const;
    [[nodiscard]] bool send_packet(std::uint64_t seq, std::uint8_t flags);
    [[nodiscard]] bool transmit(const Header& header, std::size_t bytes, std::uint32_t body_crc32c);
    template <typename Body>
    [[nodiscard]] bool transmit_control(PacketType type, std::uint8_t flags, std::uint64_t seq, const Body& body);
    [[nodiscard]] std::size_t read_packet(std::uint64_t seq, std::span<std::byte> body);
    [[nodiscard]] const SipKey* key_for(PacketType type) const;

    [[nodiscard]] Stream& stream() { return m_streams[m_stream]; }

    [[nodiscard]] const Stream& stream() const { return m_streams[m_stream]; }

    [[nodiscard]] bool sacked(std::uint64_t seq) const { return ((m_sacked >> (seq - m_received)) & 1) != 0; }

    static constexpr std::uint32_t kSessionsMax = 8;
    static constexpr lib::Nanoseconds kHeardLately = lib::milliseconds(3'000);
    static constexpr std::size_t kShortRecords = 16; // 348 bytes with the headers of UDP and IPv4

    DatagramPeer& m_peer;
    Limits m_limits;
    std::size_t m_packet_records; // of a packet that is full
    std::optional<SipKey> m_key;
    SipKey m_session_key;
    SinkState m_state = SinkState::idle;
    lib::Error m_error{};
    Phase m_phase = Phase::hello;
    bool m_in_step = false; // still set when the next step begins: that step was abandoned
    bool m_answered = false;
    bool m_connected = false;  // the collector knows m_stream of m_session
    bool m_finishing = false;  // finish() was called
    bool m_image_done = false; // while finishing: FIN remains
    bool m_session_chosen = false;
    bool m_lossy = false;   // the collector's CRC is of other packets
    bool m_refused = false; // the collector's last answer
    std::uint32_t m_sessions_tried = 0;
    std::uint64_t m_boot_id = 0;
    std::uint64_t m_session = 0;
    std::uint64_t m_cookie = 0;
    std::uint64_t m_random = 0; // that came with the cookie
    std::uint32_t m_tsc_khz = 0;
    ChunkImage m_image;                                             // spans only: the bytes are the exporter's
    std::array<std::byte, kCombineSlotsMax * kRecordBytes> m_end{}; // the longest event there is
    lib::Ticks m_last_stamp;                                        // of the records sent so far
    std::uint16_t m_stream = 0;
    std::array<Stream, kStreamsMax> m_streams{};

    // Packets of m_stream: base <= durable <= received <= next <= end. base is that of the image's first packet.
    std::uint64_t m_base = 0;
    std::uint64_t m_base_bytes = 0;
    std::uint32_t m_base_crc = 0;
    std::uint64_t m_end_packet = 0;
    std::uint64_t m_durable = 0;
    std::uint64_t m_received = 0;
    std::uint64_t m_next = 0;   // to be sent for the first time, or to be replayed
    std::uint64_t m_resume = 0; // replay until here
    std::uint64_t m_sacked = 0; // bit i: m_received + i has been received
    std::uint32_t m_crc = 0;    // of the stream before m_next
    std::uint32_t m_expected_crc = 0;
    std::uint32_t m_granted = 0;
    std::uint32_t m_congestion = 0;
    std::uint32_t m_threshold = kWindowPackets;
    std::uint32_t m_growth = 0; // acknowledged since the window grew, beyond the threshold
    std::array<lib::Nanoseconds, kWindowPackets> m_sent_at{};
    lib::Nanoseconds m_newest_arrived; // when the newest packet known to have arrived was sent

    lib::Nanoseconds m_now;
    RoundTrip m_round_trip;
    lib::Nanoseconds m_timer;                   // the retransmission timeout counts from here
    std::optional<lib::Nanoseconds> m_heard_at; // when the collector's last answer came
    std::uint32_t m_silent = 0;
    std::uint32_t m_fruitless = 0; // handshakes in a row after which no packet has arrived
    std::size_t m_budget = 0;      // datagrams that this step may still send
    lib::Nanoseconds m_hello_at;   // when the next HELLO is due
    lib::Nanoseconds m_hello_interval;
    lib::Nanoseconds m_hello_stamp;
    lib::Nanoseconds m_fin_at; // when the next FIN is due
    lib::Nanoseconds m_fin_stamp;
    std::optional<lib::Nanoseconds> m_patience;
    lib::Nanoseconds m_progress_at;
    Counters m_counters;
    lib::FoldedCrc32c<kBodyBytesMax> m_whole_body_crc;
    std::array<std::byte, kBytesMax> m_packet{};
    std::array<std::byte, kBytesMax + 1> m_datagram{}; // one more: a longer datagram is refused, not cut
};

} // namespace tracer::reliable
