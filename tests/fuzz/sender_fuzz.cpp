// SPDX-License-Identifier: MIT
// What arrives at the sender of the acknowledged export: bytes as they are, and answers completed with what no random
// change guesses (session, time stamp, CRC, MAC). A step stays within its bounds, and a chunk is released only by an
// answer that says that all of it is durable.
#include "tests/fuzz/pieces.hpp"
#include "tracer/reliable/sender.hpp"

#include <deque>
#include <optional>
#include <vector>

namespace {

namespace wire = tracer::reliable;
using fuzz::Pieces;
using fuzz::require;
using tracer::SinkState;
using Bytes = std::vector<std::byte>;

constexpr wire::SipKey kKey{5, 6};
constexpr std::uint64_t kCookie = 9;
constexpr std::size_t kChunkBytes = 5 * wire::kBodyBytesMax;

class Network final : public wire::DatagramPeer {
  public:
    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        require(datagram.size() <= wire::kBytesMax && ++sent_in_step <= wire::ReliableSink::kSentPerStep);
        if (result) {
            last = wire::decode(datagram).value();
        }
        return result;
    }

    [[nodiscard]] lib::Result<void> poll() override { return {}; }

    [[nodiscard]] bool sending() const override { return false; }

    [[nodiscard]] lib::Nanoseconds now() override { return time; }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        if (inbox.empty()) {
            return lib::Error::not_found;
        }
        require(++received_in_step <= wire::ReliableSink::kReceivedPerStep);
        const Bytes datagram = std::move(inbox.front());
        inbox.pop_front();
        if (datagram.size() > out.size()) {
            return lib::Error::no_space;
        }
        std::ranges::copy(datagram, out.begin());
        return datagram.size();
    }

    wire::Header last; // that was sent
    lib::Result<void> result;
    std::deque<Bytes> inbox;
    std::size_t sent_in_step = 0;
    std::size_t received_in_step = 0;
    lib::Nanoseconds time = lib::milliseconds(1);
};

struct Sending {
    Sending(bool with_key, bool finish)
        : keyed(with_key)
        , memory(kChunkBytes, std::byte{0x5A}) {
        if (keyed) {
            sink.set_key(kKey);
        }
        tracer::ChunkImage image;
        image.parts[0] = std::span(memory).first(48);
        image.parts[2] = std::span(memory).subspan(48);
        image.description.boot_id = 7;
        finish_after = finish;
        require(sink.submit(image).ok());
    }

    // An answer to what was sent last, with deviations that the input chooses.
    Bytes answer(Pieces& input) {
        wire::Header header = network.last;
        header.type = static_cast<wire::PacketType>(1 + input.byte() % 8);
        header.flags = input.byte();
        const std::uint8_t change = input.byte();
        header.session = (change & 1U) != 0 ? header.session + 1 : sink.session();
        header.stream = static_cast<std::uint16_t>((change & 2U) != 0 ? 1 : header.stream);
        header.stamp -= (change & 4U) != 0 ? input.byte() : 0;
        header.seq = (change & 8U) != 0 ? input.number<std::uint16_t>() : header.seq + (change >> 4U);
        Bytes packet(wire::kHeaderBytes + wire::kControlBytes);
        std::uint64_t first = input.byte();
        const std::uint32_t second = input.byte();
        if (header.type == wire::PacketType::hello_ack) {
            first = kCookie;
        }
        const bool crc_is_right = header.type == wire::PacketType::hello_ack && header.seq <= kChunkBytes / 1024;
        lib::store_le(std::span(packet).subspan(wire::kHeaderBytes), first);
        lib::store_le(std::span(packet).subspan(wire::kHeaderBytes + 8),
                      crc_is_right ? lib::crc32c(std::span(memory).first(header.seq * 1024)) : second);
        lib::store_le(std::span(packet).subspan(wire::kHeaderBytes + 12), std::uint32_t{input.byte()});
        const wire::SipKey session = wire::session_key(keyed ? kKey : wire::SipKey{}, sink.session(), kCookie);
        const wire::SipKey* const key = wire::before_session(header.type) ? (keyed ? &kKey : nullptr) : &session;
        wire::encode(header.type == wire::PacketType::data ? wire::Header{.type = wire::PacketType::ack} : header, key,
                     packet, keyed ? wire::Covers::packet : wire::Covers::header);
        return packet;
    }

    void step(Pieces& input) {
        const std::uint8_t how = input.byte();
        network.time = network.time + lib::Nanoseconds{(how & 3U) == 3U ? 300'000'000U : 100'000U * (how & 3U)};
        constexpr auto kResults =
            std::to_array<lib::Error>({lib::Error::busy, lib::Error::unreachable, lib::Error::io});
        const std::uint8_t result = (how >> 2U) & 0x0FU;
        network.result = result < kResults.size() ? lib::Result<void>(kResults[result]) : lib::Result<void>{};
        if ((how & 0x40U) != 0) {
            const auto raw = input.packet();
            network.inbox.emplace_back(raw.begin(), raw.end());
        } else if ((how & 0x80U) != 0) {
            network.inbox.push_back(answer(input));
        }
        network.sent_in_step = 0;
        network.received_in_step = 0;
        static_cast<void>(sink.step());
        if (sink.state() == SinkState::idle && finish_after) {
            finish_after = false;
            require(sink.counters().handshakes != 0); // released by an answer
            require(sink.finish({.chunks = 1}).ok());
        }
    }

    bool keyed;
    bool finish_after = false;
    std::vector<std::byte> memory;
    Network network;
    wire::ReliableSink sink{network, {}};
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Pieces input(data, size);
    const std::uint8_t options = input.byte();
    Sending sending((options & 1U) != 0, (options & 2U) != 0);
    while (!input.empty()) {
        sending.step(input);
    }
    return 0;
}
