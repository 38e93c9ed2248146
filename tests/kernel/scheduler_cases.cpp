// SPDX-License-Identifier: MIT
// Who runs when, on the real machine.
#include "tests/kernel/case.hpp"

namespace {

using namespace guest;

int edf_order(const kernel::AppArguments&) {
    return nearest_first<due_after>();
}

int edf_ties(const kernel::AppArguments&) {
    start(
        "launcher",
        [](void*) {
            const lib::Ticks at = kernel::now();
            for (const kernel::TaskBody body : {letter<'C'>, letter<'A'>, letter<'B'>}) {
                must(kernel::task_activate_at(create("tie", body, due_after(1'000)), at));
            }
            order.add('L');
        },
        due_after(500));
    check_order("LCAB");
    return failures;
}

int edf_preemption(const kernel::AppArguments&) {
    start(
        "far",
        [](void*) {
            order.add('(');
            start("near", letter<'n'>, due_after(1'000));
            start("farther", letter<'f'>, due_after(3'000));
            order.add(')');
        },
        due_after(2'000));
    check_order("(n)f");
    return failures;
}

int level_order(const kernel::AppArguments&) {
    static constinit kernel::Semaphore done;
    must(kernel::sem_init(done, "done", 0));
    start(
        "launcher",
        [](void*) {
            start(
                "background",
                [](void*) {
                    order.add('b');
                    must(kernel::sem_post(done));
                },
                kernel::BackgroundModel{});
            start("nrt", letter<'n'>, kernel::NrtModel{});
            start("hard", letter<'h'>, due_after(1'000));
            order.add('L');
        },
        due_after(500));
    must(kernel::sem_wait(done));
    check_order("Lhnb");
    return failures;
}

// Neither ever gives the processor away, yet they alternate.
int rr_rotation(const kernel::AppArguments&) {
    static constinit kernel::Semaphore done;
    must(kernel::sem_init(done, "done", 0));
    static constexpr std::size_t kLetters = 6;
    const auto alternate = []<char Self>(std::integral_constant<char, Self>) {
        return [](void*) {
            while (order.letters().size() < kLetters) {
                const auto so_far = order.letters();
                if (so_far.empty() || so_far.back() != Self) {
                    order.add(Self);
                }
                look_again();
            }
            must(kernel::sem_post(done));
        };
    };
    start("A", alternate(std::integral_constant<char, 'A'>{}),
          kernel::NrtModel{.slice = lib::milliseconds(1), .weight = 1});
    start("B", alternate(std::integral_constant<char, 'B'>{}),
          kernel::NrtModel{.slice = lib::milliseconds(1), .weight = 1});
    must(kernel::sem_wait(done));
    must(kernel::sem_wait(done));
    check_order("ABABAB");
    return failures;
}

// Job 0 overruns two releases; jobs 1 and 2 then follow at once, none is lost, and none starts before its release.
int overrun_keeps_releases(const kernel::AppArguments& arguments) {
    static constexpr std::uint64_t kPeriodMs = 5;
    static constinit lib::Ticks origin;
    static constinit kernel::JobCounts counts;
    origin = kernel::after(lib::milliseconds(2));
    const kernel::Pid pid = create(
        "overrun",
        [](void*) {
            spin_until([] { return my_jobs().released >= 3; });
            kernel::task_endcycle();
            for (std::uint64_t job = 1; job < 5; ++job) {
                check(kernel::now() >= origin + kernel::to_ticks(lib::milliseconds(job * kPeriodMs)), "early release");
                check(my_jobs().completed == job, "a job was skipped");
                order.add(static_cast<char>('0' + job));
                counts = my_jobs();
                kernel::task_endcycle();
            }
        },
        kernel::HardModel{lib::milliseconds(1), lib::milliseconds(kPeriodMs), {}, {}});
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
    start(
        "late",
        [](void*) {
            check(my_jobs().deadline_misses == 0, "not late yet");
            spin_until([] { return my_jobs().deadline_misses == 1; });
            recorded = true;
        },
        kernel::HardModel{lib::milliseconds(1), lib::milliseconds(1'000), lib::milliseconds(2), {}});
    check(recorded, "the miss was counted while the job still ran");
    return failures;
}

int wcet_violation(const kernel::AppArguments&) {
    static constinit std::uint64_t violations = 0;
    start(
        "greedy",
        [](void*) {
            spin_until([] { return my_jobs().wcet_violations == 1; });
            check(kernel::task_cpu_time() >= kernel::to_ticks(lib::milliseconds(1)), "not before the budget is used");
            const lib::Ticks more = kernel::task_cpu_time() + kernel::to_ticks(lib::milliseconds(2));
            spin_until([more] { return kernel::task_cpu_time() > more; });
            violations = my_jobs().wcet_violations;
        },
        kernel::HardModel{lib::milliseconds(1), lib::milliseconds(1'000), {}, {}});
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
    {"t_rr_rotation", "a used-up slice gives the processor to the next", &guest::checked<&rr_rotation>, false},
    {"t_edf_overrun", "an overrun keeps later releases pending", &guest::checked<&overrun_keeps_releases>, false},
    {"t_edf_deadline_miss", "a late job is recorded at its deadline", &guest::checked<&deadline_miss>, false},
    {"t_edf_wcet_violation", "a job over budget is recorded once", &guest::checked<&wcet_violation>, false},
    {"t_edf_admission", "seven sevenths fit, one nanosecond more does not", &guest::checked<&admission>, false},
};

} // namespace
