// SPDX-License-Identifier: MIT
// Tests timer events in virtual time.
#include "kernel/config.hpp"
#include "kernel/run/runlevel.hpp"
#include "kernel/task/task.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/timer.hpp"
#include "tests/support/fake_machine/fake_machine.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

namespace timer_test {

using namespace hosted;
using kernel::kern_event_delete;
using kernel::kern_event_post;
using kernel::kern_event_post_periodic;

void say(void* word) {
    stamp(static_cast<const char*>(word));
}

void* word(const char* text) {
    return const_cast<char*>(text);
}

TEST(Timer, FiresEarliestFirstAndEqualTimesInOrderOfPosting) {
    EXPECT_EQ(hosted::run([] {
                  must(kern_event_post(at(3), &say, word("c")));
                  must(kern_event_post(at(1), &say, word("a")));
                  must(kern_event_post(at(3), &say, word("d")));
                  must(kern_event_post(at(2), &say, word("b")));
                  pause_until(5);
              }),
              "a@1 | b@2 | c@3 | d@3");
}

TEST(Timer, FiresAtOnceForATimeThatHasPassed) {
    EXPECT_EQ(hosted::run([] {
                  pause_until(5);
                  must(kern_event_post(at(2), &say, word("late")));
                  note("posted");
              }),
              "late@5 | posted");
}

TEST(Timer, KeepsAPeriodicEventOnItsGrid) {
    EXPECT_EQ(hosted::run([] {
                  must(kern_event_post_periodic(at(1), ms(2), &say, word("p")));
                  pause_until(6);
              }),
              "p@1 | p@3 | p@5");
}

TEST(Timer, SkipsAndCountsExpirationsItWasTooLateFor) {
    EXPECT_EQ(hosted::run([] {
                  must(kern_event_post_periodic(at(1), ms(1), &say, word("p")));
                  pause_until(0);
                  {
                      const arch::IrqGuard guard; // deaf from 0 to 4.5
                      arch::fake_cpu.time += 4'500'000;
                  }
                  note("overruns " + std::to_string(kernel::timer_overruns()));
                  pause_until(6);
              }),
              "p@4 | overruns 3 | p@5 | p@6");
}

TEST(Timer, DeletesOneShotAndPeriodicEventsOnce) {
    static kernel::TimerId periodic;
    EXPECT_EQ(hosted::run([] {
                  const auto shot = must(kern_event_post(at(2), &say, word("never")));
                  periodic = must(kern_event_post_periodic(
                      at(1), ms(1),
                      [](void*) {
                          stamp("p");
                          note_result("itself", kern_event_delete(periodic));
                      },
                      nullptr));
                  note_result("zero", kern_event_delete({.value = 0}));
                  note_result("delete", kern_event_delete(shot));
                  note_result("again", kern_event_delete(shot));
                  note_result("made up", kern_event_delete({.value = 1U << 16 | 9999}));
                  note_result("default", kern_event_delete({}));
                  note_result("of a slot never used", kern_event_delete({.value = 1U << 16 | 100}));
                  pause_until(4);
                  note_result("gone", kern_event_delete(periodic));
              }),
              "zero: not found | delete: ok | again: not found | made up: not found | default: not found | of a slot "
              "never used: not found | p@1 | itself: ok | gone: not found");
}

TEST(Timer, DoesNotTakeAReusedSlotForTheOldEvent) {
    EXPECT_EQ(hosted::run([] {
                  const auto old = must(kern_event_post(at(1), &say, word("old")));
                  must(kern_event_delete(old));
                  const auto fresh = must(kern_event_post(at(2), &say, word("fresh")));
                  note(old.index() == fresh.index() ? "same slot" : "other slot");
                  note_result("old id", kern_event_delete(old));
                  pause_until(3);
              }),
              "same slot | old id: not found | fresh@2");
}

TEST(Timer, GivesTheLowestSlotThatIsFree) {
    EXPECT_EQ(hosted::run([] {
                  const auto first = must(kern_event_post(at(1), &say, word("1")));
                  const auto second = must(kern_event_post(at(2), &say, word("2")));
                  const auto third = must(kern_event_post(at(3), &say, word("3")));
                  must(kern_event_delete(second));
                  const auto again = must(kern_event_post(at(2), &say, word("again")));
                  note(std::to_string(first.index()) + " " + std::to_string(second.index()) + " " +
                       std::to_string(third.index()) + " " + std::to_string(again.index()));
                  pause_until(5);
              }),
              "0 1 2 1 | 1@1 | again@2 | 3@3");
}

TEST(Timer, InterruptsOnlyForEventsThatArePosted) {
    static int interrupts;
    EXPECT_EQ(hosted::run([] {
                  before_each_interrupt([] { ++interrupts; });
                  const auto first = must(kern_event_post(at(1), &say, word("never")));
                  const auto later = must(kern_event_post(at(4), &say, word("never")));
                  must(kern_event_post(at(3), &say, word("b")));
                  must(kern_event_delete(later));
                  must(kern_event_delete(first));
                  pause_until(6);
                  note(std::to_string(interrupts)); // that of b, and this task's own
              }),
              "b@3 | 2");
}

// How often `action` sets the machine's timer.
template <typename Action>
void note_settings(const char* name, Action action) {
    const std::uint64_t before = fake_machine::timer_settings();
    action();
    note(name + std::to_string(fake_machine::timer_settings() - before));
}

TEST(Timer, IsSetOnceForADecision) {
    static std::uint64_t before;
    EXPECT_EQ(hosted::run([] {
                  start(
                      "R", [](void*) { note("set " + std::to_string(fake_machine::timer_settings() - before)); },
                      kernel::NrtModel{});
                  // The end of the delay is first in the queue, and the slice of R ends sooner.
                  before = fake_machine::timer_settings();
                  kernel::task_delay(ms(1'000));
              }),
              "set 1");
}

TEST(Timer, IsSetOnlyForAnotherTime) {
    static kernel::TimerId posted;
    EXPECT_EQ(hosted::run([] {
                  pause_until(1);
                  note_settings("later ", [] { posted = must(kern_event_post(at(100), &say, word("never"))); });
                  note_settings("delete ", [] { must(kern_event_delete(posted)); });
                  note_settings("next ", [] { posted = must(kern_event_post(at(1), &say, word("now"))); });
                  note_settings("nothing to decide ",
                                [] { must(kernel::task_set_reactions(kernel::task_self(), {})); });
              }),
              "later 0 | delete 0 | now@1 | next 2 | nothing to decide 0");
}

TEST(Timer, RefusesBadPeriodsAndTheEventAfterTheLast) {
    EXPECT_EQ(hosted::run([] {
                  const auto too_short =
                      kern_event_post_periodic(at(1), {kernel::kTimerPeriodMin.value - 1}, &say, word("x"));
                  note(lib::error_name(too_short.error()));
                  note(lib::error_name(kern_event_post(at(1), nullptr, nullptr).error()));
                  for (std::size_t i = 0; i < kernel::kTimerEventsMax; ++i) {
                      must(kern_event_post(at(100), &say, word("x")));
                  }
                  note(lib::error_name(kern_event_post(at(100), &say, word("x")).error()));
              }),
              "invalid argument | invalid argument | no space");
}

TEST(Timer, ServesMoreThanABatchAtOneTime) {
    static int fired;
    EXPECT_EQ(hosted::run([] {
                  for (std::size_t i = 0; i < 3 * kernel::kTimerBatchMax; ++i) {
                      must(kern_event_post(
                          at(1), [](void*) { ++fired; }, nullptr));
                  }
                  pause_until(2);
                  note(std::to_string(fired));
              }),
              "192");
}

constexpr int kFlood = 10'000;
int s_fired = 0;
int s_in_batch = 0;
int s_largest_batch = 0;

// Posts itself again for the same tick, until all are through.
void flood(void*) {
    s_largest_batch = std::max(s_largest_batch, ++s_in_batch);
    if (++s_fired + static_cast<int>(kernel::kTimerEventsMax) <= kFlood) {
        must(kern_event_post(at(1), &flood, nullptr));
    }
}

TEST(Timer, AFloodOfTenThousandAtOneTickIsServedInBatches) {
    EXPECT_EQ(hosted::run([] {
                  hosted::before_each_interrupt([] { s_in_batch = 0; });
                  for (std::size_t i = 0; i < kernel::kTimerEventsMax; ++i) {
                      must(kern_event_post(at(1), &flood, nullptr));
                  }
                  pause_until(2);
                  note(std::to_string(s_fired) + " in batches of " + std::to_string(s_largest_batch));
                  stamp("now");
              }),
              "10000 in batches of " + std::to_string(kernel::kTimerBatchMax) + " | now@2");
}

TEST(Timer, AnEventThatTheEndOfTheRunDroppedIsNoneAfterwards) {
    static kernel::TimerId left;
    EXPECT_EQ(hosted::run_to_the_end([] {
                  left = must(kern_event_post(at(100), &say, word("never")));
                  must(kernel::sys_atrunlevel([](void*) { note_result("left", kern_event_delete(left)); }, nullptr,
                                              kernel::RunLevel::after_exit));
              }),
              "left: not found | end | 0");
}

TEST(Timer, RefusesPeriodsThatLeaveNoTime) {
    EXPECT_EQ(hosted::run([] {
                  for (const std::uint64_t period_ns : std::array<std::uint64_t, 4>{0, 1, 9'999, 10'000}) {
                      const auto posted = kern_event_post_periodic(at(1), {period_ns}, &say, word("x"));
                      note(posted.ok() ? "posted" : lib::error_name(posted.error()));
                  }
              }),
              "invalid argument | invalid argument | invalid argument | posted");
}

TEST(Timer, DoesNotDriftHoweverLateItIsServed) {
    // A thousand times deaf for 1.1 of a period of 1: late or skipped, but on the grid as soon as there is peace.
    static std::uint64_t fired = 0;
    static std::uint64_t off_grid_ns = 0;
    const std::string report = hosted::run([] {
        must(kern_event_post_periodic(
            at(1), ms(1),
            [](void*) {
                ++fired;
                off_grid_ns = (kernel::now().value - at(0).value) % 1'000'000;
            },
            nullptr));
        pause_until(0);
        for (int i = 0; i < 1'000; ++i) {
            {
                const arch::IrqGuard guard;
                arch::fake_cpu.time += 1'100'000;
            }
            hosted::work_ns("w", 200'000);
        }
        note(off_grid_ns != 0 ? "late" : "never late");
        pause_until(1'305);
        note(off_grid_ns == 0 ? "on the grid" : "off the grid");
        note(std::to_string(fired + kernel::timer_overruns()));
    });
    EXPECT_EQ(report.substr(std::min(report.size(), report.find("late"))), "late | on the grid | 1305");
}

} // namespace timer_test
