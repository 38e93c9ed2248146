// SPDX-License-Identifier: MIT
// The kernel's sections with interrupts off are arch::IrqGuard with two records, CLI where the outermost section begins
// and STI where it ends. They are recorded only after record_interrupt_sections(true), and never for the tracer, which
// uses no guard of the kernel. A section that ends in a context switch may be closed by another task's STI, or by the
// return from an interrupt, which records none. The end of a section calls no handler: a task takes its signals and
// exceptions at the return-to-task point (kernel/sched/upcalls.hpp).
#pragma once

#include "arch/arch.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/section/section_meter.hpp"
#include "kernel/trace/interrupt.hpp"

#include <cstdint>

namespace kernel {

// --- for the kernel

// Is a section that was begun and not yet ended. The code that has it ends it, by a guard or by end_section().
struct [[nodiscard]] OpenSection {
    std::uint64_t state = 0; // of the interrupt flag before the section
};

// Begins a section. Context: any but NMI.
[[gnu::always_inline]] inline OpenSection begin_section(SectionPlace place = {}) {
    const std::uint64_t state = arch::irq_save();
    if (kSectionsMeasured && arch::irq_was_enabled(state)) {
        section_begins(place);
    }
    trace_points::interrupts_off(state);
    return {state};
}

// Ends a section, in the state of interrupts that it found.
[[gnu::always_inline]] inline void end_section(OpenSection section) {
    trace_points::interrupts_on(section.state);
    if (kSectionsMeasured && arch::irq_was_enabled(section.state)) {
        section_ends();
    }
    arch::irq_restore(section.state);
}

// --- primitives

// Keeps interrupts off while the guard lives. Guards nest, because each restores the state that it found. A task takes
// its pending signals after the section only by return_to_task().
// Context: any but NMI.
class [[nodiscard]] IrqGuard {
  public:
    [[gnu::always_inline]] explicit IrqGuard(SectionPlace place = {})
        : m_section(begin_section(place)) {}

    // Continues a section that was begun, and ends it.
    [[gnu::always_inline]] explicit IrqGuard(OpenSection section)
        : m_section(section) {}

    ~IrqGuard() { end_section(m_section); }

    IrqGuard(const IrqGuard&) = delete;
    IrqGuard& operator=(const IrqGuard&) = delete;

  private:
    OpenSection m_section;
};

} // namespace kernel
