// SPDX-License-Identifier: MIT
// Tests who runs when, on the real machine.
#include "tests/kernel/row_cases.hpp"
#include "tests/kernel/working.hpp"

#include <algorithm>
#include <array>
#include <span>

namespace {

namespace scheduler_cases {

using namespace guest;

int edf_order(const kernel::AppArguments&) {
    return nearest_first<due_after>();
}

int edf_ties(const kernel::AppArguments&) {
    start("launcher", due_after(500), [](void*) {
        const lib::Ticks at = kernel::now();
        for (const kernel::TaskBody body : {letter<'C'>, letter<'A'>, letter<'B'>}) {
            must(kernel::task_activate_at(create("tie", due_after(1'000), body), at));
        }
        order.add('L');
    });
    check_order("LCAB");
    return failures;
}

int edf_preemption(const kernel::AppArguments&) {
    start("far", due_after(2'000), [](void*) {
        order.add('(');
        start("near", due_after(1'000), letter<'n'>);
        start("farther", due_after(3'000), letter<'f'>);
        order.add(')');
    });
    check_order("(n)f");
    return failures;
}

int level_order(const kernel::AppArguments&) {
    static constinit kernel::Semaphore done;
    must(kernel::sem_init(done, "done", 0));
    start("launcher", due_after(500), [](void*) {
        start("background", kernel::BackgroundModel{}, [](void*) {
            order.add('b');
            must(kernel::sem_post(done));
        });
        start("nrt", kernel::NrtModel{}, letter<'n'>);
        start("hard", due_after(1'000), letter<'h'>);
        order.add('L');
    });
    must(kernel::sem_wait(done));
    check_order("Lhnb");
    return failures;
}

// Keeps a letter for each time that one of the tasks is dispatched, and how long after it the next dispatch is, which
// is that of another task.
struct Turns {
    lib::Text<40> letters;
    std::array<lib::Ticks, 40> lengths{};
};

Turns turns_of(std::span<const std::uint16_t> contexts) {
    Turns turns;
    const tracer::Record* dispatch = nullptr;
    for (const tracer::Record& record : rows::recording.records()) {
        if (record.event_code() != FTrace_EVT_task_dispatch) {
            continue;
        }
        if (dispatch != nullptr) {
            turns.lengths[turns.letters.view().size() - 1] = record.stamp() - dispatch->stamp();
        }
        const auto found = std::ranges::find(contexts, record.par1);
        dispatch = found != contexts.end() ? &record : nullptr;
        if (dispatch != nullptr) {
            turns.letters.add(static_cast<char>('A' + (found - contexts.begin())));
        }
    }
    return turns;
}

template <std::uint64_t Microseconds>
void compute_and_end(void*) {
    compute(lib::microseconds(Microseconds));
}

// None gives the processor away before it has done its work. A has a slice of 2 ms, B and C of 1 ms; they need 3.5, 2.5
// and 1.5. So each has a slice in its turn, first come first served, until it needs less.
int rr_rotation(const kernel::AppArguments&) {
    constexpr auto kTurnsUs = std::to_array<std::uint64_t>({2'000, 1'000, 1'000, 1'500, 1'000, 500, 500});
    constexpr lib::Nanoseconds kSwitchMax = lib::microseconds(40);
    const int chunk = rows::begin();
    const kernel::NrtModel model{.slice = lib::milliseconds(1), .weight = 1};
    const kernel::NrtModel twice{.slice = lib::milliseconds(2), .weight = 1};
    const std::array contexts{rows::context_of(start("A", twice, compute_and_end<3'500>)),
                              rows::context_of(start("B", model, compute_and_end<2'500>)),
                              rows::context_of(start("C", model, compute_and_end<1'500>))};
    kernel::task_delay(lib::milliseconds(10));
    rows::end(chunk);
    const Turns turns = turns_of(contexts);
    std::ranges::for_each(turns.letters.view(), [](char letter) { order.add(letter); });
    check_order("ABCABCB");
    for (std::size_t i = 0; i < kTurnsUs.size(); ++i) {
        const lib::Ticks least = kernel::to_ticks(lib::microseconds(kTurnsUs[i])) - kernel::to_ticks(kSwitchMax);
        const lib::Ticks most = least + kernel::to_ticks(kSwitchMax) + kernel::to_ticks(kSwitchMax);
        if (turns.lengths[i] < least || turns.lengths[i] > most) {
            ++failures;
            kernel::console().line("failed: turn ", i, " took ", turns.lengths[i].value, " ticks, expected ",
                                   least.value, " to ", most.value);
        }
    }
    check(rows::recording.count(FTrace_EVT_slice_end) == 4, "four slices were used up");
    return failures;
}

// Job 0 overruns two releases; jobs 1 and 2 then follow at once, none is lost, and none starts before its release.
int overrun_keeps_releases(const kernel::AppArguments& arguments) {
    static constexpr std::uint64_t kPeriodMs = 5;
    static constinit lib::Ticks origin;
    static constinit kernel::JobCounts counts;
    origin = kernel::after(lib::milliseconds(2));
    const kernel::Pid pid =
        create("overrun", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(kPeriodMs), {}, {}}, [](void*) {
            spin_until([] { return my_jobs().released >= 3; });
            kernel::task_endcycle();
            for (std::uint64_t job = 1; job < 5; ++job) {
                check(kernel::now() >= origin + kernel::to_ticks(lib::milliseconds(job * kPeriodMs)), "early release");
                check(my_jobs().completed == job, "a job was skipped");
                order.add(static_cast<char>('0' + job));
                counts = my_jobs();
                kernel::task_endcycle();
            }
        });
    must(kernel::task_activate_at(pid, origin));
    while (order.letters().size() < 4) {
        kernel::task_delay(lib::milliseconds(1));
    }
    check_order("1234");
    check(counts.deadline_misses >= 2, "jobs 0 and 1 were late");
    check(!arguments.icount || counts.deadline_misses == 2, "only jobs 0 and 1 were late");
    return failures;
}

int deadline_miss(const kernel::AppArguments&) {
    static constinit bool recorded = false;
    start("late", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(1'000), lib::milliseconds(2), {}},
          [](void*) {
              check(my_jobs().deadline_misses == 0, "not late yet");
              spin_until([] { return my_jobs().deadline_misses == 1; });
              recorded = true;
          });
    check(recorded, "the miss was counted while the job still ran");
    return failures;
}

int wcet_violation(const kernel::AppArguments&) {
    static constinit std::uint64_t violations = 0;
    start("greedy", kernel::HardModel{lib::milliseconds(1), lib::milliseconds(1'000), {}, {}}, [](void*) {
        spin_until([] { return my_jobs().wcet_violations == 1; });
        check(kernel::task_cpu_time() >= kernel::to_ticks(lib::milliseconds(1)), "not before the budget is used");
        const lib::Ticks more = kernel::task_cpu_time() + kernel::to_ticks(lib::milliseconds(2));
        spin_until([more] { return kernel::task_cpu_time() > more; });
        violations = my_jobs().wcet_violations;
    });
    check(violations == 1, "once per job");
    return failures;
}

int admission(const kernel::AppArguments&) {
    const auto full = [](std::uint64_t wcet_ns) {
        const kernel::HardModel model{{wcet_ns}, lib::milliseconds(7), {}, {}};
        return kernel::task_create({.name = "seventh", .body = letter<'x'>, .argument = nullptr, .model = model});
    };
    for (int i = 0; i < 6; ++i) {
        must(full(1'000'000));
    }
    check(!full(1'000'001).ok(), "one nanosecond over one is refused");
    check(full(1'000'000).ok(), "exactly one is admitted");
    return failures;
}

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCases[] = {
    {"t_edf_order", "the earliest deadline runs first", &guest::checked<&edf_order>, false},
    {"t_edf_ties", "equal deadlines run in the order of release", &guest::checked<&edf_ties>, false},
    {"t_edf_preemption", "a nearer deadline preempts, a farther one does not", &guest::checked<&edf_preemption>, false},
    {"t_level_order", "levels are searched in the order of registration", &guest::checked<&level_order>, false},
    {"t_rr_rotation", "a used-up slice gives the processor to the next", &guest::checked<&rr_rotation>, true},
    {"t_edf_overrun", "an overrun keeps later releases pending", &guest::checked<&overrun_keeps_releases>, false},
    {"t_edf_deadline_miss", "a late job is recorded at its deadline", &guest::checked<&deadline_miss>, false},
    {"t_edf_wcet_violation", "a job over budget is recorded once", &guest::checked<&wcet_violation>, false},
    {"t_edf_admission", "seven sevenths fit, one nanosecond more does not", &guest::checked<&admission>, false},
};

} // namespace scheduler_cases

} // namespace
