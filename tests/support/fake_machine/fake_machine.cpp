// SPDX-License-Identifier: MIT
// Contexts follow the sanitizer's fiber protocol, so the address sanitizer checks every stack. The switch is ours
// instead of swapcontext(): the sanitizer warns of that one, and it enters the host's kernel twice.
#include "tests/support/fake_machine/fake_machine.hpp"

#include "arch/arch.hpp"
#include "arch/x86_64/stack_switch.hpp"
#include "kernel/run/app.hpp"

#include <sanitizer/common_interface_defs.h>

#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <memory>

// Without the sanitizer (FAST=1) nothing needs to know of a switch. g++ defines the macro.
#ifndef __SANITIZE_ADDRESS__
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
extern "C" void __sanitizer_start_switch_fiber(void** /*save*/, const void* /*bottom*/, std::size_t /*size*/) {}

extern "C" void __sanitizer_finish_switch_fiber(void* /*save*/, const void** /*bottom*/, std::size_t* /*size*/) {}

// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#endif

namespace {

constexpr std::size_t kFiberStackBytes = 256 * 1024; // sanitized hosted frames are far larger than the kernel's
constexpr arch::Vector kTimerVector = 0x20;
constexpr std::uint64_t kDisarmed = std::numeric_limits<std::uint64_t>::max();

struct Fiber {
    std::uint64_t stack_pointer = 0;
    std::unique_ptr<std::uint64_t[]> stack;
    const void* bottom = nullptr;
    std::size_t size = 0;
    void* fake_stack = nullptr; // the sanitizer's
    void (*entry)(void*) = nullptr;
    void* argument = nullptr;
};

struct Machine {
    std::map<const std::byte*, std::unique_ptr<Fiber>> fibers; // by the kernel's own stack
    Fiber boot;
    Fiber* running = &boot;
    Fiber* previous = nullptr;
    std::unique_ptr<Fiber> abandoned; // restarted from its own stack, which must still exist then
    std::uint64_t armed_at = kDisarmed;
    std::uint64_t timer_settings = 0;
    arch::Upcalls upcalls{};
};

Machine& machine() {
    static Machine the_machine;
    return the_machine;
}

void require(bool condition, const char* what) {
    if (!condition) {
        std::fprintf(stderr, "fake machine: %s\n", what);
        std::abort();
    }
}

void arrived() {
    Machine& m = machine();
    const void* bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(m.running->fake_stack, &bottom, &size);
    if (m.previous == &m.boot) {
        m.boot.bottom = bottom;
        m.boot.size = size;
    }
}

void fiber_main() {
    arrived();
    const Fiber& self = *machine().running;
    self.entry(self.argument);
    require(false, "a context's entry returned");
}

std::unique_ptr<Fiber> make_fiber(void (*entry)(void*), void* argument) {
    auto fiber = std::make_unique<Fiber>();
    constexpr std::size_t kWords = kFiberStackBytes / sizeof(std::uint64_t);
    fiber->stack = std::make_unique_for_overwrite<std::uint64_t[]>(kWords);
    fiber->bottom = fiber->stack.get();
    fiber->size = kFiberStackBytes;
    fiber->entry = entry;
    fiber->argument = argument;
    // These are the address at which it continues, and one word that aligns the stack as a call would.
    std::uint64_t* const top = fiber->stack.get() + kWords;
    top[-2] = reinterpret_cast<std::uint64_t>(&fiber_main);
    fiber->stack_pointer = reinterpret_cast<std::uint64_t>(top - 2);
    return fiber;
}

// The interrupt frame restores the flag of the interrupted context when it continues.
void deliver_due() {
    Machine& m = machine();
    while (arch::fake_cpu.interrupts_on && m.armed_at <= arch::fake_cpu.time) {
        m.armed_at = kDisarmed;
        arch::fake_cpu.interrupts_on = false;
        m.upcalls.interrupt(kTimerVector);
        arch::fake_cpu.interrupts_on = true;
    }
}

} // namespace

