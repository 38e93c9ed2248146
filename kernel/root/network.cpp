// SPDX-License-Identifier: MIT
// Finds and starts the network card, resolves the peer, and keeps the one sink of the network.
#include "kernel/root/sinks.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/port_io.hpp"
#include "drivers/clock.hpp"
#include "drivers/fw_cfg.hpp"
#include "drivers/ne2000/device.hpp"
#include "drivers/net/udp_endpoint.hpp"
#include "drivers/pci.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/hang.hpp"
#include "tracer/instance.hpp"
#include "tracer/reliable/siphash.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <new>

namespace kernel::root {

namespace {

using Ports = arch::x86_64::PortIo;
namespace ne2000 = drivers::ne2000;
namespace net = drivers::net;

class MachineClock final : public drivers::Clock {
  public:
    constexpr MachineClock() = default;

    [[nodiscard]] lib::Ticks now() override { return arch::timestamp(); }

    [[nodiscard]] lib::TickRate rate() const override { return arch::tick_rate(); }

    // Kicks the watchdog, because every wait that uses this clock has its own limit.
    void pause() override {
        watchdog_kick();
        Ports::pause();
    }
};

// A FlowPeer is the tracer's view of a flow. A frame that was lost when the card was reset is sent again, a limited
// number of times. While nothing happens, the card is polled only now and then, because under emulation a look takes
// longer than the clock shows.
class FlowPeer final : public tracer::reliable::DatagramPeer {
  public:
    constexpr FlowPeer(net::UdpEndpoint& endpoint, drivers::Clock& clock)
        : m_endpoint(endpoint)
        , m_clock(clock) {}

    [[nodiscard]] lib::Result<void> send(std::span<const std::byte> datagram) override {
        const auto sent = m_endpoint.send(datagram);
        if (sent.ok()) {
            m_resets = 0;
        } else if (sent.error() == lib::Error::timeout && ++m_resets <= kResetsMax) {
            return lib::Error::busy;
        }
        return sent;
    }

    [[nodiscard]] lib::Result<void> poll() override {
        const lib::Nanoseconds time = now();
        if (m_endpoint.sending() || time >= m_next_look) {
            m_endpoint.poll();
            m_next_look = time + kLookInterval;
        }
        return {};
    }

    [[nodiscard]] lib::Result<std::size_t> receive(std::span<std::byte> out) override {
        const auto size = m_endpoint.receive(out);
        m_next_look = size ? lib::Nanoseconds{} : m_next_look;
        return size;
    }

    [[nodiscard]] bool sending() const override { return m_endpoint.sending(); }

    [[nodiscard]] lib::Nanoseconds now() override { return m_clock.rate().to_nanoseconds(m_clock.now()); }

  private:
    static constexpr int kResetsMax = 3; // in a row
    static constexpr lib::Nanoseconds kLookInterval = lib::microseconds(20);

