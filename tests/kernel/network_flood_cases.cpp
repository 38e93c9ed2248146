// SPDX-License-Identifier: MIT
// The other end of the wire sends as fast as it can, frames good and bad, at a card that a task of low priority polls.
// Tasks with deadlines run beside it and are never late, the card continues, and a flow passes through all of it. The
// case has a card of its own (the command line says nic=none); tests/integration/guest.py is the other end: it answers
// ARP, floods, and answers each numbered request with the same number.
#include "arch/arch.hpp"
#include "arch/x86_64/port_io.hpp"
#include "drivers/clock.hpp"
#include "drivers/ne2000/device.hpp"
#include "drivers/net/udp_endpoint.hpp"
#include "drivers/pci.hpp"
#include "lib/endian.hpp"
#include "tests/kernel/case.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace {

namespace network_flood_cases {

using namespace guest;
using Ports = arch::x86_64::PortIo;
namespace ne2000 = drivers::ne2000;
namespace net = drivers::net;

class MachineClock final : public drivers::Clock {
  public:
    constexpr MachineClock() = default;

    [[nodiscard]] lib::Ticks now() override { return kernel::now(); }

    [[nodiscard]] lib::TickRate rate() const override { return arch::tick_rate(); }

    void pause() override { Ports::pause(); }
};

constinit Ports g_ports{};
constinit MachineClock g_clock{};
constinit ne2000::Device<Ports> g_card{g_ports, g_clock};
constinit net::UdpEndpoint g_endpoint{g_card, g_clock};

constexpr std::uint64_t kFramesWanted = 3'000;
constexpr std::uint32_t kRequestsWanted = 40;
constexpr std::uint32_t kPollsPerRequest = 500; // then it is sent again: the flood may have taken its place
constexpr std::uint32_t kPollsMax = 10'000'000;

net::Ipv4Address address(const char* text) {
    return must(net::parse_ipv4_address(text));
}

void start_card(const kernel::AppArguments& arguments) {
    drivers::PciConfig pci(g_ports);
    const auto io_base = must(ne2000::locate_on_pci(pci));
    must(g_card.start({.io_base = io_base, .width_max = ne2000::DataWidth::word16, .stop_page = 0x60}));
    must(g_endpoint.open({.local_address = address(arguments.local_address),
                          .peer_address = address(arguments.target_address),
                          .local_port = {20'000},
                          .peer_port = {20'000}}));
    must(g_endpoint.wait_until_ready());
}

void busy(void*) {
    for (;;) {
        const lib::Ticks end = kernel::task_cpu_time() + kernel::to_ticks(lib::microseconds(200));
        while (kernel::task_cpu_time() < end) {
        }
        kernel::task_endcycle();
    }
}

struct Progress {
    std::uint32_t answered = 0; // requests 1..answered
    std::uint32_t sent = 0;
    std::uint32_t polls_since = kPollsPerRequest;
};

void ask(Progress& progress) {
    std::array<std::byte, 4> request{};
    lib::store_le(std::span<std::byte>(request), progress.answered + 1);
    if (const auto sent = g_endpoint.send(request); sent.ok()) {
        ++progress.sent;
        progress.polls_since = 0;
    } else {
        check(sent.error() == lib::Error::busy, "a send that fails fails for want of a buffer");
    }
}

void take_answers(Progress& progress) {
    static constinit std::array<std::byte, net::kUdpPayloadBytesMax> datagram{};
    for (auto size = g_endpoint.receive(datagram); size.ok(); size = g_endpoint.receive(datagram)) {
        if (size.value() == 4 &&
            lib::load_le<std::uint32_t>(std::span<const std::byte>(datagram)) == progress.answered + 1) {
            ++progress.answered;
            progress.polls_since = kPollsPerRequest;
        }
    }
}

std::uint64_t bad_frames(const net::UdpCounters& counters) {
    return counters.frames_malformed + counters.arp_malformed + counters.ip_malformed + counters.ip_fragments +
           counters.udp_malformed + counters.udp_other_flow + counters.icmp_malformed + counters.frames_other;
}

int receive_flood(const kernel::AppArguments& arguments) {
    start_card(arguments);
    const std::array tasks{
        start("fast", kernel::HardModel{lib::microseconds(250), lib::milliseconds(1), {}, {}}, &busy),
        start("slow", kernel::HardModel{lib::microseconds(250), lib::milliseconds(5), {}, {}}, &busy)};
    Progress progress;
    for (std::uint32_t poll = 0; poll < kPollsMax && g_card.running() &&
                                 (g_card.counters().rx_frames < kFramesWanted || progress.answered < kRequestsWanted);
         ++poll) {
        if (progress.polls_since++ >= kPollsPerRequest && progress.answered < kRequestsWanted) {
            ask(progress);
        }
        g_endpoint.poll();
        take_answers(progress);
    }
    const ne2000::Counters& card = g_card.counters();
    const net::UdpCounters& flow = g_endpoint.counters();
    kernel::console().line("flood: ", card.rx_frames, " frames, ", card.rx_runts, " short, ", card.rx_oversized,
                           " long, ", card.rx_errors, " bad, ", card.rx_overflows, " overflows, ", card.rx_ring_resets,
                           " rings afresh, ", card.resets, " resets; ", bad_frames(flow), " dropped by reason, ",
                           flow.received, " received; ", progress.answered, " of ", progress.sent,
                           " requests answered");
    check(g_card.running() && card.failures == 0, "the card is there");
    check(card.rx_frames >= kFramesWanted, "it was a flood");
    check(bad_frames(flow) > kFramesWanted / 4, "of bad frames, too");
    check(flow.arp_malformed > 0 && flow.ip_malformed > 0 && flow.udp_malformed > 0 && flow.udp_other_flow > 0,
          "each kind is distinguished");
    check(progress.answered == kRequestsWanted, "the flow goes through it");
    for (const kernel::Pid pid : tasks) {
        const kernel::JobCounts jobs = must(kernel::task_info(pid)).jobs;
        check(jobs.completed > 10, "jobs continued");
        check(!arguments.icount || jobs.deadline_misses == 0, "no task is late");
    }
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kFlood{
    "s_receive_flood", "a network card under a flood of good and bad frames", &checked<&receive_flood>, false};

} // namespace network_flood_cases

} // namespace
