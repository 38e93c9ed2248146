// SPDX-License-Identifier: MIT
// The kernel's interrupts-off section: arch::IrqGuard with two lines of trace, CLI where the outermost section begins
// and STI where it ends. They are recorded only after record_interrupt_sections(true), and never by the tracer, which
// takes no guard of the kernel's. A section that ends in a context switch may be closed by another task's STI, or by
// the return from an interrupt, which records none. The end of the outermost section is where a task returns to its own
// code: its upcalls (exceptions, signals) come here.
#pragma once

#include "arch/arch.hpp"
#include "kernel/section_meter.hpp"
#include "kernel/signal.hpp"
#include "kernel/trace_points.hpp"

#include <cstdint>

namespace kernel {

// Interrupts are off while a guard lives; nests, because it restores what it found. Context: any but NMI.
class [[nodiscard]] IrqGuard {
  public:
    // The arguments are the caller's place, for whoever measures sections.
    [[gnu::always_inline]] explicit IrqGuard([[maybe_unused]] const char* file = __builtin_FILE(),
                                             [[maybe_unused]] const char* function = __builtin_FUNCTION(),
                                             [[maybe_unused]] unsigned line = __builtin_LINE())
        : m_state(arch::irq_save()) {
        if (kSectionsMeasured && arch::irq_was_enabled(m_state)) {
            section_begins(file, function, line);
        }
        trace_points::interrupts_off(m_state);
    }

    ~IrqGuard() {
        trace_points::interrupts_on(m_state);
        if (kSectionsMeasured && arch::irq_was_enabled(m_state)) {
            section_ends();
        }
        arch::irq_restore(m_state);
        if (arch::irq_was_enabled(m_state) && upcalls_due()) {
            deliver_upcalls();
        }
    }

    IrqGuard(const IrqGuard&) = delete;
    IrqGuard& operator=(const IrqGuard&) = delete;

  private:
    std::uint64_t m_state;
};

} // namespace kernel
