// SPDX-License-Identifier: MIT
// Tests CBS and GRUB: schedules computed by hand. Each expected text is the Gantt chart.
#include "kernel/task/task.hpp"
#include "kernel/task/task_group.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <array>

namespace soft_level_test {

using namespace hosted;
using kernel::Overlap;

kernel::Pid s_first;
kernel::Pid s_second;

kernel::JobCounts counts(kernel::Pid pid) {
    return kernel::task_info(pid).value().jobs;
}

void note_counts(kernel::Pid pid) {
    const auto jobs = counts(pid);
    note("released " + std::to_string(jobs.released) + " completed " + std::to_string(jobs.completed) + " skipped " +
         std::to_string(jobs.skipped));
}

// Ends both tasks that are watched, and whatever the group 1 is; then the main task continues.
void end_all_at(std::uint64_t when) {
    at_time(when, [](void*) { static_cast<void>(kernel::task_group_kill(1)); });
}

kernel::Pid start_in_group(const char* name, kernel::TaskBody body, const kernel::TaskModel& model) {
    const kernel::Pid pid =
        must(kernel::task_create({.name = name, .body = body, .argument = nullptr, .model = model, .group = 1}));
    must(kernel::task_activate_at(pid, hosted::at(0)));
    return pid;
}

TEST(CbsSchedule, LosesItsTurnWhenItsOwnerUnlocksAsTheBudgetEnds) {
    // L has the mutex and runs in the place of A until 3, when the budget is used up: A is due at 21 then, B at 12.
    EXPECT_EQ(run(R"(mutex shared
                     start L nrt: lock shared; L 3; unlock shared
                     create A soft 2/10: lock shared; A 1; unlock shared
                     create B hard 1/10: lock shared; B 1; unlock shared
                     at 1: activate A; at 2: activate B; until 9)"),
              "L 0-3 | B 3-4 | A 4-5");
}

TEST(CbsSchedule, FollowsTheTextbookExample) {
    // A HARD task (4, 7) and a server (3, 8). A request of 4 at 3 is due at 11, uses the budget up at 7 and continues
    // by 19. A request of 3 at 13 finds 2 of 3 left by 19: 2 * 8 < (19 - 13) * 3, so both are kept, and used up at 15.
    EXPECT_EQ(run(R"(start H hard 4/7: each H 4
                     create S soft 3/8: S 4; end; s 3; end
                     at 3: activate S; at 13: activate S; until 27)"),
              "H 0-4 | S 4-7 | H 7-11 | S 11-12 | s 13-15 | H 15-19 | s 19-20 | H 21-25");
}

TEST(CbsSchedule, AnIdleServerStartsAnewWhenItsOldBudgetWouldBeTooMuch) {
    // At 4 there are 2 of 3 left by 8: 2 * 8 >= (8 - 4) * 3. Anew it is due at 12: after G (9), before H (15).
    EXPECT_EQ(run(R"(start H hard 1/20/11+4: each H 1
                     start G hard 1/20/5+4: each G 1
                     create S soft 3/8: each S 1
                     at 0: activate S; at 4: activate S; until 19)"),
              "S 0-1 | G 4-5 | S 5-6 | H 6-7");
}

TEST(CbsSchedule, AServerThatBlockedIsSubjectToTheSameRule) {
    EXPECT_EQ(run(R"(start H hard 1/20/11+4: each H 1
                     start G hard 1/20/5+4: each G 1
                     start S soft 3/8: S 1; until 4; S 1
                     until 19)"),
              "S 0-1 | G 4-5 | S 5-6 | H 6-7");
}

TEST(CbsSchedule, ARunawayTakesNothingFromTheOthersThoughNothingIsLeft) {
    // 1/4 + 1/2 + 1/4. At equal deadlines whoever entered first goes first.
    EXPECT_EQ(hosted::run([] {
                  end_all_at(16);
                  s_first = start("A", periodic<'A', 1>, hard(1, 4));
                  s_second = start("B", periodic<'B', 4>, hard(4, 8));
                  start_in_group("S", runaway<'S'>, soft(1, 4));
                  pause_until(16);
                  note("missed " + std::to_string(counts(s_first).deadline_misses + counts(s_second).deadline_misses));
              }),
              "A 0-1 | S 1-2 | B 2-6 | S 6-7 | A 7-8 | S 8-9 | A 9-10 | B 10-14 | S 14-15 | A 15-17 | B 17-21 | "
              "A 21-22 | "
              "missed 0");
}

TEST(CbsSchedule, ARunawayUsesWhatOthersLeave) {
    EXPECT_EQ(run(R"(start A hard 2/4: each A 2
                     start S soft 1/4: S 8
                     until 17; counts A missed)"),
              "A 0-2 | S 2-4 | A 4-6 | S 6-8 | A 8-10 | S 10-12 | A 12-14 | S 14-16 | A 16-18 | missed 0");
}

TEST(CbsSchedule, TheBudgetIsUsedUpByAnOwnerThatRunsInItsPlace) {
    // S, due at 11, lends its position at 1. At 3 its budget of 2 is used up: by 21 it comes after H, due at 16.
    EXPECT_EQ(run(R"(mutex mutex
                     start L nrt: lock mutex; L 4; unlock mutex
                     start H hard 1/100/14+2: each H 1
                     create S soft 2/10: lock mutex; S 1; unlock mutex
                     at 1: activate S; until 20)"),
              "L 0-3 | H 3-4 | L 4-5 | S 5-6");
}

TEST(CbsSchedule, APeriodicSoftTaskIsReleasedByTheKernel) {
    EXPECT_EQ(hosted::run([] {
                  kernel::SoftModel model = soft(1, 4);
                  model.periodic = true;
                  s_first = start("S", periodic<'S', 1>, model);
                  pause_until(11);
                  note(kernel::task_activate(s_first).ok() ? "taken" : "busy");
              }),
              "S 0-1 | S 4-5 | S 8-9 | busy");
}

TEST(CbsSchedule, APeriodicSoftTaskKeepsReleasesThatFindItBusy) {
    EXPECT_EQ(hosted::run([] {
                  kernel::SoftModel model = soft(1, 4);
                  model.periodic = true;
                  s_first = start("S", "S 6; end; each s 1", model);
                  pause_until(15);
                  note_counts(s_first);
              }),
              "S 0-6 | s 6-7 | s 8-9 | s 12-13 | released 4 completed 4 skipped 0");
}

TEST(CbsSchedule, APeriodicSoftTaskThatSleepsIsNotReleased) {
    EXPECT_EQ(
        hosted::run([] {
            kernel::SoftModel model = soft(1, 4);
            model.periodic = true;
            s_first = start("S", "S 1; end; S 1; sleep; again", model);
            pause_until(14);
            note_counts(s_first);
            must(kernel::task_activate(s_first));
            pause_until(20);
            note_counts(s_first);
        }),
        "S 0-1 | S 4-5 | released 2 completed 2 skipped 0 | S 14-15 | S 18-19 | released 4 completed 4 skipped 0");
}

TEST(CbsSchedule, StartsAnewWhenTheOldBudgetIsJustTheBandwidth) {
    // S has 1 of 2 left, due at 8. At 4 that is its share to the nanosecond: it starts anew and comes after H, due
    // at 10.
    const auto run = [](lib::Nanoseconds (*offset)()) {
        static lib::Nanoseconds s_offset;
        s_offset = offset();
        return hosted::run([] {
            s_first = start("S", periodic<'S', 1>, soft(2, 8));
            must(kernel::kern_event_post(
                {hosted::at(0).value + s_offset.value}, [](void*) { must(kernel::task_activate(s_first)); }, nullptr));
            start("H", periodic<'H', 1>, hard(1, 20, 6, 4));
            pause_until(7);
        });
    };
    EXPECT_EQ(run([] { return ms(4); }), "S 0-1 | H 4-5 | S 5-6");
    EXPECT_EQ(run([] { return lib::Nanoseconds{3'999'999}; }), "S 0-1 | S 3-4 | H 4-5");
}

TEST(CbsSchedule, PaysForWhatItUsedWhileInterruptsWereOff) {
    // S uses 3 of its 2 before the interrupt comes: of the next budget, due at 16, 1 is left; then it comes after H.
    EXPECT_EQ(hosted::run([] {
                  start(
                      "S",
                      [](void*) {
                          work("S", 1);
                          {
                              const arch::IrqGuard guard;
                              arch::fake_cpu.time += 2'000'000;
                          }
                          work("S", 3);
                      },
                      soft(2, 8));
                  start("H", periodic<'H', 2>, hard(2, 40, 20));
                  pause_until(12);
              }),
              "S 0-1 | S 3-4 | H 4-6 | S 6-8");
}

TEST(SoftArrivals, AreSavedWhileTheTaskIsBusy) {
    EXPECT_EQ(run(R"(start S soft 2/10: each S 2
                     at 1: activate S; at 1: activate S; until 20; counts S released completed skipped)"),
              "S 0-6 | released 3 completed 3 skipped 0");
}

TEST(SoftArrivals, AreSkippedWhileTheTaskIsBusy) {
    EXPECT_EQ(run(R"(start S soft-skip 2/10: each S 2
                     at 1: activate S; at 1: activate S; at 5: activate S; until 20;
                     counts S released completed skipped)"),
              "S 0-2 | S 5-7 | released 2 completed 2 skipped 2");
}

TEST(SoftArrivals, AreRefusedOrCountedWhereTheyCannotBeKept) {
    static std::string s_results;
    EXPECT_EQ(hosted::run([] {
                  s_first = start("S", periodic<'S', 1>, soft(1, 10));
                  s_second = start("T", periodic<'T', 1>, soft(1, 10, Overlap::refuse));
                  must(kernel::kern_event_post(
                      {hosted::at(0).value + 1},
                      [](void*) {
                          for (std::size_t i = 0; i < kernel::kSavedArrivalsMax; ++i) {
                              must(kernel::task_activate(s_first));
                          }
                          note_result(kernel::task_activate(s_first));
                          note_result(kernel::task_activate(s_second));
                      },
                      nullptr));
                  pause_until(30);
                  note_counts(s_first);
              }),
              "S 0-0 | no space | busy | S 0-1 | T 1-2 | S 2-18 | released 17 completed 17 skipped 1");
}

TEST(SoftArrivals, AreForgottenWhenTheTaskGoesToSleep) {
    EXPECT_EQ(run(R"(start S soft 2/10: S 2; sleep; again
                     at 1: activate S; at 5: activate S; until 20; counts S released completed skipped)"),
              "S 0-2 | S 5-7 | released 2 completed 2 skipped 0");
}

TEST(SoftArrivals, AreForgottenForLaterJobsToo) {
    EXPECT_EQ(run(R"(start S soft 2/10: S 2; sleep; each s 2  // drops the activation of 1
                     at 1: activate S; at 5: activate S; until 20; counts S released completed skipped)"),
              "S 0-2 | s 5-7 | released 2 completed 2 skipped 0");
}

TEST(SoftAdmission, TakesTheWholeProcessorAndNotOneUnitMore) {
    EXPECT_EQ(hosted::run([] {
                  create("H", periodic<'H', 1>, hard(1, 2));
                  create("S", periodic<'S', 1>, soft(1, 4));
                  const auto result = [](lib::Nanoseconds budget) {
                      return kernel::task_create({.name = "G",
                                                  .body = periodic<'G', 1>,
                                                  .argument = nullptr,
                                                  .model = kernel::SoftModel{budget, ms(8)}});
                  };
                  note_result(result({2'000'001}).ok() ? lib::Result<void>{} : lib::Error::refused);
                  note_result(result({2'000'000}).ok() ? lib::Result<void>{} : lib::Error::refused);
                  note_result(result({10'000}).ok() ? lib::Result<void>{} : lib::Error::refused);
              }),
              "refused | ok | refused");
}

TEST(SoftAdmission, RefusesBudgetsThatAreNone) {
    EXPECT_EQ(hosted::run([] {
                  for (const std::uint64_t budget_ns :
                       {std::uint64_t{0}, std::uint64_t{9'999}, ~std::uint64_t{0}, std::uint64_t{4'000'001}}) {
                      const auto created = kernel::task_create({.name = "S",
                                                                .body = periodic<'S', 1>,
                                                                .argument = nullptr,
                                                                .model = kernel::SoftModel{{budget_ns}, ms(4)}});
                      note(created.ok() ? "ok" : lib::error_name(created.error()));
                  }
              }),
              "invalid argument | invalid argument | invalid argument | invalid argument");
}

TEST(GrubSchedule, ReclaimsWhatAFinishedJobLeaves) {
    // B (2, 4) is done at 1: 0.85 of its budget is paid, so its zero-lag time is 4 - 1.15 * 2 = 1.7. A (2, 8) pays
    // 0.85 per ms until then and 0.35 afterwards: its budget lasts until 5.71, and only then it comes after W (12).
    EXPECT_EQ(run(R"(start B grub 2/4: each B 1
                     start A grub 2/8: each A 6
                     start W hard 1/10+2: each W 1
                     until 11)"),
              "B 0-1 | A 1-5 | W 5-6 | A 6-8");
}

TEST(GrubSchedule, ReclaimsWhatATaskLeavesThatGoesToSleep) {
    EXPECT_EQ(run(R"(start B grub 2/4: B 1; sleep
                     start A grub 2/8: each A 6
                     start W hard 1/10+2: each W 1
                     until 11)"),
              "B 0-1 | A 1-5 | W 5-6 | A 6-8");
}

TEST(GrubSchedule, ReclaimsAlsoWhereTheWholeProcessorIsPromised) {
    // Until A comes at 25, B pays two thirds: 16.67 of its 20. The rest lasts until 28.33, so B, due at 30, is not
    // preempted by A, due at 55.
    EXPECT_EQ(run(R"(create A grub 10/30: each A 5
                     start B grub 20/30: B 28
                     at 25: activate A; until 34)"),
              "B 0-28 | A 28-33");
}

TEST(GrubSchedule, WithoutReclaimingTheSameServerWaits) {
    EXPECT_EQ(run(R"(start B soft 2/4: each B 1
                     start A soft 2/8: each A 6
                     start W hard 1/10+2: each W 1
                     until 11)"),
              "B 0-1 | A 1-3 | W 3-4 | A 4-8");
}

TEST(GrubSchedule, CountsAServerAsActiveUntilItsZeroLagTime) {
    // As above, but B comes back at 1.5, before its zero-lag time: by its old deadline 4, with what it had left. It
    // never became inactive, so A pays 0.85 per ms from 1 to 1.5, and from B's end at 2 until the new zero-lag time:
    // B has 1.15 - 0.425 = 0.725 left, 4 - 1.45 = 2.55. Then 2 - 0.425 - 0.4675 = 1.1075 lasts 3.16 more: 5.71.
    EXPECT_EQ(hosted::run([] {
                  s_first = start("B", "B 1; end; B 500000 ns; end", grub(2, 4));
                  start("A", periodic<'A', 6>, grub(2, 8));
                  start("W", periodic<'W', 1>, hard(1, 10, 0, 2));
                  must(kernel::kern_event_post(
                      {hosted::at(1).value + 500'000}, [](void*) { must(kernel::task_activate(s_first)); }, nullptr));
                  pause_until(11);
              }),
              "B 0-1 | A 1-1 | B 1-2 | A 2-5 | W 5-6 | A 6-8");
}

// What is admitted is never late, whatever servers reclaim: random sets of fixed and dynamic HARD tasks, polling
// servers aside, and of CBS and GRUB servers that never have enough.
constexpr int kRandomSets = 150;
std::uint32_t s_random_state = 0;

std::uint64_t random_below(std::uint64_t limit) {
    s_random_state = s_random_state * 1'664'525U + 1'013'904'223U;
    return (s_random_state >> 8) % limit;
}

void random_hard(void*) {
    for (;;) {
        work("H", 1);
        kernel::task_endcycle();
    }
}

std::array<kernel::Pid, 8> s_hard{};
std::size_t s_hard_count = 0;

void random_scenario() {
    s_hard_count = 0;
    end_all_at(120);
    std::size_t servers = 0;
    for (int i = 0; i < 9; ++i) {
        const auto what = random_below(4);
        if (what < 2 && s_hard_count < s_hard.size()) {
            const std::uint64_t period = 3 + random_below(20);
            kernel::HardModel model = hard(1, period, 2 + random_below(period - 1));
            model.priority =
                what == 0 && random_below(2) == 0 ? kernel::HardPriority::fixed : kernel::HardPriority::dynamic;
            const auto pid = kernel::task_create(
                {.name = "H", .body = &random_hard, .argument = nullptr, .model = model, .group = 1});
            if (pid.ok()) {
                s_hard[s_hard_count++] = pid.value();
                must(kernel::task_activate_at(pid.value(), hosted::at(random_below(5))));
            }
            continue;
        }
        const std::uint64_t period = 2 + random_below(10);
        const kernel::SoftModel model = what == 2 ? grub(1 + random_below(period), period) : soft(1, period);
        // Half of them never have enough; the others rest now and then, so that there is something to reclaim.
        const auto pid = kernel::task_create({.name = "S",
                                              .body = i % 2 == 0 ? runaway<'S'> : periodic<'s', 1>,
                                              .argument = nullptr,
                                              .model = model,
                                              .group = 1});
        if (pid.ok()) {
            ++servers;
            must(kernel::task_activate_at(pid.value(), hosted::at(random_below(3))));
        }
    }
    must(kernel::kern_event_post(
        {hosted::at(120).value - 1},
        [](void*) {
            std::uint64_t missed = 0;
            for (std::size_t i = 0; i < s_hard_count; ++i) {
                missed += counts(s_hard[i]).deadline_misses;
            }
            note("missed " + std::to_string(missed) + " of " + std::to_string(s_hard_count));
        },
        nullptr));
    pause_until(120);
    note("servers " + std::to_string(servers));
}

TEST(GrubSchedule, MakesNothingLateThatWasPromised) {
    int with_both = 0;
    for (int set = 0; set < kRandomSets; ++set) {
        s_random_state = static_cast<std::uint32_t>(set) * 7'919U + 1U;
        const std::string report = hosted::run(&random_scenario);
        const auto at = report.find("missed ");
        ASSERT_NE(at, std::string::npos) << "set " << set << ": " << report;
        EXPECT_EQ(report.substr(at, 9), "missed 0 ") << "set " << set << ": " << report;
        with_both += report.find("of 0") == std::string::npos && report.find("servers 0") == std::string::npos ? 1 : 0;
    }
    EXPECT_GT(with_both, kRandomSets / 2) << "the sets must have something to lose";
}

} // namespace soft_level_test
