// SPDX-License-Identifier: MIT
// From the firmware's tables to the sink that writes chunks as files: the ramdisk in persistent memory, else in plain
// RAM, with a FAT volume on it. Context: task or irq-off.
#pragma once

#include "drivers/acpi/contents.hpp"
#include "lib/result.hpp"
#include "tracer/export/sink_disk.hpp"

#include <optional>
#include <string_view>

namespace kernel::root {

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
