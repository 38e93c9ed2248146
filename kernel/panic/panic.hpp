// SPDX-License-Identifier: MIT
// The unplanned end: says why, where and on whose stack, lets run level AFTER_EXIT export what was traced,
// and stops the machine with a code of its own. A panic inside a panic stops at once.
#pragma once

#include "arch/arch.hpp"

#include <optional>
#include <string_view>

namespace kernel {

// What a failed ASSERT and a hopeless situation call. Context: any.
[[noreturn]] void panic(std::string_view reason);

// The end of a processor exception that no task pays for. irq-off.
[[noreturn]] void panic_on_exception(const arch::Exception& fault);

// The end of a hang that the watchdog has found: `what` (a literal) has lasted for limit_ms. In the context of an NMI.
[[noreturn]] void panic_on_hang(std::string_view what, std::uint32_t limit_ms, const arch::Exception& interrupted,
                                std::optional<arch::Vector> in_service);

// Whether a panic has begun: what comes now must leave its export alone. Context: any.
[[nodiscard]] bool panicking();

// After a panic whose end hangs: begins it again with its first function, on the panic's own stack. What was running
// there does not continue. Context: irq-off, also that of an NMI.
[[noreturn]] void repeat_panic_end();

// How a panic ends; set by the composition root before anything can fail.
struct PanicEnd {
    void (*export_trace)(); // what still runs, with interrupts off, on a stack of the panic's own
    void (*exit)();         // ends the machine: must not return
};

void set_panic_end(const PanicEnd& end);

} // namespace kernel

// Stops with a reason; the one macro for it so that the place is printed, too.
#define PANIC(reason) ::lib::assert_failed(reason, __FILE__, __LINE__)