namespace arch {

StackPointer prepare_stack(std::span<std::byte> stack, void (*entry)(void*), void* argument) {
    require(stack.size() >= 4096, "stack too small");
    auto& slot = machine().fibers[stack.data()];
    require(slot.get() != machine().running || slot == nullptr, "the running context's stack is prepared again");
    slot = make_fiber(entry, argument);
    return {reinterpret_cast<std::uint64_t>(slot.get())};
}

void restart_context(std::span<std::byte> stack, void (*entry)(void*), void* argument) {
    require(interrupts_disabled(), "context restart with interrupts on");
    Machine& m = machine();
    auto& slot = m.fibers[stack.data()];
    require(slot.get() == m.running, "a context that does not run is restarted from inside");
    m.abandoned = std::move(slot);
    slot = make_fiber(entry, argument);
    m.previous = m.running;
    m.running = slot.get();
    __sanitizer_start_switch_fiber(nullptr, m.running->bottom, m.running->size);
    arch::x86_64::switch_stacks(&m.previous->stack_pointer, m.running->stack_pointer);
    require(false, "an abandoned context was resumed");
    __builtin_unreachable();
}

void switch_context(StackPointer* save, StackPointer load) {
    require(interrupts_disabled(), "context switch with interrupts on");
    Machine& m = machine();
    save->value = reinterpret_cast<std::uint64_t>(m.running);
    Fiber* const from = m.running;
    auto* const to = reinterpret_cast<Fiber*>(load.value);
    m.previous = from;
    m.running = to;
    __sanitizer_start_switch_fiber(&from->fake_stack, to->bottom, to->size);
    arch::x86_64::switch_stacks(&from->stack_pointer, to->stack_pointer);
    arrived();
}

lib::TickRate tick_rate() {
    return {1'000'000}; // one tick is one nanosecond
}

const lib::TickConversion& tick_conversion() {
    static constexpr lib::TickConversion kConversion({1'000'000});
    return kConversion;
}

void timer_arm(lib::Ticks at) {
    require(interrupts_disabled(), "timer armed with interrupts on");
    machine().armed_at = at.value;
    ++machine().timer_settings;
}

lib::Ticks timer_left() {
    const std::uint64_t at = machine().armed_at;
    return {at != kDisarmed && at > fake_cpu.time ? at - fake_cpu.time : 0};
}

void timer_disarm() {
    machine().armed_at = kDisarmed;
    ++machine().timer_settings;
}

// Code takes no time and no steps here.
void single_step(bool on) {
    require(!on, "the fake machine cannot step");
}

bool single_stepping() {
    return false;
}

void wait_for_interrupt() {
    require(interrupts_disabled(), "waiting with interrupts on");
    require(machine().armed_at != kDisarmed, "waiting forever: nothing is armed");
    if (fake_cpu.time < machine().armed_at) {
        fake_cpu.time = machine().armed_at;
    }
    irq_enable();
    static_cast<void>(irq_save());
}

void wait_by_counting() {
    require(false, "its clock counts no instructions");
    std::abort();
}

void set_upcalls(const Upcalls& upcalls) {
    machine().upcalls = upcalls;
    fake_cpu.on_interrupts_enabled = &deliver_due;
}

Vector timer_vector() {
    return kTimerVector;
}

} // namespace arch

namespace fake_machine {

std::uint64_t timer_settings() {
    return machine().timer_settings;
}

void burn(std::uint64_t ticks, Interval interval, void* context) {
    require(!arch::interrupts_disabled(), "work with interrupts off");
    const Machine& m = machine();
    std::uint64_t& time = arch::fake_cpu.time;
    while (ticks > 0) {
        const std::uint64_t from = time;
        const bool interrupted = m.armed_at < time + ticks;
        const std::uint64_t step = !interrupted ? ticks : m.armed_at > time ? m.armed_at - time : 0;
        time += step;
        ticks -= step;
        if (step > 0) {
            interval(context, from, time);
        }
        if (interrupted) {
            deliver_due();
        }
    }
}

} // namespace fake_machine

// --- the linker's application table: two entries for the tests of find_app -------------------------------------------

extern "C" {
extern const kernel::App apps_begin[2];
const kernel::App apps_begin[2] = {
    {"first", "an application", [](const kernel::AppArguments&) { return 0; }, false},
    {"second", "another one", [](const kernel::AppArguments&) { return 0; }, true},
};
}

asm(".globl apps_end\n.set apps_end, apps_begin + 64\n");
static_assert(sizeof(apps_begin) == 64);
