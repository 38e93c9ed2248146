// SPDX-License-Identifier: MIT
// From the command line's words to the sink that sends chunks as datagrams: finds the NE2000, starts it,
// resolves the peer. Task context or irq-off; one flow.
#pragma once

#include "arch/boot_info.hpp"
#include "kernel/run/command_line.hpp"
#include "lib/result.hpp"
#include "tracer/reliable/network_sink.hpp"
#include "tracer/wire.hpp"

#include <string_view>

namespace kernel::root {

struct NetworkSetup {
    NicChoice nic = NicChoice::pci;
    bool start = true;            // the card, unless it runs
    bool wait = true;             // for the target's answer to ARP; else the sink asks for it, with its own backoff
    std::uint8_t width_bits = 32; // of the data port, at most
    std::string_view local_address;
    std::string_view target_address;
    std::uint16_t port = tracer::kTracerPort; // local and target, as published
    tracer::reliable::Protocol protocol = tracer::reliable::Protocol::automatic;
};

// The one flow of the network, for measurements below the sink.
[[nodiscard]] tracer::reliable::DatagramPeer& network_peer();

// The one sink of the network, open or not.
[[nodiscard]] tracer::reliable::NetworkSink& network_sink();

// A new sink in its place, for another trace; an open flow stays open. Precondition: it carries nothing. irq-off.
void renew_network_sink(tracer::reliable::Protocol protocol);

// Keeps the key that the loader found, and wipes it in `boot`. Boot context, before the network is opened.
void keep_loader_key(arch::BootInfo& boot);

// The key is read from QEMU's file opt/remora/key, or is the loader's (keep_loader_key), if there is one. Opens the
// flow; a second call for the same addresses gives the same sink. Failures are reported on the console.
// invalid_argument: an address; exists: a flow between other addresses is open; refused: the card has not been started;
// not_found, corrupt, timeout: no card, no NE2000, a dead one; unreachable: no answer to ARP. corrupt, refused: a key
// is none, QEMU's and the loader's differ, or V1 was chosen although there is one; every later call fails in the same
// way.
[[nodiscard]] lib::Result<tracer::ChunkSink*> open_network(const NetworkSetup& setup);

} // namespace kernel::root
