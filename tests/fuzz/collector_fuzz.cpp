// SPDX-License-Identifier: MIT
// Datagrams of both versions at the collector, from several machines: as they are, and completed with what no random
// change guesses (sizes, CRC, cookie, MAC). No answer is longer than its packet, there is one at most, and what a store
// is promised is what it was given.
#include "host/collector/reliable/receiver.hpp"
#include "host/collector/session_table.hpp"
#include "host/formats/dat/chunk_begin.hpp"
#include "host/formats/dat/packet_order.hpp"
#include "tests/fuzz/pieces.hpp"
#include "tracer/export/wire.hpp"

#include <map>
#include <vector>

namespace {

namespace wire = tracer::reliable;
namespace reliable = host::collector::reliable;
using fuzz::Pieces;
using fuzz::require;
using Bytes = std::vector<std::byte>;

struct Stored {
    std::map<std::uint16_t, reliable::Mark> marks;
    std::map<std::uint16_t, std::uint64_t> bytes;
};

class Store final : public reliable::SessionStore {
  public:
    Store(Stored& stored, const bool& full)
        : m_stored(stored)
        , m_full(full) {}

    [[nodiscard]] reliable::Mark durable(std::uint16_t stream) const override {
        const auto found = m_stored.marks.find(stream);
        return found == m_stored.marks.end() ? reliable::Mark{} : found->second;
    }

    [[nodiscard]] bool append(std::uint16_t stream, std::span<const std::byte> records) override {
        require(!records.empty() && records.size() % tracer::kRecordBytes == 0);
        m_stored.bytes[stream] += m_full ? 0 : records.size();
        return !m_full;
    }

    void lost(std::uint16_t /*stream*/, std::uint64_t packets) override { require(packets != 0); }

    [[nodiscard]] bool sync(std::uint16_t stream, const reliable::Mark& mark) override {
        require(mark.bytes == m_stored.bytes[stream]);
        if (!m_full) {
            m_stored.marks[stream] = mark;
        }
        return !m_full;
    }

  private:
    Stored& m_stored;
    const bool& m_full;
};

class Collector final : public reliable::StoreProvider {
  public:
    explicit Collector(bool keyed)
        : m_key(keyed ? std::optional(wire::SipKey{1, 2}) : std::nullopt)
        , m_receiver(*this, {.secret = {3, 4}, .key = m_key}) {}

    [[nodiscard]] std::shared_ptr<reliable::SessionStore> open(const reliable::Peer& peer,
                                                               std::uint64_t session) override {
        Stored& stored = m_stored[{peer.port, session}];
        for (auto& [stream, bytes] : stored.bytes) {
            bytes = stored.marks[stream].bytes; // of an earlier store
        }
        return m_full ? nullptr : std::make_unique<Store>(stored, m_full);
    }

