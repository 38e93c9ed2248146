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

// A section that was begun and not yet ended: whoever has it ends it, by a guard or itself.
struct [[nodiscard]] OpenSection {
    std::uint64_t state = 0; // of the interrupt flag before
};

// Context: any but NMI.
[[gnu::always_inline]] inline OpenSection begin_section(SectionPlace place = {}) {
    const std::uint64_t state = arch::irq_save();
    if (kSectionsMeasured && arch::irq_was_enabled(state)) {
        section_begins(place);
    }
    trace_points::interrupts_off(state);
    return {state};
}

[[gnu::always_inline]] inline void end_section(OpenSection section) {
    trace_points::interrupts_on(section.state);
    if (kSectionsMeasured && arch::irq_was_enabled(section.state)) {
        section_ends();
    }
    arch::irq_restore(section.state);
}

// Interrupts are off while a guard lives; nests, because it restores what it found. Context: any but NMI.
class [[nodiscard]] IrqGuard {
  public:
    [[gnu::always_inline]] explicit IrqGuard(SectionPlace place = {})
        : m_section(begin_section(place)) {}

    // Continues a section, and ends it.
    [[gnu::always_inline]] explicit IrqGuard(OpenSection section)
        : m_section(section) {}

    ~IrqGuard() { end_section(m_section); }

    IrqGuard(const IrqGuard&) = delete;
    IrqGuard& operator=(const IrqGuard&) = delete;

  private:
    OpenSection m_section;
};

} // namespace kernel
