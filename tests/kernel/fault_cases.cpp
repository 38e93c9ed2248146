// SPDX-License-Identifier: MIT
// Cases that must end in a panic: the name starts with p_, the runner expects the panic's exit code, the words on the
// console, and a trace that was exported all the same.
#include "arch/x86_64/paging.hpp"
#include "arch/x86_64/port_io.hpp"
#include "arch/x86_64/segments.hpp"
#include "drivers/serial.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/console.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/run/app.hpp"
#include "kernel/section/irq_guard.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/task/task.hpp"
#include "tests/kernel/case.hpp"
#include "tests/kernel/faulty.hpp"
#include "tracer/ftrace.hpp"

#include <cstddef>
#include <cstdint>

extern "C" {
extern const std::byte boot_stack_guard[];
}

namespace kernel {

namespace {

constexpr std::uint16_t kBeforeTheFault = 4711;

void mark() {
    TRACER_LOGEVENT(FTrace_EVT_ipoint, kBeforeTheFault, 0);
}

template <void (*Fault)()>
int fail(const AppArguments&) {
    mark();
    Fault();
    return 0;
}

int lose_the_stack(const AppArguments&) {
    mark();
    asm volatile("movq $0x123456789, %%rsp; pushq %%rax" : : : "memory"); // #PF on its own stack: no #DF, no reset
    return 0;
}

// Is a task that would be killed for a fault of its own; the fault is the kernel's here.
template <TaskBody Body>
int fail_as_kernel(const AppArguments&) {
    mark();
    guest::must(task_activate(guest::must(
        task_create({.name = "doomed", .body = Body, .model = NrtModel{}, .reactions = {.fault = Reaction::kill}}))));
    task_delay(lib::milliseconds(50));
    return 0;
}

template <void (*Fault)()>
void fail_with_interrupts_off(void*) {
    const IrqGuard guard;
    Fault();
}

template <void (*Fault)()>
void fail_in_a_handler(void*) {
    guest::must(interrupt_attach(
        0x81, "faulty", [](void*) { Fault(); }, nullptr));
    asm volatile("int $0x81" : : : "memory");
}

// Nothing can be on top of an NMI but a fault of its own handler, whose return would let NMIs in again: no return.
void fail_in_an_nmi(void*) {
    guest::must(interrupt_attach(
        2, "faulty", [](void*) { guest::faulty::write_to_null(); }, nullptr));
    asm volatile("int $2" : : : "memory");
}

// The console fails while it reports the fault for which the task is killed: once, so that the panic can be read.
void fail_in_the_report(void*) {
    static constinit bool failed = false;
    static constinit drivers::Serial<arch::x86_64::PortIo> serial{drivers::kSerialCom1};
    guest::must(serial.start());
    console().attach([](std::string_view text) {
        if (!failed) {
            failed = true;
            guest::faulty::write_to_null();
        }
        serial.write(text);
    });
    guest::faulty::divide_by_zero();
}

// The console fails permanently: nothing can be printed any more, but the machine must end.
void fail_in_every_report(void*) {
    console().attach([](std::string_view) { guest::faulty::write_to_null(); });
    guest::faulty::divide_by_zero();
}

// Raises a page fault whose own stack is gone.
void fault_twice(void*) {
    constexpr std::size_t kPageFault = static_cast<std::size_t>(arch::x86_64::InterruptStack::page_fault) - 1;
    const std::uint64_t guard = arch::x86_64::interrupt_stack_guards()[kPageFault];
    for (std::uint64_t page = guard; page < guard + 9 * 4096; page += 4096) {
        arch::x86_64::unmap_page(page);
    }
    guest::faulty::write_to_null();
}

// Goes so deep that the export would not fit on what is left of the stack.
[[gnu::noinline]] int dive(int depth) {
    volatile char room[256] = {};
    ASSERT(depth != 0);
    return depth < 0 ? 0 : dive(depth - 1) + room[0]; // never below 0: the ASSERT comes first
}

int fail_deep_down(const AppArguments&) {
    mark();
    return dive(50);
}

int guard_pages_are_absent(const AppArguments&) {
    bool absent = true;
    for (const std::uint64_t guard : arch::x86_64::interrupt_stack_guards()) {
        absent = absent && !arch::readable(guard) && arch::readable(guard + 4096);
    }
    for (std::size_t i = 0; i < kTasksMax; ++i) {
        const auto guard = reinterpret_cast<std::uint64_t>(guard_page(i).data());
        absent = absent && !arch::readable(guard) && arch::readable(guard + kGuardBytes);
    }
    absent = absent && !arch::readable(reinterpret_cast<std::uint64_t>(boot_stack_guard)) && !arch::readable(0);
    return absent ? 0 : 1;
}

int fail_an_assertion(const AppArguments& arguments) {
    mark();
    ASSERT(arguments.seed == ~arguments.seed);
    return 0;
}

int fail_a_checked_assertion(const AppArguments& arguments) {
    mark();
    if constexpr (lib::kChecked) {
        ASSERT(arguments.seed == ~arguments.seed);
    }
    return 0;
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const App kStackOverflow{
    "p_stack_overflow", "guard page below a task's stack", &guest::checked<&fail<&guest::faulty::overflow_the_stack>>,
    false};
[[gnu::used, gnu::section(".apps")]] constinit const App kNullWrite{
    "p_null_write", "page 0 is unmapped", &guest::checked<&fail<&guest::faulty::write_to_null>>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kCodeWrite{
    "p_code_write", "code is read-only", &guest::checked<&fail<&guest::faulty::write_to_code>>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kDataExecute{
    "p_data_execute", "data does not execute", &guest::checked<&fail<&guest::faulty::execute_data>>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kDivide{
    "p_divide_error", "an exception without error code", &guest::checked<&fail<&guest::faulty::divide_by_zero>>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kLostStack{"p_lost_stack", "a wild stack pointer",
                                                                    &guest::checked<&lose_the_stack>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kAssertion{"p_assertion", "a failed ASSERT names its place",
                                                                    &guest::checked<&fail_an_assertion>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kCheckedAssertion{
    "p_checked_assertion", "the test kernel checks what a released one does not",
    &guest::checked<&fail_a_checked_assertion>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kDeepAssertion{
    "p_deep_assertion", "a panic near the end of a stack", &guest::checked<&fail_deep_down>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kKernelFaults[] = {
    {"p_fault_irq_off", "a fault in a section with interrupts off",
     &guest::checked<&fail_as_kernel<&fail_with_interrupts_off<&guest::faulty::write_to_null>>>, false},
    {"p_overflow_irq_off", "a stack overflow in a section with interrupts off",
     &guest::checked<&fail_as_kernel<&fail_with_interrupts_off<&guest::faulty::overflow_the_stack>>>, false},
    {"p_divide_irq_off", "a division in a section with interrupts off",
     &guest::checked<&fail_as_kernel<&fail_with_interrupts_off<&guest::faulty::divide_by_zero>>>, false},
    {"p_fault_in_handler", "a fault in an interrupt handler",
     &guest::checked<&fail_as_kernel<&fail_in_a_handler<&guest::faulty::write_to_code>>>, false},
    {"p_fault_in_nmi", "a fault in the handler of an NMI", &guest::checked<&fail_as_kernel<&fail_in_an_nmi>>, false},
    {"p_execute_in_handler", "an interrupt handler executes data",
     &guest::checked<&fail_as_kernel<&fail_in_a_handler<&guest::faulty::execute_data>>>, false},
    {"p_fault_in_report", "a fault while a task's fault is reported",
     &guest::checked<&fail_as_kernel<&fail_in_the_report>>, false},
    {"s_fault_in_every_report", "a console that always faults", &guest::checked<&fail_as_kernel<&fail_in_every_report>>,
     false},
    {"p_double_fault", "a page fault whose stack is absent", &guest::checked<&fail_as_kernel<&fault_twice>>, false},
};
[[gnu::used, gnu::section(".apps")]] constinit const App kGuardPages{
    "t_guard_pages", "every stack has an absent page below", &guest::checked<&guard_pages_are_absent>, false};

} // namespace kernel
