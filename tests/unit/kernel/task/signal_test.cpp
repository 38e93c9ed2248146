// SPDX-License-Identifier: MIT
// Tests signals in whole schedules: when handlers run, in which order, and which of several tasks gets a signal.
#include "kernel/sched/upcalls.hpp"
#include "kernel/task/signal.hpp"
#include "kernel/task/task.hpp"
#include "tests/support/fake_machine/scenario.hpp"

#include <gtest/gtest.h>

namespace signal_test {

using namespace hosted;
using kernel::signal_bit;
using kernel::signal_handler_set;
using kernel::signal_mask;
using kernel::signal_raise;
using kernel::signal_timedwait;
using kernel::signal_wait;
using kernel::task_self;

kernel::Pid s_first;

void note_result(const lib::Result<std::uint8_t>& result) {
    stamp(result.ok() ? "got " + std::to_string(result.value()) : std::string(lib::error_name(result.error())));
}

template <std::uint8_t Signo>
void raise_at(std::uint64_t when) {
    at_time(when, [](void*) { must(signal_raise(s_first, Signo)); });
}

TEST(Signal, InterruptsARunningTaskAndItContinues) {
    EXPECT_EQ(run(R"(start A hard 9/40: handle-and-work 7; A 4
                     at 1: raise A 7; until 20)"),
              "A 0-1 | signal 7@1 | s 1-3 | end 7@3 | A 3-6");
}

TEST(Signal, ComesAtTheEndOfThePrimitiveThatRaisedIt) {
    EXPECT_EQ(run(R"(handle 3; until 0; note before; raise self 3; note after)"), "before | signal 3@0 | after");
}

TEST(Signal, WaitsForTheReturnToTaskPointAfterASectionOfTheCallers) {
    EXPECT_EQ(hosted::run([] {
                  handle({3}, &say);
                  pause_until(0);
                  {
                      const kernel::IrqGuard section;
                      must(signal_raise(task_self(), 3));
                      note("in the section");
                  }
                  note("after it");
                  kernel::return_to_task();
                  note("returned");
              }),
              "in the section | after it | signal 3@0 | returned");
}

TEST(Signal, TheLowestNumberComesFirst) {
    EXPECT_EQ(run(R"(start A hard 9/40: handle 1 9 31; delay 5; note continued
                     at 1: raise A 31; at 2: raise A 9; at 3: raise A 1; until 20)"),
              "signal 1@5 | signal 9@5 | signal 31@5 | continued");
}

TEST(Signal, IsNotNestedInItsOwnHandlerButOthersAre) {
    // 7 at 1 runs till 3; again at 2: after itself. 5 at 4 interrupts the second run.
    EXPECT_EQ(
        run(R"(start A hard 9/40: handle-and-work 5 7; A 2
                     at 1: raise A 7; at 2: raise A 7; at 4: raise A 5; until 20)"),
        "A 0-1 | signal 7@1 | s 1-3 | end 7@3 | signal 7@3 | s 3-4 | signal 5@4 | s 4-6 | end 5@6 | s 6-7 | end 7@7 | "
        "A 7-8");
}

TEST(Signal, RaisedTwiceIsOne) {
    EXPECT_EQ(run(R"(start A hard 9/40: handle 7; delay 5
                     at 1: raise A 7; at 2: raise A 7; until 20)"),
              "signal 7@5");
}

TEST(Signal, DoesNotCutAWaitShort) {
    EXPECT_EQ(run(R"(semaphore units 0
                     start A hard 9/40: handle 7; wait units; stamp got the unit
                     at 1: raise A 7; until 4; post units)"),
              "signal 7@4 | got the unit@4");
}

TEST(Signal, WaitsUntilItIsUnmaskedAndHandled) {
    EXPECT_EQ(hosted::run([] {
                  s_first = task_self();
                  pause_until(0);
                  must(signal_raise(s_first, 4));
                  must(signal_raise(s_first, 6));
                  note(std::to_string(must(kernel::signal_pending(s_first))));
                  static_cast<void>(signal_mask(signal_bit(4)));
                  handle({4, 6}, &say);
                  note("masked");
                  note(std::to_string(signal_mask(0)));
                  note(std::to_string(must(kernel::signal_pending(s_first))));
              }),
              "80 | signal 6@0 | masked | signal 4@0 | 16 | 0");
}

TEST(Signal, TheMaskIsWhatWasSetLastAndNumberZeroIsNone) {
    EXPECT_EQ(hosted::run([] {
                  note(std::to_string(signal_mask(~kernel::SignalSet{0})));
                  note(std::to_string(signal_mask(signal_bit(31) | signal_bit(1))));
                  note(std::to_string(signal_mask(0)));
                  note(std::to_string(signal_mask(0)));
              }),
              "0 | 4294967294 | 2147483650 | 0");
}

TEST(Signal, AHandlerRunsWithInterruptsOn) {
    EXPECT_EQ(hosted::run([] {
                  must(signal_handler_set(
                      8, [](std::uint8_t, void*) { note(arch::interrupts_disabled() ? "off" : "on"); }, nullptr));
                  must(signal_raise(task_self(), 8));
              }),
              "on");
}

TEST(Signal, AHandlerMayMaskItself) {
    EXPECT_EQ(hosted::run([] {
                  s_first = task_self();
                  must(signal_handler_set(
                      8,
                      [](std::uint8_t, void*) {
                          note("once");
                          static_cast<void>(signal_mask(signal_bit(8)));
                          must(signal_raise(task_self(), 8));
                      },
                      nullptr));
                  must(signal_raise(s_first, 8));
                  note("after");
              }),
              "once | after");
}

TEST(Signal, PreemptedHandlersKeepTheirPlaces) {
    // H takes the processor in the middle of L's handler.
    EXPECT_EQ(run(R"(start L hard 9/60/50: handle-and-work 7; L 2
                     start H hard 3/60/10+2: H 3
                     at 1: raise L 7; until 20)"),
              "L 0-1 | signal 7@1 | s 1-2 | H 2-5 | s 5-6 | end 7@6 | L 6-7");
}

TEST(Signal, ReachesATaskAtItsEntryIfItWasRaisedBefore) {
    EXPECT_EQ(run(R"(start A hard 1/5: handle 2; A 1; end; handle 2; A 1; end
                     at 3: raise A 2; until 8)"),
              "A 0-1 | signal 2@5 | A 5-6");
}

TEST(Signal, AHandlerMayEndTheTask) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          must(signal_handler_set(
                              2, [](std::uint8_t, void*) { kernel::task_exit(); }, nullptr));
                          work("A", 9);
                      },
                      hard(9, 40));
                  raise_at<2>(3);
                  pause_until(8);
                  note(kernel::task_info(s_first).ok() ? "lives" : "gone");
              }),
              "A 0-3 | gone");
}

