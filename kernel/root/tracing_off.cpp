// SPDX-License-Identifier: MIT
// A kernel without a tracer has nothing to configure and nothing to export.
#include "kernel/root/tracing.hpp"

namespace kernel::root {

void* tracing_per_cpu_base() {
    return nullptr;
}

void tracing_keep_key(arch::BootInfo&) {}

void tracing_configure(const TracingSetup&) {}

std::uint32_t tracing_record_ticks_x256() {
    return 0;
}

void tracing_begin() {}

void tracing_enable() {}

void tracing_end() {}

bool tracing_can_export_again() {
    return false;
}

void tracing_export_again() {}

ExportEnd tracing_export(RunEnd) {
    return ExportEnd::nothing_asked;
}

} // namespace kernel::root
