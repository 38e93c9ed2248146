// SPDX-License-Identifier: MIT
// Declares the two sinks that the composition root opens: the network and the disk.
#pragma once

#include "arch/boot_info.hpp"
#include "drivers/acpi/contents.hpp"
#include "kernel/run/command_line.hpp"
#include "lib/result.hpp"
#include "tracer/export/sink_disk.hpp"
#include "tracer/export/wire.hpp"
#include "tracer/reliable/network_sink.hpp"

#include <optional>
#include <string_view>

namespace kernel::root {

// The command line's words lead to the sink that sends chunks as datagrams: the NE2000 is found and started, and the
// peer is resolved. There is one flow. Context: task or irq-off.

struct NetworkSetup {
    NicChoice nic = NicChoice::pci;
    bool start = true; // whether the card is started, unless it runs
    bool wait = true;  // for the target's answer to ARP; if false, the sink asks for it, with its own backoff
    std::uint8_t width_bits = 32; // of the data port, at most
    std::string_view local_address;
    std::string_view target_address;
    std::uint16_t port = tracer::kTracerPort; // local and target, as published
    tracer::reliable::Protocol protocol = tracer::reliable::Protocol::automatic;
};

// Returns the one flow of the network, for measurements below the sink.
[[nodiscard]] tracer::reliable::DatagramPeer& network_peer();

// Returns the one sink of the network, open or not.
[[nodiscard]] tracer::reliable::NetworkSink& network_sink();

// Replaces the sink by a new one, for another trace; an open flow stays open. Precondition: the sink carries nothing.
// Context: irq-off.
void renew_network_sink(tracer::reliable::Protocol protocol);

// Keeps the key that the loader found, and wipes it in `boot`. Context: boot, before the network is opened.
void keep_loader_key(arch::BootInfo& boot);

// Opens the flow; a second call for the same addresses returns the same sink. The key is read from QEMU's file
// opt/remora/key, or is the loader's (keep_loader_key), if there is one. Failures are reported on the console.
// invalid_argument: an address is invalid.
// exists: a flow between other addresses is open.
// refused: the card has not been started.
// not_found, corrupt, timeout: there is no card, it is no NE2000, or it does not respond.
// corrupt, refused: a key is invalid, QEMU's and the loader's differ, or V1 was chosen although there is one.
// unreachable: the target does not answer ARP.
// A failure for a key or a protocol is permanent: every later call fails in the same way.
[[nodiscard]] lib::Result<tracer::ChunkSink*> open_network(const NetworkSetup& setup);

// The firmware's tables lead to the sink that writes chunks as files on a FAT volume: the ramdisk is in persistent
// memory, else in plain RAM. Context: task or irq-off.

// Mounts the volume; a second call returns the same sink, with the names that it has. Failures are reported on the
// console. A volume in persistent memory must exist already, because formatting could destroy what is kept there; one
// in RAM is made fresh.
// refused: the memory does not keep what is written.
// not_found, unsupported, corrupt: there is no volume that the kernel can write.
[[nodiscard]] lib::Result<tracer::DiskSink*>
open_storage(const std::optional<drivers::acpi::PersistentRange>& persistent);

// Returns whether the volume has a file of this name. Precondition: it is mounted. Context: irq-off.
[[nodiscard]] bool storage_has(std::string_view name);

// Replaces the sink by a new one, for another trace. Precondition: the sink carries nothing. Context: irq-off.
void renew_storage_sink();

} // namespace kernel::root
