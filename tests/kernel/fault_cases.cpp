// SPDX-License-Identifier: MIT
// Cases that must end in a panic: the name starts with p_, the runner expects the panic's exit code, the words on the
// console, and a trace that was exported all the same.
#include "arch/x86_64/segments.hpp"
#include "kernel/app.hpp"
#include "kernel/panic.hpp"
#include "kernel/stacks.hpp"
#include "kernel/task.hpp"
#include "tests/kernel/checked.hpp"
#include "tracer/ftrace.hpp"

#include <cstddef>
#include <cstdint>

extern "C" {
extern const std::byte text_begin[];
extern const std::byte boot_stack_guard[];
}

namespace kernel {

namespace {

constexpr std::uint16_t kBeforeTheFault = 4711;

void mark() {
    TRACER_LOGEVENT(FTrace_EVT_ipoint, kBeforeTheFault, 0);
}

// Uses stack on every level and cannot become a loop: the result is needed after the call.
[[gnu::noinline]] int recurse(volatile int* outer) {
    volatile int inner[64] = {};
    inner[0] = *outer + 1;
    return inner[0] == 0 ? 0 : recurse(inner) + inner[0]; // never 0: it ends at the guard page
}

int overflow_the_stack(const AppArguments&) {
    mark();
    volatile int start = 0;
    return recurse(&start);
}

int write_to_null(const AppArguments&) {
    mark();
    std::uintptr_t address = 8;
    asm volatile("" : "+r"(address)); // the compiler must not know
    *reinterpret_cast<volatile int*>(address) = 1;
    return 0;
}

int write_to_code(const AppArguments&) {
    mark();
    *const_cast<volatile std::byte*>(text_begin) = std::byte{0x90};
    return 0;
}

int execute_data(const AppArguments&) {
    mark();
    static constinit std::uint8_t code[] = {0xC3}; // ret
    std::uintptr_t address = reinterpret_cast<std::uintptr_t>(code);
    asm volatile("call *%0" : : "r"(address) : "memory");
    return 0;
}

int divide_by_zero(const AppArguments&) {
    mark();
    asm volatile("xorl %%ecx, %%ecx; divl %%ecx" : : : "eax", "ecx", "edx", "cc");
    return 0;
}

int lose_the_stack(const AppArguments&) {
    mark();
    asm volatile("movq $0x123456789, %%rsp; pushq %%rax" : : : "memory"); // #PF on its own stack: no #DF, no reset
    return 0;
}

// So deep that the export would not fit on what is left of the stack.
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

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const App kStackOverflow{
    "p_stack_overflow", "guard page below a task's stack", &guest::checked<&overflow_the_stack>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kNullWrite{"p_null_write", "page 0 is unmapped",
                                                                    &guest::checked<&write_to_null>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kCodeWrite{"p_code_write", "code is read-only",
                                                                    &guest::checked<&write_to_code>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kDataExecute{"p_data_execute", "data does not execute",
                                                                      &guest::checked<&execute_data>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kDivide{"p_divide_error", "an exception without error code",
                                                                 &guest::checked<&divide_by_zero>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kLostStack{"p_lost_stack", "a wild stack pointer",
                                                                    &guest::checked<&lose_the_stack>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kAssertion{"p_assertion", "a failed ASSERT names its place",
                                                                    &guest::checked<&fail_an_assertion>, false};

[[gnu::used, gnu::section(".apps")]] constinit const App kDeepAssertion{
    "p_deep_assertion", "a panic near the end of a stack", &guest::checked<&fail_deep_down>, false};
[[gnu::used, gnu::section(".apps")]] constinit const App kGuardPages{
    "t_guard_pages", "every stack has an absent page below", &guest::checked<&guard_pages_are_absent>, false};

} // namespace kernel