    net::UdpEndpoint& m_endpoint;
    drivers::Clock& m_clock;
    int m_resets = 0;
    lib::Nanoseconds m_next_look;
};

constinit Ports g_ports{};
constinit MachineClock g_clock{};
constinit ne2000::Device<Ports> g_card{g_ports, g_clock};
constinit net::UdpEndpoint g_endpoint{g_card, g_clock};
constinit FlowPeer g_peer{g_endpoint, g_clock};
constinit tracer::reliable::NetworkSink g_network_sink{g_peer};
constinit std::optional<lib::Error> g_refusal{}; // of the key or of the protocol, for the whole run

lib::Error report_network(std::string_view what, lib::Error error) {
    console().line("network: ", what, ": ", lib::error_name(error));
    return error;
}

lib::Result<std::uint16_t> find_card(NicChoice nic) {
    if (nic == NicChoice::isa) {
        return ne2000::kIsaBase;
    }
    if (nic == NicChoice::none) {
        return lib::Error::not_found;
    }
    drivers::PciConfig pci(g_ports);
    return ne2000::locate_on_pci(pci);
}

lib::Result<void> start_card(const NetworkSetup& setup) {
    const auto io_base = find_card(setup.nic);
    if (!io_base.ok()) {
        return report_network("no NE2000 card found (nic=pci looks for 10ec:8029, nic=isa at port 0x300)",
                              io_base.error());
    }
    const ne2000::DataWidth asked{static_cast<std::uint8_t>(setup.width_bits / 8)};
    if (const auto started = g_card.start({.io_base = io_base.value(), .width_max = asked}); !started.ok()) {
        return report_network("the card does not work as an NE2000", started.error());
    }
    if (g_card.width() != asked) {
        console().line("network: the card takes accesses of ", 8 * static_cast<unsigned>(g_card.width()),
                       " bits, not of ", setup.width_bits);
    }
    return {};
}

using Key = lib::Result<tracer::reliable::SipKey>;

constinit Key g_loader_key{lib::Error::not_found};

// Wipes bytes. The compiler must not remove this, although nothing reads the bytes afterwards.
void wipe(std::span<std::byte> bytes) {
    std::ranges::fill(bytes, std::byte{0});
    asm volatile("" : : "r"(bytes.data()) : "memory");
}

// Returns the key that QEMU provides. It is not on the command line, which the console and the trace may show.
Key machine_key() {
    std::array<std::byte, tracer::reliable::kKeyTextMax> text{};
    drivers::FirmwareConfig files(g_ports);
    const auto size = files.read("opt/remora/key", text);
    if (!size.ok()) {
        return size.error() == lib::Error::not_found ? lib::Error::not_found : lib::Error::corrupt;
    }
    const Key key = tracer::reliable::key_of_text({reinterpret_cast<const char*>(text.data()), size.value()});
    wipe(text);
    return key;
}

lib::Result<void> use_key() {
    const Key of_machine = machine_key();
    const Key key = tracer::reliable::agreed_key(of_machine, g_loader_key);
    if (key.ok()) {
        g_network_sink.set_key(key.value());
        return {};
    }
    if (key.error() == lib::Error::not_found) {
        return {};
    }
    if (key.error() == lib::Error::refused) {
        return report_network("the keys opt/remora/key and \\remora.key differ: leave one of them out", key.error());
    }
    const bool of_loader = of_machine.ok() || of_machine.error() == lib::Error::not_found;
    return report_network(of_loader ? "the key \\remora.key is not 32 hexadecimal digits"
                                    : "the key opt/remora/key is not 32 hexadecimal digits",
                          lib::Error::corrupt);
}

// Prepares the sink before the flow can carry anything.
lib::Result<void> prepare_sink(tracer::reliable::Protocol protocol) {
    g_network_sink.set_boot(tracer::instance().exporter.setup().boot_id);
    if (const auto keyed = use_key(); !keyed.ok()) {
        return keyed;
    }
    if (const auto chosen = g_network_sink.choose(protocol); !chosen.ok()) {
        return report_network("TRACER-V1.0 was chosen, and there is a key, which it does not use", chosen.error());
    }
    return {};
}

} // namespace

tracer::reliable::DatagramPeer& network_peer() {
    return g_peer;
}

tracer::reliable::NetworkSink& network_sink() {
    return g_network_sink;
}

void keep_loader_key(arch::BootInfo& boot) {
    static_assert(arch::BootInfo::kKeyFileMax > tracer::reliable::kKeyTextMax);
    if (boot.has_key != 0) {
        g_loader_key = boot.key_bytes <= boot.key.size()
                           ? tracer::reliable::key_of_text({boot.key.data(), boot.key_bytes})
                           : Key(lib::Error::corrupt);
        wipe(std::as_writable_bytes(std::span(boot.key)));
    }
}

void renew_network_sink(tracer::reliable::Protocol protocol) {
    ::new (&g_network_sink) tracer::reliable::NetworkSink(g_peer);
    if (g_endpoint.state() == net::UdpEndpoint::State::ready) {
        static_cast<void>(prepare_sink(protocol)); // as when it was opened; a flow that is not open is prepared later
    }
}

lib::Result<tracer::ChunkSink*> open_network(const NetworkSetup& setup) {
    const auto local = net::parse_ipv4_address(setup.local_address);
    const auto target = net::parse_ipv4_address(setup.target_address);
    if (!local.ok() || !target.ok()) {
        return report_network("addresses are written 192.168.1.10", lib::Error::invalid_argument);
    }
    const net::UdpFlow flow{.local_address = local.value(),
                            .peer_address = target.value(),
                            .local_port = {setup.port},
                            .peer_port = {setup.port}};
    if (!flow.valid()) {
        return report_network("the flow needs the addresses of two machines", lib::Error::invalid_argument);
    }
    if (g_refusal) {
        return *g_refusal;
    }
    if (g_endpoint.state() == net::UdpEndpoint::State::ready) {
        return flow == g_endpoint.flow() ? lib::Result<tracer::ChunkSink*>(&g_network_sink)
                                         : report_network("a flow between other addresses is open", lib::Error::exists);
    }
    if (const auto prepared = prepare_sink(setup.protocol); !prepared.ok()) {
        g_refusal = prepared.error();
        return *g_refusal;
    }
    if (!setup.start && !g_card.running()) {
        return report_network("the card has not been started", lib::Error::refused);
    }
    if (!g_card.running()) {
        if (const auto started = start_card(setup); !started.ok()) {
            return started.error();
        }
    }
    const auto opened = g_endpoint.open(flow);
    if (!opened.ok()) {
        return report_network("the flow cannot be opened", opened.error());
    }
    if (!setup.wait) {
        return &g_network_sink;
    }
    if (const auto ready = g_endpoint.wait_until_ready(); !ready.ok()) {
        return report_network("the target does not answer ARP", ready.error());
    }
    return &g_network_sink;
}

} // namespace kernel::root
