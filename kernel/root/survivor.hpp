// SPDX-License-Identifier: MIT
// A trace that an earlier boot left in memory, because the machine was reset before it was exported. It leaves by the
// sinks of this run, before this run uses the memory, as a session of its own (the boot id, names and rates are those
// of the earlier boot; its files are 0prior.dat, 1prior.dat, ...).
#pragma once

#include "drivers/acpi/nfit.hpp"
#include "kernel/root/network.hpp"

#include <cstdint>
#include <optional>

namespace kernel::root {

struct FormerTraceSetup {
    std::uint64_t image_id; // of this kernel: only a trace of the same image is understood
    std::uint32_t khz;      // of this boot
    SinkChoice sink;
    tracer::reliable::Protocol protocol;
    const std::optional<drivers::acpi::PersistentRange>& persistent;
};

// It does nothing if memory holds no such trace. The tracer's instance must not have been used; afterwards it needs
// black_box::clear(). Context: boot, irq-off.
void export_former_trace(const FormerTraceSetup& setup);

} // namespace kernel::root
