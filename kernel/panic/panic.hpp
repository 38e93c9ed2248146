// SPDX-License-Identifier: MIT
// A panic is the unplanned end of a run. It prints its reason, its place and the stack, lets the run level AFTER_EXIT
// export the trace, and stops the machine with an exit code of its own. A panic inside it stops the machine at once.
#pragma once

#include "arch/arch.hpp"

#include <optional>
#include <string_view>

namespace kernel {

// Ends the run with this reason. A failed ASSERT and code that cannot continue call it.
// Context: any, NMI included.
[[noreturn]] void panic(std::string_view reason);

// --- for the kernel

// Ends the run after a processor exception for which no task is responsible. Context: irq-off.
[[noreturn]] void panic_on_exception(const arch::Exception& fault);

// Ends the run after a hang that the watchdog has found: `what` (a literal) has lasted for limit_ms. Context: NMI.
[[noreturn]] void panic_on_hang(std::string_view what, std::uint32_t limit_ms, const arch::Exception& interrupted,
                                std::optional<arch::Vector> in_service);

// Returns whether a panic has begun; its export must then not be disturbed. Context: any.
[[nodiscard]] bool panicking();

// Begins the end of a panic again with its first function, on the panic's own stack, because that end hangs. The code
// that was running there does not continue. Context: irq-off or NMI.
[[noreturn]] void repeat_panic_end();

// Holds the end of a panic. The composition root sets it before anything can fail.
struct PanicEnd {
    void (*export_trace)(); // runs with interrupts off, on the panic's own stack
    void (*exit)();         // ends the machine and must not return
};

void set_panic_end(const PanicEnd& end);

// --- for the kernel: what the console prints about a processor exception, whether it ends the system or a task

// Returns the name of an exception, which is a literal.
[[nodiscard]] std::string_view exception_name(arch::Vector vector);

// Prints where the exception occurred, in which task, and whether the task's stack has overflowed. The caller prints
// the headline.
[[gnu::noinline]] void print_fault(const arch::Exception& fault);

// Prints the task whose context is on the processor.
[[gnu::noinline]] void print_task();

} // namespace kernel

// --- primitives

// Ends the run with a reason. It is a macro, so that the place is printed, too.
// Context: any, NMI included.
#define PANIC(reason) ::lib::assert_failed(reason, __FILE__, __LINE__)
