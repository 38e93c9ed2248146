// SPDX-License-Identifier: MIT
// next_chunk is an instruction, not a record; but without a next chunk it counts as a refused record, so it is an
// attempt. The linker redirects the calls here (--wrap).
#include "tests/support/attempts/attempts.hpp"
#include "tracer/chunk/control.hpp"

namespace tests {

lib::Result<void> close_active_itself(tracer::Control* control) asm("__real__ZN6tracer7Control12close_activeEv");
lib::Result<void> close_active_counted(tracer::Control* control) asm("__wrap__ZN6tracer7Control12close_activeEv");

lib::Result<void> close_active_counted(tracer::Control* control) {
    const auto closed = close_active_itself(control);
    if (!closed.ok()) {
        __atomic_add_fetch(&attempted_bytes, 16, __ATOMIC_RELAXED);
    }
    return closed;
}

} // namespace tests
