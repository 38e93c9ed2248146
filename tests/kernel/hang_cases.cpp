// SPDX-License-Identifier: MIT
// The machine hangs in each of these ways after a random number of rounds (from the seed), the last of which is
// recorded. What the watchdog makes of them is in tests/integration/watchdog.py.
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/panic/hang.hpp"
#include "kernel/panic/panic.hpp"
#include "kernel/run/run.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/time/timer.hpp"
#include "tests/kernel/case.hpp"
#include "tracer/export/sink.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/ftrace_codes.hpp"
#include "tracer/instance.hpp"

namespace {

namespace hang_cases {

using namespace guest;

constexpr std::uint16_t kRound = 4711;
constexpr std::uint64_t kRoundsMax = 300;
constexpr lib::Nanoseconds kPause{20'000};

// Loops without `pause`, at each of which an emulator that counts instructions returns to its loop.
[[noreturn]] void forever() {
    for (;;) {
        asm volatile("" : : : "memory");
    }
}

// Executes rounds of work and sleep; the number of the last one is printed.
void work(const kernel::AppArguments& arguments) {
    const std::uint64_t rounds = 1 + arguments.seed * 2'654'435'761 % kRoundsMax;
    for (std::uint64_t round = 1; round <= rounds; ++round) {
        TRACER_LOGEVENT(FTrace_EVT_ipoint, kRound, static_cast<std::uint32_t>(round));
        kernel::task_delay(kPause);
    }
    kernel::console().mark("hangs after round ", rounds);
}

int in_a_task(const kernel::AppArguments& arguments) {
    work(arguments);
    forever();
}

int with_interrupts_off(const kernel::AppArguments& arguments) {
    work(arguments);
    static_cast<void>(arch::irq_save());
    forever();
}

int in_a_handler(const kernel::AppArguments& arguments) {
    work(arguments);
    must(kernel::kern_event_post(
        kernel::now(), [](void*) { forever(); }, nullptr));
    forever();
}

int without_a_wake_up(const kernel::AppArguments& arguments) {
    work(arguments);
    static constinit kernel::Semaphore never_posted{};
    must(kernel::sem_init(never_posted, "never", 0));
    must(kernel::sem_wait(never_posted));
    return 0;
}

// This is no hang by the state of the machine: whether the other task will post is a matter of its code.
int beside_a_task(const kernel::AppArguments& arguments) {
    const auto pid = must(kernel::task_create({.name = "other",
                                               .body =
                                                   [](void*) {
                                                       for (;;) {
                                                           kernel::task_delay(lib::milliseconds(1));
                                                       }
                                                   },
                                               .argument = nullptr,
                                               .model = kernel::NrtModel{}}));
    must(kernel::task_activate(pid));
    return without_a_wake_up(arguments);
}

int in_after_exit(const kernel::AppArguments& arguments) {
    work(arguments);
    must(kernel::sys_atrunlevel([](void*) { forever(); }, nullptr, kernel::RunLevel::after_exit));
    return 0;
}

// The panic's own export does not end either.
int in_the_export(const kernel::AppArguments& arguments) {
    work(arguments);
    must(kernel::sys_atrunlevel([](void*) { forever(); }, nullptr, kernel::RunLevel::after_exit));
    kernel::panic("before the hang");
}

// Works until the machine is reset.
int works_forever(const kernel::AppArguments&) {
    for (std::uint32_t round = 1;; ++round) {
        TRACER_LOGEVENT(FTrace_EVT_ipoint, kRound, round);
        kernel::task_delay(kPause);
    }
}

class StuckSink final : public tracer::ChunkSink {
  public:
    constexpr explicit StuckSink(std::string_view name)
        : m_name(name) {}

    [[nodiscard]] std::string_view name() const override { return m_name; }

    [[nodiscard]] lib::Result<void> submit(const tracer::ChunkImage&) override {
        m_state = tracer::SinkState::busy;
        return {};
    }

    tracer::SinkState step() override { forever(); }

    [[nodiscard]] lib::Result<void> finish(const tracer::ExportEnd&) override { return {}; }

    [[nodiscard]] tracer::SinkState state() const override { return m_state; }

    [[nodiscard]] lib::Error last_error() const override { return {}; }

  private:
    std::string_view m_name;
    tracer::SinkState m_state = tracer::SinkState::idle;
};

int in_a_sink(const kernel::AppArguments& arguments) {
    static constinit StuckSink stuck{"stuck"};
    work(arguments);
    must(tracer::instance().exporter.attach(stuck, tracer::SinkTime::after_exit));
    return 0;
}

int in_a_sink_after_a_panic(const kernel::AppArguments& arguments) {
    static_cast<void>(in_a_sink(arguments));
    kernel::panic("before the hang");
}

// Whatever is left out, another one hangs.
int in_every_sink(const kernel::AppArguments& arguments) {
    static constinit StuckSink other{"stuck too"};
    must(tracer::instance().exporter.attach(other, tracer::SinkTime::after_exit));
    return in_a_sink_after_a_panic(arguments);
}

// Hangs until the watchdog finds it, and again in its panic's AFTER_EXIT.
int twice(const kernel::AppArguments& arguments) {
    must(kernel::sys_atrunlevel([](void*) { forever(); }, nullptr, kernel::RunLevel::after_exit));
    return with_interrupts_off(arguments);
}

int computes(const kernel::AppArguments& arguments) {
    const lib::Ticks end = kernel::now() + kernel::to_ticks(arguments.duration);
    while (kernel::now() < end) {
        asm volatile("" : : : "memory");
    }
    return 0;
}

// Runs for many limits without a system call but the kick.
int kicks(const kernel::AppArguments& arguments) {
    const lib::Ticks end = kernel::now() + kernel::to_ticks(arguments.duration);
    while (kernel::now() < end) {
        kernel::watchdog_kick();
    }
    return 0;
}

// Sleeps for many limits: a timer is posted.
int sleeps(const kernel::AppArguments& arguments) {
    kernel::task_delay(arguments.duration);
    return 0;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"s_hang_task", "a task computes forever", &in_a_task, false},
    {"s_hang_interrupts_off", "a task computes forever with interrupts off", &with_interrupts_off, false},
    {"s_hang_handler", "a timer's handler does not return", &in_a_handler, false},
    {"s_hang_main", "the main task waits, and nothing can wake it", &without_a_wake_up, false},
    {"s_main_waits_beside_a_task", "the main task waits forever, another one works", &beside_a_task, false},
    {"s_hang_after_exit", "a function of AFTER_EXIT does not return", &in_after_exit, false},
    {"s_hang_in_panic", "a function of AFTER_EXIT does not return after a panic", &in_the_export, false},
    {"s_works_forever", "rounds of work until the machine is reset", &works_forever, false},
    {"s_hang_in_sink", "a sink does not return from a step", &in_a_sink, false},
    {"s_hang_in_sink_after_panic", "a sink does not return from a step after a panic", &in_a_sink_after_a_panic, false},
    {"s_hang_in_every_sink", "no sink returns from a step after a panic", &in_every_sink, false},
    {"s_hang_twice", "a task computes forever, then a function of AFTER_EXIT", &twice, false},
    {"s_no_hang_computes", "a task computes for longer than the limit", &computes, false},
    {"s_no_hang_kicks", "a task computes for longer than the limit, and says so", &kicks, false},
    {"s_no_hang_sleeps", "every task sleeps for longer than the limit", &sleeps, false},
};

} // namespace hang_cases

} // namespace
