// SPDX-License-Identifier: MIT
#include "kernel/panic/fault_report.hpp"

#include "kernel/panic/console.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/state/stacks.hpp"

#include <array>

namespace kernel {

namespace {

constexpr std::array<std::string_view, 22> kExceptionNames = {"divide error",
                                                              "debug",
                                                              "NMI",
                                                              "breakpoint",
                                                              "overflow",
                                                              "bound range",
                                                              "invalid opcode",
                                                              "no FPU",
                                                              "double fault",
                                                              "coprocessor",
                                                              "invalid TSS",
                                                              "no segment",
                                                              "stack fault",
                                                              "protection fault",
                                                              "page fault",
                                                              "reserved",
                                                              "x87 error",
                                                              "alignment check",
                                                              "machine check",
                                                              "SIMD error",
                                                              "virtualization",
                                                              "control protection"};

bool is_guard_page(std::uint64_t address) {
    for (std::size_t i = 0; i < kTasksMax; ++i) {
        const std::span<std::byte> guard = guard_page(i);
        if (address - reinterpret_cast<std::uint64_t>(guard.data()) < guard.size()) {
            return true;
        }
    }
    return false;
}

} // namespace

std::string_view exception_name(arch::Vector vector) {
    return vector < kExceptionNames.size() ? kExceptionNames[vector] : std::string_view("reserved exception");
}

void print_task() {
    const Task* const task = this_processor().loaded;
    if (task != nullptr) {
        console().line("  task ", task->name.view(), " pid ", task->pid.value, " context ", task->context);
    } else {
        console().line("  no task: boot or exit");
    }
}

void print_fault(const arch::Exception& fault) {
    console().line("  rip ", Hex{fault.instruction_address}, " rsp ", Hex{fault.stack_address}, " address ",
                   Hex{fault.fault_address}, " error ", Hex{fault.error_code});
    print_task();
    if (is_guard_page(fault.fault_address)) {
        console().line("  stack overflow: the address is in the guard page of a task's stack");
    }
}

} // namespace kernel
