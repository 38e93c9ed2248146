// SPDX-License-Identifier: MIT
// An IrqOff is the proof that interrupts are off. A function that must be called with interrupts disabled takes it as
// its last parameter; one that lacks the proof does not compile. It is empty: passing it costs no instruction. A
// function without it states its calling context in its comment.
//
//   void schedule(IrqOff off);               lib::Result<void> sem_post(Semaphore&);   // Context: any
//
//   const IrqGuard off;                      a section proves it
//   schedule(off);
//
// Where the code itself has opened no section, the call states why interrupts are off: from_entry(), from_boot(),
// from_save(). A checked build asserts that it is true.
#pragma once

#include "arch/arch.hpp"
#include "lib/assert.hpp"

namespace kernel {

class IrqGuard;

class IrqOff {
  public:
    // A section is open while its guard lives. The conversion is implicit, because a guard is the usual proof.
    IrqOff(const IrqGuard& /*section*/) {} // NOLINT(google-explicit-constructor)

    IrqOff(const arch::IrqGuard& /*section*/) {} // NOLINT(google-explicit-constructor)

    // States that the processor has entered the kernel: by an interrupt, an exception, a context's first instruction,
    // or a handler that is called from there.
    [[nodiscard]] static IrqOff from_entry() { return checked(); }

    // States that the boot path has not enabled interrupts yet.
    [[nodiscard]] static IrqOff from_boot() { return checked(); }

    // States that the caller has called arch::irq_save() itself, because the section ends elsewhere or never.
    [[nodiscard]] static IrqOff from_save() { return checked(); }

  private:
    IrqOff() = default;

    static IrqOff checked() {
        ASSERT(!lib::kChecked || arch::interrupts_disabled());
        return {};
    }
};

} // namespace kernel
