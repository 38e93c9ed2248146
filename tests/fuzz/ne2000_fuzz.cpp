// SPDX-License-Identifier: MIT
// An NE2000 whose every register and every byte of memory comes from the input, once it has been found: frames are
// taken from its ring and sent through it, alone and below the protocols. Every call ends within a bounded number of
// accesses to the card, and no frame is longer than its place.
#include "drivers/ne2000/device.hpp"
#include "drivers/net/udp_endpoint.hpp"
#include "tests/fuzz/pieces.hpp"

#include <array>

namespace {

using namespace drivers;
using fuzz::Pieces;
using fuzz::require;

constexpr std::uint64_t kAccessesMax = 400'000; // of one call: a reset that times out, 40 ms of polling

class AccessClock final : public Clock {
  public:
    [[nodiscard]] lib::Ticks now() override { return lib::Ticks{time_ns += 500}; }

    [[nodiscard]] lib::TickRate rate() const override { return lib::TickRate{1'000'000}; }

    void pause() override { time_ns += 10'000; }

    std::uint64_t time_ns = 1;
};

// The registers of a card that works, until `wild`; then whatever the input says, and zeros after it.
class Ports {
  public:
    explicit Ports(Pieces& input)
        : m_input(input) {}

    std::uint8_t in8(std::uint16_t port) {
        require(++accesses < kAccessesMax);
        const auto reg = static_cast<std::uint8_t>(port - ne2000::kIsaBase);
        if (!wild) {
            return tame(reg);
        }
        // RDC most of the time: without it nothing but timeouts would be tried.
        const std::uint8_t value = m_input.byte();
        return reg == ne2000::kRegISR && m_page == 0 && value < 0xE0
                   ? static_cast<std::uint8_t>((value & 0x1FU) | ne2000::kIsrRDC)
                   : value;
    }

    std::uint16_t in16(std::uint16_t /*port*/) { return m_input.number<std::uint16_t>(); }

    std::uint32_t in32(std::uint16_t /*port*/) { return m_input.number<std::uint32_t>(); }

    void out8(std::uint16_t port, std::uint8_t value) {
        require(++accesses < kAccessesMax);
        if (port == ne2000::kIsaBase + ne2000::kRegCR) {
            m_command = value;
            m_page = value >> 6U;
            m_written = 0;
            m_read = 0;
        }
    }

    void out16(std::uint16_t /*port*/, std::uint16_t /*value*/) {}

    void out32(std::uint16_t /*port*/, std::uint32_t /*value*/) {}

    void in_block8(std::uint16_t /*port*/, std::span<std::byte> in) {
        for (std::byte& byte : in) { // of the PROM
            byte = static_cast<std::byte>(tame(ne2000::kDataPort));
        }
    }

    void in_block16(std::uint16_t /*port*/, std::span<std::byte> in) {
        if (!wild) { // what was written last, piece by piece
            require(m_read + in.size() <= m_memory.size());
            std::ranges::copy(std::span(m_memory).subspan(m_read, in.size()), in.begin());
            m_read += in.size();
            return;
        }
        std::ranges::fill(in, std::byte{0});
        std::ranges::copy(m_input.take(in.size()), in.begin());
        if (in.size() > ne2000::kRingHeaderBytes && (m_command & 1U) == 0) { // a frame: to this card, by another
            for (std::size_t i = 0; i < 6; ++i) {
                in[i] = std::byte{static_cast<std::uint8_t>(2 * i)};
            }
        }
    }

    void in_block32(std::uint16_t port, std::span<std::byte> in) { in_block16(port, in); }

    void out_block8(std::uint16_t /*port*/, std::span<const std::byte> /*out*/) {}

    void out_block16(std::uint16_t /*port*/, std::span<const std::byte> out) {
        if (!wild) {
            require(m_written + out.size() <= m_memory.size());
            std::ranges::copy(out, std::span(m_memory).subspan(m_written).begin());
            m_written += out.size();
        }
    }

    void out_block32(std::uint16_t port, std::span<const std::byte> out) { out_block16(port, out); }

    bool wild = false;
    std::uint64_t accesses = 0;

  private:
    std::uint8_t tame(std::uint8_t reg) {
        if (reg == ne2000::kDataPort) {
            const std::size_t at = m_prom++ / 2;
            return at >= 14 ? std::uint8_t{0x57} : static_cast<std::uint8_t>(at * 2);
        }
        if (reg == ne2000::kRegCR) {
            return m_command;
        }
        return reg == ne2000::kRegISR ? static_cast<std::uint8_t>(ne2000::kIsrRST | ne2000::kIsrRDC) : std::uint8_t{0};
    }

    Pieces& m_input;
    std::uint8_t m_command = ne2000::kCommandStop;
    unsigned m_page = 0;
    std::size_t m_prom = 0;
    std::array<std::byte, ne2000::kTriedBytes> m_memory{}; // of the card, as long as it works
    std::size_t m_written = 0;                             // of the transfer in progress
    std::size_t m_read = 0;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    Pieces input(data, size);
    const std::uint8_t options = input.byte();
    Ports ports(input);
    AccessClock clock;
    ne2000::Device<Ports> card(ports, clock);
    require(card.start({.width_max = (options & 1U) != 0 ? ne2000::DataWidth::dword32 : ne2000::DataWidth::word16,
                        .stop_page = static_cast<std::uint8_t>((options & 2U) != 0 ? 0xC0 : 0x80)})
                .ok());
    net::UdpEndpoint endpoint(card, clock);
    require(endpoint
                .open({.local_address = {0x0A00'020F},
                       .peer_address = {0x0A00'0202},
                       .local_port = {10000},
                       .peer_port = {20000}})
                .ok());
    ports.wild = true;
    std::array<std::byte, net::kReceiveFrameBytesMax> frame{};
    while (!input.empty()) {
        const std::uint8_t how = input.byte();
        ports.accesses = 0;
        if ((how & 3U) == 0) {
            endpoint.poll();
        } else if ((how & 3U) == 1) {
            static_cast<void>(card.send_frame(std::span(frame).first(std::min<std::size_t>(frame.size(), how * 6U))));
        } else if ((how & 3U) == 2) {
            card.poll();
        } else {
            const auto out = std::span(frame).first((how & 4U) != 0 ? frame.size() : how);
            const auto taken = card.receive_frame(out);
            require(!taken || taken.value() <= out.size());
        }
    }
    return 0;
}
