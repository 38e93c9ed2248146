// SPDX-License-Identifier: MIT
// Tries whether an interrupt entry restarts records (asm/probe.S), whose address the interrupt table has.
#include "port/remora_tracer.h"
#include "tracer/log.hpp"

#include <cstdint>

namespace {

// Sources: Intel SDM, volume 3, 6.14.1 (64-bit gates) and table 6-1 (exceptions with an error code).
struct Gate {
    std::uint16_t offset_low;
    std::uint16_t selector;
    std::uint16_t kind;
    std::uint16_t offset_middle;
    std::uint32_t offset_high;
    std::uint32_t reserved;
};

struct [[gnu::packed]] TableRegister {
    std::uint16_t limit;
    std::uint64_t base;
};

constexpr std::uint32_t kErrorCodes =
    1U << 8 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 | 1U << 14 | 1U << 17 | 1U << 21 | 1U << 29 | 1U << 30;
constexpr std::uint16_t kPresent = 0x8000;

} // namespace

extern "C" {

int port_probe(std::uint64_t entry, std::uint32_t error_code, std::uint32_t record);

int remora_probe(unsigned vector) {
    TableRegister table{};
    asm volatile("sidt %0" : "=m"(table));
    if ((vector + 1) * sizeof(Gate) > table.limit + std::size_t{1}) {
        return -1;
    }
    const Gate& gate = reinterpret_cast<const Gate*>(table.base)[vector];
    if ((gate.kind & kPresent) == 0) {
        return -1;
    }
    const std::uint64_t entry =
        gate.offset_low | std::uint64_t{gate.offset_middle} << 16 | std::uint64_t{gate.offset_high} << 32;
    const std::uint32_t record = tracer::event_code("ipoint") | vector << 16;
    return port_probe(entry, vector < 32 ? kErrorCodes >> vector & 1 : 0, record);
}

} // extern "C"