TEST(Signal, AWaiterTakesTheSignalBeforeItsHandler) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          handle({2, 3}, &say);
                          note_result(signal_wait(signal_bit(2) | signal_bit(9)));
                          note_result(signal_wait(signal_bit(2) | signal_bit(9)));
                      },
                      hard(9, 40));
                  raise_at<3>(1);
                  raise_at<2>(2);
                  raise_at<9>(4);
                  pause_until(8);
              }),
              "signal 3@2 | got 2@2 | got 9@4");
}

TEST(Signal, AWaitTakesWhatIsPendingAtOnceAndTheLowestFirst) {
    EXPECT_EQ(hosted::run([] {
                  pause_until(0);
                  must(signal_raise(task_self(), 20));
                  must(signal_raise(task_self(), 10));
                  note_result(signal_wait(~kernel::SignalSet{0}));
                  note_result(signal_timedwait(signal_bit(20), {}));
                  note_result(signal_timedwait(signal_bit(20), {}));
                  note_result(signal_timedwait(signal_bit(20), ms(3)));
              }),
              "got 10@0 | got 20@0 | timeout@0 | timeout@3");
}

TEST(Signal, ATimedWaitEndsWithItsSignal) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          note_result(signal_timedwait(signal_bit(2), ms(5)));
                          kernel::task_delay(ms(10));
                          stamp("no late wake-up");
                      },
                      hard(9, 40));
                  raise_at<2>(3);
                  pause_until(20);
              }),
              "got 2@3 | no late wake-up@13");
}

TEST(Signal, ATimedWaitThatASignalEndedWakesNoLaterWait) {
    // The time limit of the first wait, at 5, comes in the second one, which has none.
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          note_result(signal_timedwait(signal_bit(2), ms(5)));
                          note_result(signal_wait(signal_bit(3)));
                      },
                      hard(9, 40));
                  raise_at<2>(3);
                  raise_at<3>(10);
                  pause_until(20);
              }),
              "got 2@3 | got 3@10");
}

TEST(Signal, RaisedTwiceEndsOneWait) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          note_result(signal_wait(signal_bit(2)));
                          note_result(signal_timedwait(signal_bit(2), ms(2)));
                      },
                      hard(9, 40));
                  at_time(3, [](void*) {
                      must(signal_raise(s_first, 2));
                      must(signal_raise(s_first, 2));
                  });
                  pause_until(20);
              }),
              "got 2@3 | timeout@5");
}

TEST(Signal, ThatComesAfterATimedWaitIsPendingAndNoMore) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start(
                      "A",
                      [](void*) {
                          note_result(signal_timedwait(signal_bit(2), ms(3)));
                          work("A", 3);
                          note_result(signal_wait(signal_bit(2)));
                      },
                      hard(9, 40));
                  raise_at<2>(5);
                  pause_until(20);
              }),
              "timeout@3 | A 3-6 | got 2@6");
}

TEST(Signal, RefusesWhatIsNoSignal) {
    EXPECT_EQ(hosted::run([] {
                  pause_until(0);
                  const auto result = [](const lib::Result<void>& done) {
                      note(done.ok() ? "ok" : lib::error_name(done.error()));
                  };
                  result(signal_raise(task_self(), 0));
                  result(signal_raise(task_self(), 32));
                  result(signal_raise({63}, 1));
                  result(signal_handler_set(0, &say, nullptr));
                  result(signal_handler_set(32, &say, nullptr));
                  note_result(signal_wait(1));
                  note(lib::error_name(kernel::signal_pending({63}).error()));
                  result(signal_raise(task_self(), 31));
              }),
              "invalid argument | invalid argument | not found | invalid argument | invalid argument | "
              "invalid argument@0 | not found | ok");
}

TEST(Signal, ADeadTasksSettingsAreNotInherited) {
    EXPECT_EQ(hosted::run([] {
                  s_first = start("A", "handle 2; A 9", hard(9, 40));
                  pause_until(0);
                  kernel::task_delay(ms(20));
                  const kernel::Pid again = hosted::create("B", "B 2", hard(9, 40));
                  note(again == s_first ? "same slot" : "other slot");
                  must(signal_raise(again, 2));
                  must(kernel::task_activate(again));
                  note("end");
              }),
              "A 0-9 | same slot | B 29-31 | end");
}

} // namespace signal_test
