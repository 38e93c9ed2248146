// SPDX-License-Identifier: MIT
// Frames from the segment at the guest's protocols (ARP, IPv4, UDP, ICMP): as they are, and with addresses and
// checksums completed. A frame causes one answer at most, which is no longer than it (or than the smallest frame there
// is), and a datagram is passed on only to the flow that it is of.
#include "drivers/net/packets.hpp"
#include "drivers/net/udp_endpoint.hpp"
#include "tests/fuzz/pieces.hpp"

#include <array>
#include <vector>

namespace {

using namespace drivers;
using fuzz::Pieces;
using fuzz::require;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kShortestFrame = 60;
constexpr net::UdpFlow kFlow{
    .local_address = {0x0A00'020F}, .peer_address = {0x0A00'0202}, .local_port = {10000}, .peer_port = {20000}};

constexpr net::MacAddress kMac{
    {std::byte{0x52}, std::byte{0x54}, std::byte{0}, std::byte{1}, std::byte{2}, std::byte{3}}};

class StepClock final : public Clock {
  public:
    [[nodiscard]] lib::Ticks now() override { return lib::Ticks{m_now += 1'000}; }

    [[nodiscard]] lib::TickRate rate() const override { return lib::TickRate{1'000'000}; }

    void pause() override { m_now += 100'000; }

  private:
    std::uint64_t m_now = 1;
};

class Card final : public net::Device {
  public:
    [[nodiscard]] net::MacAddress mac() const override { return kMac; }

    [[nodiscard]] lib::Result<void> send_frame(std::span<const std::byte> frame) override {
        require(frame.size() >= 14 && frame.size() <= net::kFrameBytesMax);
        sent_bytes += frame.size();
        ++sent;
        return {};
    }

    [[nodiscard]] lib::Result<std::size_t> receive_frame(std::span<std::byte> /*out*/) override {
        return lib::Error::not_found;
    }

    void poll() override {}

    [[nodiscard]] bool sending() const override { return false; }

    std::size_t sent = 0;
    std::size_t sent_bytes = 0;
};

void store_be16(Bytes& frame, std::size_t at, std::uint16_t value) {
    frame[at] = static_cast<std::byte>(value >> 8);
    frame[at + 1] = static_cast<std::byte>(value);
}

void store_be32(Bytes& frame, std::size_t at, std::uint32_t value) {
    store_be16(frame, at, static_cast<std::uint16_t>(value >> 16));
    store_be16(frame, at + 2, static_cast<std::uint16_t>(value));
}

std::uint16_t load_be16(const Bytes& frame, std::size_t at) {
    return static_cast<std::uint16_t>(std::to_integer<unsigned>(frame[at]) << 8 |
                                      std::to_integer<unsigned>(frame[at + 1]));
}

// The Internet checksum, written by hand (RFC 1071), of these bytes and a sum before them.
std::uint16_t checksum(const Bytes& frame, std::size_t from, std::size_t to, std::uint32_t sum) {
    for (std::size_t at = from; at < to; ++at) {
        sum += std::to_integer<std::uint32_t>(frame[at]) << ((at - from) % 2 == 0 ? 8 : 0);
    }
    while (sum > 0xFFFF) {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    return static_cast<std::uint16_t>(~sum);
}

// Type, addresses and checksums that pass, around whatever else the frame has; `how` chooses which.
void complete(Bytes& frame, std::uint8_t how) {
    if (frame.size() < 42) {
        return;
    }
    if ((how & 32U) == 0) {
        std::ranges::copy(kMac.bytes, frame.begin());
    }
    frame[6] &= std::byte{0xFE}; // no group address sends
    const bool arp = (how & 1U) != 0;
    store_be16(frame, 12, arp ? net::kEtherTypeArp : net::kEtherTypeIpv4);
    if (arp) {
        constexpr std::array<std::uint8_t, 7> kEthernetIpv4 = {0, 1, 8, 0, 6, 4, 0};
        std::ranges::transform(kEthernetIpv4, frame.begin() + 14, [](std::uint8_t byte) { return std::byte{byte}; });
        store_be32(frame, 38, kFlow.local_address.value);
        if ((how & 2U) != 0) {
            store_be32(frame, 28, kFlow.peer_address.value);
        }
        return;
    }
    const std::size_t header = 20 + ((how & 2U) != 0 ? std::size_t{4} : 0);
    frame[14] = static_cast<std::byte>(0x40 + header / 4);
    const bool udp = (how & 4U) != 0;
    frame[23] = std::byte{udp ? std::uint8_t{17} : std::uint8_t{1}};
    if ((how & 8U) == 0) {
        store_be16(frame, 16, static_cast<std::uint16_t>(frame.size() - 14));
        store_be16(frame, 20, 0); // no fragment
    }
    store_be32(frame, 26, kFlow.peer_address.value);
    store_be32(frame, 30, kFlow.local_address.value);
    store_be16(frame, 24, 0);
    store_be16(frame, 24, checksum(frame, 14, 14 + header, 0));
    const std::size_t body = 14 + header;
    const std::size_t end = std::min<std::size_t>(frame.size(), std::size_t{14} + load_be16(frame, 16));
    if (end < body + 8) {
        return;
    }
    std::uint32_t sum = 0;
    if (udp) {
        store_be16(frame, body, kFlow.peer_port.value);
        store_be16(frame, body + 2, kFlow.local_port.value);
        store_be16(frame, body + 4, static_cast<std::uint16_t>(end - body - ((how & 16U) != 0 ? 1U : 0U)));
        for (const std::size_t at : {26U, 28U, 30U, 32U}) {
            sum += load_be16(frame, at);
        }
        sum += 17 + static_cast<std::uint32_t>(load_be16(frame, body + 4));
    }
    const std::size_t place = body + (udp ? 6 : 2);
    store_be16(frame, place, 0);
    store_be16(frame, place, checksum(frame, body, udp ? body + load_be16(frame, body + 4) : end, sum));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Pieces input(data, size);
    StepClock clock;
    Card card;
    net::UdpEndpoint endpoint(card, clock);
    require(endpoint.open(kFlow).ok());
    std::array<std::byte, 512> out{};
    while (!input.empty()) {
        const std::uint8_t how = input.byte();
        const auto piece = input.packet();
        Bytes frame(piece.begin(), piece.end());
        if ((how & 0x80U) != 0) {
            complete(frame, how);
        }
        card.sent = 0;
        card.sent_bytes = 0;
        endpoint.handle_frame(frame);
        require(card.sent <= 1 && card.sent_bytes <= std::max(frame.size(), kShortestFrame));
        if ((how & 0x40U) != 0) {
            endpoint.poll();
            const auto received = endpoint.receive(out);
            require(!received || received.value() <= out.size());
            static_cast<void>(endpoint.send(out));
        }
    }
    return 0;
}
