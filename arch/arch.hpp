// SPDX-License-Identifier: MIT
// Declares the interface of a machine to the kernel. Kernel code includes this header and nothing below arch/. The
// include path of <machine/cpu.hpp> selects the machine (arch/x86_64/ for the real one, tests/support/fake_machine/ for
// the hosted unit tests). machine/cpu.hpp defines, inline:
//
//   std::uint64_t irq_save();                 // disable interrupts, return the former state
//   void irq_restore(std::uint64_t state);    // enable them again if they were enabled
//   bool irq_was_enabled(std::uint64_t state);
//   void irq_enable();                        // how a fresh task starts
//   bool interrupts_disabled();
//   lib::Ticks timestamp();                   // never decreases on one processor
//
// and machine/context.hpp:
//
//   void switch_context(StackPointer* save, StackPointer load);
//                                             // saves the running context to *save and continues the one in `load`;
//                                             // returns when the saved context is resumed. irq-off
#pragma once

#include "arch/stack_pointer.hpp"
#include "lib/ratio.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <machine/context.hpp>
#include <machine/cpu.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace arch {

// Keeps interrupts off while the guard lives. Guards nest, because each restores the previous state. Context: any but
// NMI.
class [[nodiscard]] IrqGuard {
  public:
    IrqGuard()
        : m_state(irq_save()) {}

    ~IrqGuard() { irq_restore(m_state); }

    IrqGuard(const IrqGuard&) = delete;
    IrqGuard& operator=(const IrqGuard&) = delete;

  private:
    std::uint64_t m_state;
};

// Prepares a fresh stack so that the first switch_context() to it calls entry(argument) with interrupts off. entry must
// not return. The stack has at least 4 KiB.
[[nodiscard]] StackPointer prepare_stack(std::span<std::byte> stack, void (*entry)(void*), void* argument);

// Leaves the running context permanently and calls entry(argument) on this stack from its top, with interrupts off,
// even if it is the stack in use. entry must not return. Context: irq-off.
[[noreturn]] void restart_context(std::span<std::byte> stack, void (*entry)(void*), void* argument);

// Returns the rate of timestamp(), which is known after the start of arch.
[[nodiscard]] lib::TickRate tick_rate();

// Returns the same rate for conversions that are made often.
[[nodiscard]] const lib::TickConversion& tick_conversion();

// Arms the one-shot timer for an absolute time; a time in the past fires as soon as interrupts are on. It replaces an
// earlier setting. Context: irq-off.
void timer_arm(lib::Ticks at);

void timer_disarm();

// Returns the time until the armed timer fires, or 0 if it has fired or is not armed. Context: irq-off.
[[nodiscard]] lib::Ticks timer_left();

// Enables interrupts and waits for one, without a gap in which it could be missed; returns with interrupts off.
void wait_for_interrupt();

// Waits for interrupts, which it enables, in instructions that do nothing: for a machine whose clock counts
// instructions. It does not return; a handler may switch to another context.
[[noreturn]] void wait_by_counting();

// Returns whether a load from this address would succeed, for a panic that reads a stack that may be damaged. Context:
// any.
[[nodiscard]] bool readable(std::uint64_t address);

// Stops the processor permanently.
[[noreturn]] void stop();

// --- interrupts ----------------------------------------------------------------------------------------------------

using Vector = std::uint8_t;

namespace detail {

inline constinit std::array<bool, 256> external_vectors{};

} // namespace detail

// Returns whether a controller may raise this vector without a cause, or an external line was routed to it. For all
// others is_spurious() is false, and vector_line() finds none. Context: any.
[[nodiscard]] inline bool is_external(Vector vector) {
    return detail::external_vectors[vector];
}

// Returns whether the controller raised this vector without a cause: the spurious vector of the local APIC, or line 7
// or 15 of the 8259 pair with nothing in service. Context: irq-off, before end_of_interrupt().
[[nodiscard]] bool is_spurious(Vector vector);

// Acknowledges the interrupt that is being served, as its controller requires (a spurious one at most in part).
// Context: irq-off, once for each interrupt.
void end_of_interrupt(Vector vector);

// Returns the vector of the one-shot timer.
[[nodiscard]] Vector timer_vector();

// Routes an external line (ISA IRQ or PCI pin, by global number) to its vector, masked; line_enable() then unmasks it.
[[nodiscard]] lib::Result<Vector> line_vector(std::uint8_t line);
void line_enable(std::uint8_t line, bool enabled);

// Masks a line independently of its driver: a line is open while its driver has enabled it and it is not held. Context:
// irq-off.
void line_hold(std::uint8_t line, bool held);

// Returns the line that was last routed to this vector. not_found: no line was. Context: any.
[[nodiscard]] lib::Result<std::uint8_t> vector_line(Vector vector);

struct Exception {
    Vector vector;
    std::uint64_t error_code;
    std::uint64_t instruction_address;
    std::uint64_t stack_address;
    std::uint64_t frame_address; // start of the chain of stack frames
    std::uint64_t fault_address; // page fault only
    bool interrupts_were_on;
};

// Holds the kernel's entry points, which the stubs call with interrupts off.
struct Upcalls {
    void (*interrupt)(Vector vector);          // may switch contexts before it returns
    void (*exception)(const Exception& fault); // does not return
    void (*nmi)(const Exception& interrupted); // an NMI that is not the watchdog's
};

void set_upcalls(const Upcalls& upcalls);

// --- single steps --------------------------------------------------------------------------------------------------

// Observes single steps. The functions are called with interrupts off.
struct StepUpcalls {
    // Is called with the address of the instruction that is executed next; `recorded` states that the previous one
    // called the record path, which has completed. It returns false if the context continues freely.
    bool (*step)(std::uint64_t address, bool recorded);
    bool (*wanted)(); // returns whether the context that an interrupt returns to continues in steps
};

// Sets the observer of steps for interrupts from here on. With null no context runs in steps. Context: irq-off.
void set_step_upcalls(const StepUpcalls* upcalls);

// Sets whether the running context continues in steps, from the second instruction after this call on. Handlers never
// run in steps. Context: task, irq-off.
void single_step(bool on);
[[nodiscard]] bool single_stepping();

} // namespace arch
