// SPDX-License-Identifier: MIT
// From the firmware's tables to the sink that writes chunks as files: the ramdisk in persistent memory, else in plain
// RAM, with a FAT volume on it. Task context or irq-off.
#pragma once

#include "drivers/acpi/nfit.hpp"
#include "lib/result.hpp"
#include "tracer/sink_disk.hpp"

#include <optional>
#include <string_view>

namespace kernel::root {

// Mounts the volume; a second call gives the same sink. The chunks become files 0<base_name>, 1<base_name>, ... What
// goes wrong is reported on the console. A volume in persistent memory must be there already, because formatting could
// destroy what is kept there; one in RAM is made fresh. not_found, unsupported, corrupt: no volume that we can write;
// invalid_argument, refused: as DiskSink::set_base_name().
[[nodiscard]] lib::Result<tracer::ChunkSink*>
open_storage(const std::optional<drivers::acpi::PersistentRange>& persistent, std::string_view base_name);

} // namespace kernel::root
