// SPDX-License-Identifier: MIT
// Shows a set of two tasks that is not schedulable with fixed priorities, but with deadlines: it needs 2 of every 5 and
// 4 of every 7, together 97 % of the processor. Times are in milliseconds.
//
//   phase 1, fixed priorities (RM)             phase 2, deadlines (EDF)
//   t1 #A##.###A##.###                         t1 ##...##...
//   t2 .  t2 has run 3 of 4 at its deadline    t2 runs to its end before t1's second job, whose deadline is later
//
// The bound for two fixed priorities is 83 %; response-time analysis gives the exact reason: R2 = 4 + 2 + 2 > 7. The
// kernel's admission agrees: it refuses the true set. Then t2 declares 3, is admitted, uses 4 and misses its deadline.
// Under EDF the true set is admitted and no deadline is missed. Source: Liu, Layland, "Scheduling algorithms for
// multiprogramming in a hard-real-time environment" (1973).
#include "apps/phase.hpp"
#include "apps/work.hpp"
#include "kernel/run/app.hpp"
#include "tracer/ftrace.hpp"

namespace apps {

namespace {

using lib::microseconds;
using lib::milliseconds;

constexpr lib::Nanoseconds kPhase = milliseconds(70); // two hyperperiods

constinit Verdict s_compare{"rm_vs_edf"};
constinit Phase s_phase{s_compare};

void t1(void*) {
    for (;;) {
        compute(microseconds(1'950));
        kernel::task_endcycle();
    }
}

void t2(void*) {
    for (;;) {
        compute(microseconds(3'900));
        kernel::task_endcycle();
    }
}

kernel::HardModel model(std::uint64_t wcet_us, std::uint64_t period_ms, kernel::HardPriority priority) {
    return {.wcet = microseconds(wcet_us), .period = milliseconds(period_ms), .priority = priority};
}

// Returns whether admission accepts the task, which is removed afterwards.
bool admitted(const kernel::HardModel& wanted) {
    const auto pid = kernel::task_create({.name = "asked", .body = &t2, .argument = nullptr, .model = wanted});
    if (!pid.ok()) {
        return false;
    }
    s_compare.expect(kernel::task_kill(pid.value()), "task_kill");
    return true;
}

struct Answer {
    bool true_set_admitted = false;
    std::uint64_t misses = 0;
};

Answer run_phase([[maybe_unused]] std::uint16_t number, kernel::HardPriority priority, std::uint64_t t2_declares_us) {
    TRACER_LOGEVENT(FTrace_EVT_user_event_0, number, 0);
    const lib::Ticks begin = kernel::after(milliseconds(1));
    s_phase.open(begin + kernel::to_ticks(kPhase));
    s_phase.start("t1", &t1, model(2'000, 5, priority), begin);
    Answer answer{.true_set_admitted = admitted(model(4'000, 7, priority))};
    s_phase.start("t2", &t2, model(t2_declares_us, 7, priority), begin);
    const auto counts = s_phase.wait();
    answer.misses = counts[0].deadline_misses + counts[1].deadline_misses;
    return answer;
}

int start(const kernel::AppArguments& arguments) {
    s_phase.prepare();
    const Answer rm = run_phase(1, kernel::HardPriority::fixed, 3'000);
    kernel::task_delay(milliseconds(20));
    const Answer edf = run_phase(2, kernel::HardPriority::dynamic, 4'000);
    kernel::console().mark("RM ", rm.true_set_admitted ? "admits" : "refuses", " the set and misses ", rm.misses,
                           " deadlines; EDF ", edf.true_set_admitted ? "admits" : "refuses", " it and misses ",
                           edf.misses);
    s_compare.check("RM admits the set", rm.true_set_admitted ? 1 : 0, 0, 0, true);
    s_compare.check("EDF admits the set", edf.true_set_admitted ? 1 : 0, 1, 1, true);
    s_compare.check("misses under RM", rm.misses, 1, ~std::uint64_t{0}, arguments.icount);
    s_compare.check("misses under EDF", edf.misses, 0, 0, arguments.icount);
    return s_compare.result();
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kRmVsEdf{
    "rm_vs_edf", "the same two tasks under fixed priorities and under deadlines", &start, false};

} // namespace apps
