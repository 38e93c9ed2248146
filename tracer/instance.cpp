// SPDX-License-Identifier: MIT
// Has the functions that need the whole instance.
#include "tracer/instance.hpp"

#include "tracer/typed_event.hpp"

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

namespace tracer::detail {

std::uint16_t declare_event(const EncodedDeclaration& declaration) {
    return instance().names.declare(declaration);
}

} // namespace tracer::detail
