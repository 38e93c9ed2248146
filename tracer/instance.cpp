// SPDX-License-Identifier: MIT
#include "tracer/instance.hpp"

namespace tracer {

void configure(const Setup& setup) {
    ASSERT(setup.tsc_khz != 0);
    instance().exporter.configure(setup);
}

CpuTrace* cpu_trace(std::uint32_t cpu) {
    ASSERT(cpu == instance().cpu.cpu);
    return &instance().cpu;
}

Totals totals(std::uint32_t cpu) {
    ASSERT(cpu == instance().cpu.cpu);
    return instance().control.totals();
}

} // namespace tracer