    void take(Pieces& input) {
        const std::uint8_t how = input.byte();
        m_now = m_now + lib::Nanoseconds{(how & 0x0FU) == 0x0FU ? 70'000'000'000ULL : std::uint64_t{how} * 100'000};
        m_full = (how & 0x10U) != 0;
        const reliable::Peer peer{0x7F00'0001, static_cast<std::uint16_t>(1 + (how >> 6U))};
        if ((how & 0x20U) != 0) {
            handle((how & 1U) != 0 ? version_1(input) : as_it_is(input), peer);
        } else {
            handle(completed(input, peer), peer);
        }
        m_receiver.tick(m_now, [this](const reliable::Peer&, std::span<const std::byte> reply) {
            require(reply.size() == wire::kHeaderBytes + wire::kControlBytes && ++m_replies <= m_packets);
        });
    }

    ~Collector() override { static_cast<void>(m_receiver.sync_all()); }

  private:
    static Bytes as_it_is(Pieces& input) {
        const auto raw = input.packet();
        return {raw.begin(), raw.end()};
    }

    static Bytes version_1(Pieces& input) {
        const std::uint32_t number = input.number<std::uint16_t>();
        const auto body = input.packet();
        const std::size_t records = std::min(body.size() / tracer::kRecordBytes, tracer::kPacketRecordsMax);
        Bytes packet(tracer::kPacketHeaderBytes + records * tracer::kRecordBytes);
        tracer::encode_packet_header(
            {number, static_cast<std::uint32_t>(records), static_cast<std::uint32_t>(packet.size())}, packet);
        std::ranges::copy(body.first(records * tracer::kRecordBytes), packet.begin() + tracer::kPacketHeaderBytes);
        return packet;
    }

    // A packet that decode() accepts; a HELLO has its cookie, and the rest its MAC, if a session is open.
    Bytes completed(Pieces& input, const reliable::Peer& peer) {
        wire::Header header;
        header.type = static_cast<wire::PacketType>(1 + input.byte() % 8);
        header.flags = input.byte();
        header.stream = input.byte() % 3;
        header.session = input.byte() % 3;
        header.seq = input.number<std::uint16_t>();
        header.stamp = input.number<std::uint16_t>();
        const auto body = input.packet();
        const std::size_t records = std::clamp<std::size_t>(body.size() / tracer::kRecordBytes, 1, wire::kRecordsMax);
        Bytes packet(wire::kHeaderBytes +
                     (header.type == wire::PacketType::data ? records * tracer::kRecordBytes : wire::kControlBytes));
        std::ranges::copy(body.first(std::min(body.size(), packet.size() - wire::kHeaderBytes)),
                          packet.begin() + wire::kHeaderBytes);
        const wire::SipKey* key = m_key ? &*m_key : nullptr;
        for (const auto& entry : m_receiver.sessions()) {
            if (!wire::before_session(header.type) && entry->peer == peer && entry->number == header.session) {
                key = &entry->key;
            }
        }
        const auto covers = m_key ? wire::Covers::packet : wire::Covers::header;
        wire::encode(header, key, packet, covers);
        if (header.type == wire::PacketType::hello) {
            const Bytes answer = handle(packet, peer);
            if (!answer.empty()) {
                lib::store_le(std::span(packet).subspan(wire::kHeaderBytes),
                              wire::decode_body<wire::HelloAck>(answer).cookie);
                wire::encode(header, key, packet, covers);
            }
        }
        return packet;
    }

    Bytes handle(const Bytes& datagram, const reliable::Peer& peer) {
        ++m_packets;
        if (!wire::is_version_2(datagram)) {
            handle_version_1(datagram, peer);
            return {};
        }
        const auto reply = m_receiver.handle(datagram, peer, m_now);
        require(reply.size() <= datagram.size());
        m_replies += reply.empty() ? 0U : 1U;
        require(m_replies <= m_packets);
        return {reply.begin(), reply.end()};
    }

    void handle_version_1(const Bytes& datagram, const reliable::Peer& peer) {
        const auto header = tracer::decode_packet_header(datagram);
        if (!header || header.value().number == 0) {
            return;
        }
        const auto records = std::span(datagram).subspan(tracer::kPacketHeaderBytes);
        const bool begins = host::formats::dat::read_chunk_begin(records).has_value();
        const auto held = m_strangers.take({peer.ipv4, peer.port}, header.value().number, records, begins);
        require(!held || held->size() <= host::collector::Strangers::kHeldMax);
        m_order.accept(header.value().number, records);
    }

    std::optional<wire::SipKey> m_key;
    bool m_full = false;
    std::map<std::pair<std::uint16_t, std::uint64_t>, Stored> m_stored;
    lib::Nanoseconds m_now = lib::milliseconds(1);
    std::uint64_t m_packets = 0;
    std::uint64_t m_replies = 0;
    reliable::Receiver m_receiver;
    host::collector::Strangers m_strangers;
    host::formats::dat::PacketOrder m_order{[](std::span<const std::byte>, std::uint64_t) {}};
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Pieces input(data, size);
    Collector collector((input.byte() & 1U) != 0);
    while (!input.empty()) {
        collector.take(input);
    }
    return 0;
}
