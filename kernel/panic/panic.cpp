// SPDX-License-Identifier: MIT
// Reports the reason of a panic, and ends the run on a stack of its own.
#include "kernel/panic/panic.hpp"

#include "kernel/panic/console.hpp"
#include "kernel/state/processor.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/trace/machine.hpp"
#include "lib/text.hpp"

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

namespace {

constexpr int kStackWords = 16;
constexpr int kFramesMax = 16;

constinit PanicEnd g_end{.export_trace = nullptr, .exit = nullptr};
constinit int g_panics = 0;

std::uint64_t word_at(std::uint64_t address) {
    return *reinterpret_cast<const volatile std::uint64_t*>(address);
}

bool readable_word(std::uint64_t address) {
    return address % sizeof(std::uint64_t) == 0 && arch::readable(address);
}

void print_stack(std::uint64_t address) {
    for (int i = 0; i < kStackWords && readable_word(address); ++i, address += sizeof(std::uint64_t)) {
        console().line("  stack ", Hex{address}, ": ", Hex{word_at(address)});
    }
}

// Calls the function with each return address in the chain of frame pointers: [saved rbp][return address].
template <typename Function>
void for_each_call(std::uint64_t frame, Function function) {
    for (int i = 0; i < kFramesMax && readable_word(frame) && readable_word(frame + 8); ++i) {
        const std::uint64_t next = word_at(frame);
        function(word_at(frame + 8));
        if (next <= frame) {
            return; // addresses in the chain only increase
        }
        frame = next;
    }
}

void print_calls(std::uint64_t frame) {
    for_each_call(frame, [](std::uint64_t address) { console().line("  called from ", Hex{address}); });
}

// The panic has a stack of its own, because the stack that failed may have no room for an export.
constexpr std::size_t kPanicStackBytes = std::size_t{32} * 1024;
alignas(16) constinit std::array<std::byte, kPanicStackBytes> g_stack{};

void finish_on_own_stack(void*) {
    ASSERT(g_end.exit != nullptr);
    g_end.export_trace();
    g_end.exit();
    arch::stop();
}

// Ends every panic: the export functions of AFTER_EXIT still run, with interrupts off. interrupted: none if the kernel
// called panic().
[[noreturn]] void finish(std::uint32_t reason_code, std::string_view text, const arch::Exception* interrupted,
                         std::uint64_t frame) {
    trace_points::panicked(reason_code, text);
    if (interrupted != nullptr) {
        trace_points::panicked_at(interrupted->instruction_address);
    }
    for_each_call(frame, [](std::uint64_t address) { trace_points::panicked_at(address); });
    repeat_panic_end();
}

// Switches interrupts off permanently. A second panic exits at once. A third one occurred on that path, which uses only
// the console, so it exits without it. There is no fourth.
void begin() {
    static_cast<void>(arch::irq_save());
    const int before = g_panics++;
    if (before == 0) {
        return;
    }
    if (before == 1) {
        console().mark("panic while panicking");
    } else {
        console().attach(nullptr);
    }
    if (g_end.exit != nullptr && before < 3) {
        g_end.exit();
    }
    arch::stop();
}

} // namespace

bool panicking() {
    return g_panics != 0;
}

void repeat_panic_end() {
    arch::StackPointer abandoned;
    arch::switch_context(&abandoned, arch::prepare_stack(g_stack, &finish_on_own_stack, nullptr));
    arch::stop(); // nothing switches back
}

void set_panic_end(const PanicEnd& end) {
    g_end = end;
}

void panic(std::string_view reason) {
    begin();
    const auto frame = reinterpret_cast<std::uint64_t>(__builtin_frame_address(0));
    console().mark("panic: ", reason);
    print_task();
    print_calls(frame);
    print_stack(frame);
    finish(0, reason, nullptr, frame);
}

void panic_on_exception(const arch::Exception& fault) {
    begin();
    console().mark("panic: exception ", fault.vector, " (", exception_name(fault.vector), ")");
    print_fault(fault);
    print_calls(fault.frame_address);
    print_stack(fault.stack_address);
    finish(fault.vector, exception_name(fault.vector), &fault, fault.frame_address);
}

void panic_on_hang(std::string_view what, std::uint32_t limit_ms, const arch::Exception& interrupted,
                   std::optional<arch::Vector> in_service) {
    begin();
    console().mark("panic: ", what, " (", limit_ms, " ms)");
    console().line("  rip ", Hex{interrupted.instruction_address}, " rsp ", Hex{interrupted.stack_address},
                   interrupted.interrupts_were_on ? " interrupts on" : " interrupts off");
    if (in_service) {
        console().line("  vector ", Hex{*in_service}, " is being served");
    }
    print_task();
    print_calls(interrupted.frame_address);
    print_stack(interrupted.stack_address);
    finish(interrupted.vector, what, &interrupted, interrupted.frame_address);
}

} // namespace kernel

namespace lib {

void assert_failed(const char* condition, const char* file, int line) {
    Text<160> reason;
    reason.add(file).add(':').decimal(line).add(": ").add(condition);
    kernel::panic(reason.view());
}

} // namespace lib
