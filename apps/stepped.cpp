// SPDX-License-Identifier: MIT
// Shows the effect of tracing every instruction on a periodic load, and of a compensated clock. Three HARD tasks do a
// fixed amount of work in each of a fixed number of jobs; with itrace= on the command line all of them run in steps.
//
//   task     T us   work in instructions   declared us   jobs
//   fast       50          4 000                12         32
//   medium    100          8 000                18         16
//   slow      200         16 000                30          8
//
// In `pointed` every four instructions leave a record instead, which takes five times as long as they do; with
// clock_records=on it takes no time of the clock.
//
// With one tick per instruction and without steps the tasks take half of the processor, and no deadline is missed. In
// steps each instruction takes hundreds of ticks, the timer keeps its pace, and nearly every deadline is missed. With
// clock_step= the clock is set back.
#include "apps/verdict.hpp"
#include "kernel/interrupt/interrupt.hpp"
#include "kernel/run/app.hpp"
#include "kernel/sync/semaphore.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/compensated_clock.hpp"
#include "lib/wire_numbers.hpp"
#include "tracer/ftrace.hpp"

#include <array>

namespace apps {

namespace {

struct Load {
    const char* name;
    std::uint64_t period_us;
    std::uint64_t declared_us;
    std::uint32_t rounds; // of four instructions
    std::uint32_t jobs;
    std::uint64_t worst_ns = 0; // response
    std::uint64_t misses = 0;
    lib::Ticks begin;
};

constinit std::array<Load, 3> s_loads = {
    {{.name = "fast", .period_us = 50, .declared_us = 12, .rounds = 1'000, .jobs = 32, .begin = {}},
     {.name = "medium", .period_us = 100, .declared_us = 18, .rounds = 2'000, .jobs = 16, .begin = {}},
     {.name = "slow", .period_us = 200, .declared_us = 30, .rounds = 4'000, .jobs = 8, .begin = {}}}};
constinit Verdict s_stepped{"stepped"};
constinit kernel::Semaphore s_done;
constinit bool s_pointed = false; // each round leaves a record

std::uint64_t work(std::uint32_t rounds) {
    std::uint64_t value = 1;
    for (std::uint32_t round = 0; round < rounds; ++round) {
        asm volatile("" : "+r"(value)); // keeps the optimiser from merging rounds
        value = value * 5 + 1;
    }
    return value;
}

void recorded_work(std::uint32_t rounds) {
    for (std::uint32_t round = 0; round < rounds; ++round) {
        static_cast<void>(work(1));
        TRACER_LOGEVENT(FTrace_EVT_ipoint, 1, round);
    }
}

void body(void* argument) {
    Load& load = *static_cast<Load*>(argument);
    const lib::Nanoseconds period = lib::microseconds(load.period_us);
    for (std::uint64_t job = 0; job < load.jobs; ++job) {
        if (s_pointed) {
            recorded_work(load.rounds);
        } else {
            static_cast<void>(work(load.rounds));
        }
        const lib::Ticks released = load.begin + kernel::to_ticks({period.value * job});
        const std::uint64_t response_ns = kernel::to_nanoseconds(kernel::now() - released).value;
        load.worst_ns = response_ns > load.worst_ns ? response_ns : load.worst_ns;
        load.misses += response_ns > period.value ? 1 : 0;
        if (job + 1 < load.jobs) {
            kernel::task_endcycle();
        }
    }
    s_stepped.expect(kernel::sem_post(s_done), "sem_post");
}

void start_load(Load& load, lib::Ticks begin, int grain) {
    const auto pid = kernel::task_create({.name = load.name,
                                          .body = &body,
                                          .argument = &load,
                                          .model = kernel::HardModel{.wcet = lib::microseconds(load.declared_us),
                                                                     .period = lib::microseconds(load.period_us)}});
    s_stepped.expect(pid, load.name);
    load.begin = begin;
    const auto info = pid.ok() ? kernel::task_info(pid.value()) : lib::Result<kernel::TaskInfo>(pid.error());
    if (grain >= 0 && info.ok()) {
        const bool in_steps = FTrace_itrace_task(info.value().context, 1, grain) == 0;
        s_stepped.expect(in_steps ? lib::Result<void>() : lib::Error::unsupported, "FTrace_itrace_task");
    }
    if (pid.ok()) {
        s_stepped.expect(kernel::task_activate_at(pid.value(), begin), load.name);
    }
}

// The first `in_steps` of the tasks run in steps, if the command line requests it.
template <std::size_t InSteps>
int start(const kernel::AppArguments& arguments) {
    s_stepped.expect(kernel::sem_init(s_done, "done", 0), "sem_init");
    const lib::Ticks begin = kernel::after(lib::milliseconds(1));
    const std::uint64_t interrupts = kernel::interrupt_counters(arch::timer_vector()).taken;
    for (std::size_t i = 0; i < s_loads.size(); ++i) {
        start_load(s_loads[i], begin, i < InSteps ? arguments.steps : -1);
    }
    for (std::size_t i = 0; i < s_loads.size(); ++i) {
        s_stepped.expect(kernel::sem_wait(s_done), "sem_wait");
    }
    const lib::Ticks ran = kernel::now() - begin;
    kernel::console().mark("timer interrupts ", kernel::interrupt_counters(arch::timer_vector()).taken - interrupts);
    for (const Load& load : s_loads) {
        kernel::console().mark("task ", load.name, " worst response ", load.worst_ns, " ns of ", load.period_us,
                               " us, missed ", load.misses, " of ", load.jobs);
    }
    const kernel::compensation::Compensator& clock = kernel::clock_compensation();
    constexpr auto& kOutcomes = lib::kWords<kernel::compensation::Outcome>;
    for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
        kernel::console().mark("steps ", kOutcomes[i], " ", clock.count(static_cast<kernel::compensation::Outcome>(i)));
    }
    kernel::console().mark("clock ran ", ran.value, " removed ", clock.removed().value, " ticks");
    return s_stepped.result();
}

int start_pointed(const kernel::AppArguments& arguments) {
    s_pointed = true;
    return start<0>(arguments);
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kPointed{
    "pointed", "the same, a record for each four instructions instead of steps", &start_pointed, false};
[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kStepped{
    "stepped", "a periodic load, freely or in steps, on a clock that may be compensated", &start<3>, false};
[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kSteppedTwo{
    "stepped_two", "the same, two of the three tasks in steps", &start<2>, false};
[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kSteppedOne{
    "stepped_one", "the same, one of the three tasks in steps", &start<1>, false};

} // namespace

} // namespace apps
