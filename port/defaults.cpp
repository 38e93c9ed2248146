// SPDX-License-Identifier: MIT
// What a kernel may define for the tracer, as long as it does not.
#include "lib/assert.hpp"

#include "port/remora_tracer.h"

#include <cstdint>

extern "C" {

[[gnu::weak]] void remora_port_assert(const char*, const char*, int) {
    for (;;) {
        asm volatile("cli\n\thlt");
    }
}

[[gnu::weak]] std::uint64_t remora_port_irq_save(void) {
    std::uint64_t flags = 0;
    asm volatile("pushfq\n\tpopq %0\n\tcli" : "=r"(flags) : : "memory");
    return flags;
}

[[gnu::weak]] void remora_port_irq_restore(std::uint64_t state) {
    asm volatile("pushq %0\n\tpopfq" : : "r"(state) : "memory", "cc");
}

} // extern "C"

namespace lib {

void assert_failed(const char* condition, const char* file, int line) {
    remora_port_assert(condition, file, line);
    for (;;) {
        asm volatile("cli\n\thlt");
    }
}

} // namespace lib
