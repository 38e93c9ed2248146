// SPDX-License-Identifier: MIT
// What any machine must provide to the kernel. Kernel code includes this header and nothing below arch/; the machine is
// chosen by the include path of <machine/cpu.hpp> (arch/x86_64/ for the real one, tests/support/fake_machine/ for the
// hosted unit tests). machine/cpu.hpp defines, inline:
//
//   std::uint64_t irq_save();                 // disable interrupts, return the former state
//   void irq_restore(std::uint64_t state);    // enable again if they were enabled
//   bool irq_was_enabled(std::uint64_t state);
//   void irq_enable();                        // how a fresh task starts
//   bool interrupts_disabled();
//   lib::Ticks timestamp();                   // never falls on one processor
#pragma once

#include "lib/result.hpp"
#include "lib/units.hpp"

#include <machine/cpu.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace arch {

// Interrupts are off while a guard lives; nests for free because it restores what it found. Context: any but NMI.
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

// Where a suspended context left its stack; everything else it needs lies on that stack.
struct StackPointer {
    std::uint64_t value = 0;
};

// Lays out a fresh stack so that the first switch_context() to it calls entry(argument) with interrupts off. entry must
// not return. Stack size at least 4 KiB.
[[nodiscard]] StackPointer prepare_stack(std::span<std::byte> stack, void (*entry)(void*), void* argument);

// Saves the running context to *save and continues the one in `load`. Returns when somebody switches back. irq-off.
void switch_context(StackPointer* save, StackPointer load);

// Leaves the running context for good and calls entry(argument) on this stack from its top, with interrupts off, even
// if it is the stack in use. entry must not return. irq-off.
[[noreturn]] void restart_context(std::span<std::byte> stack, void (*entry)(void*), void* argument);

// The rate of timestamp(), known after arch start-up.
[[nodiscard]] lib::TickRate tick_rate();

// Arms the one-shot timer for an absolute time; a time in the past fires as soon as interrupts are on. Replaces what
// was armed before. irq-off.
void timer_arm(lib::Ticks at);

void timer_disarm();

// Until the armed timer fires; 0: it has, or it is not armed. irq-off.
[[nodiscard]] lib::Ticks timer_left();

// Enables interrupts and waits for one, without a gap in which it could be missed; returns with interrupts off.
void wait_for_interrupt();

// Whether a load from this address would succeed. For a panic that looks at a stack it cannot trust. Context: any.
[[nodiscard]] bool readable(std::uint64_t address);

// Stops the processor for good.
[[noreturn]] void stop();

// --- interrupts ----------------------------------------------------------------------------------------------------

using Vector = std::uint8_t;

// Whether the controller raised this vector without a cause: the local APIC's own vector, or line 7 or 15 of the 8259
// pair with nothing in service. irq-off, before end_of_interrupt().
[[nodiscard]] bool is_spurious(Vector vector);

// Acknowledges the interrupt being served, as far as it wants that (a spurious one at most in part). irq-off, once per
// interrupt.
void end_of_interrupt(Vector vector);

// The vector of the one-shot timer.
[[nodiscard]] Vector timer_vector();

// Routes an external line (ISA IRQ or PCI pin, by global number) to its vector, masked; then unmask with line_enable.
[[nodiscard]] lib::Result<Vector> line_vector(std::uint8_t line);
void line_enable(std::uint8_t line, bool enabled);

// Masks a line on somebody else's account: it is open while its driver has enabled it and nobody holds it. irq-off.
void line_hold(std::uint8_t line, bool held);

// The line that was routed to this vector last. not_found: none was. Context: any.
[[nodiscard]] lib::Result<std::uint8_t> vector_line(Vector vector);

// What a processor exception looked like.
struct Exception {
    Vector vector;
    std::uint64_t error_code;
    std::uint64_t instruction_address;
    std::uint64_t stack_address;
    std::uint64_t frame_address; // start of the chain of stack frames
    std::uint64_t fault_address; // page fault only
    bool interrupts_were_on;
};

// The kernel's entry points, called by the stubs with interrupts off.
struct Upcalls {
    void (*interrupt)(Vector vector);          // may switch contexts before it returns
    void (*exception)(const Exception& fault); // does not return
};

void set_upcalls(const Upcalls& upcalls);

// --- single steps --------------------------------------------------------------------------------------------------

// Who wants to know of each instruction. Called with interrupts off.
struct StepUpcalls {
    // The instruction to be executed next; recorded: the one before had the record path done, and is over. False: the
    // context goes on freely.
    bool (*step)(std::uint64_t address, bool recorded);
    bool (*wanted)(); // whether the context that an interrupt returns to goes on in steps
};

// From here on interrupts ask. Null: nobody steps. irq-off.
void set_step_upcalls(const StepUpcalls* upcalls);

// Whether the running context goes on in steps, from the second instruction behind this call on. Handlers never run in
// steps. Context: task, irq-off.
void single_step(bool on);
[[nodiscard]] bool single_stepping();

} // namespace arch
