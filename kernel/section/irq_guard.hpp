// SPDX-License-Identifier: MIT
// The kernel's interrupts-off section: arch::IrqGuard with two lines of trace, CLI where the outermost section begins
// and STI where it ends. They are recorded only after record_interrupt_sections(true), and never by the tracer, which
// takes no guard of the kernel's. A section that ends in a context switch may be closed by another task's STI, or by
// the return from an interrupt, which records none. The end of a section calls nothing: what a task has to take when it
// returns to its own code comes at the return-to-task point (kernel/sched/upcalls.hpp).
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/section/section_meter.hpp"
#include "kernel/trace/interrupt.hpp"

#include <cstdint>

namespace kernel {

// Interrupts are off while a guard lives; nests, because it restores what it found. Context: any but NMI.
class [[nodiscard]] IrqGuard {
  public:
    [[gnu::always_inline]] explicit IrqGuard(SectionPlace place = {})
        : m_state(arch::irq_save()) {
        if (kSectionsMeasured && arch::irq_was_enabled(m_state)) {
            section_begins(place);
        }
        trace_points::interrupts_off(m_state);
    }

    ~IrqGuard() {
        trace_points::interrupts_on(m_state);
        if (kSectionsMeasured && arch::irq_was_enabled(m_state)) {
            section_ends();
        }
        arch::irq_restore(m_state);
    }

    IrqGuard(const IrqGuard&) = delete;
    IrqGuard& operator=(const IrqGuard&) = delete;

  private:
    std::uint64_t m_state;
};

} // namespace kernel
