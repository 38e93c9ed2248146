// SPDX-License-Identifier: MIT
// Carries the contents of the tracer's instance to the sinks that the command line asks for, by polling, and reports
// the result on the console. A panic in the middle, or the watchdog after a panic (a sink that hangs), begins again
// without the sink that was at work.
#pragma once

#include "drivers/acpi/nfit.hpp"
#include "kernel/root/network.hpp"
#include "kernel/root/tracing.hpp"

#include <optional>

namespace kernel::root {

// The acknowledged export fails after this time without progress.
inline constexpr lib::Nanoseconds kExportPatience = lib::milliseconds(20'000);

struct CarrySetup {
    NetworkSetup network;
    std::optional<drivers::acpi::PersistentRange> persistent;
    SinkChoice choice = SinkChoice::none;
};

// Sets the sinks. Context: boot, before anything is carried.
void carry_configure(const CarrySetup& setup);

// Carries every chunk in the tracer's instance to the chosen sinks. Context: irq-off.
[[nodiscard]] ExportEnd carry_trace(RunEnd end);

// Returns whether carry_trace() has begun and not ended, a sink is at work, and another one may carry what is left.
// Context: any.
[[nodiscard]] bool can_carry_again();

// Carries again after a panic, without the sink that was at work. It does nothing unless carry_trace() had begun and
// not ended. Context: irq-off.
void carry_again();

} // namespace kernel::root
