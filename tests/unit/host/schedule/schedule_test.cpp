// SPDX-License-Identifier: MIT
// Tests what each record changes in the schedule: each test feeds records and reads the changes.
#include "host/schedule/schedule.hpp"
#include "host/text/format.hpp"
#include "tests/support/scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::schedule::schedule_test {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const Change& change) {
    using enum Change::Kind;
    switch (change.kind) {
    case switched:
        return fmt::format("{} -> {} ({})", change.other, change.context, state_name(change.state));
    case woken:
        return fmt::format("wake {} ({})", change.context, state_name(change.before));
    case waits:
        return fmt::format("wait {} ({} {})", change.context, state_name(change.state), change.object);
    case created:
        return fmt::format("create {}", change.context);
    case ended:
        return fmt::format("end {}", change.context);
    case interrupt_began:
        return fmt::format("+{}", change.object);
    case interrupt_ended:
        return fmt::format("-{}", change.object);
    case inherits:
        return fmt::format("{} for {}", change.context, change.other);
    case returns:
        return fmt::format("{} for itself", change.context);
    case forgotten:
        return fmt::format("forget {} ({})", change.context, state_name(change.before));
    case job_began:
        return fmt::format("job {}", change.context);
    case job_ended:
        return fmt::format("job {} {}", change.context, change.state == TaskState::unknown ? "is lost" : "ends");
    case gap:
        return fmt::format("gap ({})", change.other);
    case lost:
        return fmt::format("lost {}", change.object);
    }
    return {};
}

class ScheduleTest : public ::testing::Test {
  protected:
    // What the last event of the scene changes.
    std::vector<std::string> after(std::string_view text, bool is_after_hole = false) {
        std::vector<std::string> texts;
        for (trace::Event event : reader.read(text)) {
            texts.clear();
            event.after_hole = is_after_hole;
            for (const Change& change : schedule.take(event)) {
                texts.push_back(text_of(change));
            }
        }
        return texts;
    }

    std::vector<std::string> after_hole(std::string_view event) { return after(event, true); }

    support::SceneReader reader;
    Schedule schedule;
};

TEST_F(ScheduleTest, ATaskThatNothingStoppedIsLeftReady) {
    EXPECT_THAT(after("switch 3, release 4"), ElementsAre("wake 4 (unknown)", "job 4"));
    EXPECT_THAT(after("switch 4"), ElementsAre("3 -> 4 (ready)"));
    EXPECT_EQ(schedule.running(0), 4U);
}

TEST_F(ScheduleTest, ATaskThatWaitsIsLeftWithItsReasonAndWakesWithIt) {
    EXPECT_THAT(after("switch 3, wait 3 semaphore 9"), ElementsAre("wait 3 (semaphore 9)"));
    EXPECT_THAT(after("switch 1"), ElementsAre("wake 1 (unknown)", "3 -> 1 (semaphore)"));
    EXPECT_THAT(after("wake 3 semaphore 9"), ElementsAre("wake 3 (semaphore)"));
    EXPECT_THAT(after("switch 3"), ElementsAre("1 -> 3 (ready)"));
}

TEST_F(ScheduleTest, ACompleteJobWaitsForTheNextRelease) {
    EXPECT_THAT(after("switch 3, complete 3"), ElementsAre("wait 3 (next job 0)"));
    EXPECT_THAT(after("switch 1"), ElementsAre("wake 1 (unknown)", "3 -> 1 (next job)"));
    EXPECT_THAT(after("release 3"), ElementsAre("wake 3 (next job)", "job 3"));
}

TEST_F(ScheduleTest, ForgetsBeforeAnEventThatFollowsAHole) {
    after("switch 3, release 4, irq 32");
    EXPECT_THAT(after_hole("complete 4"), ElementsAre("-32", "gap (3)", "forget 3 (ready)", "forget 4 (ready)",
                                                      "job 4 is lost", "wait 4 (next job 0)"));
    EXPECT_EQ(schedule.interrupt_depth(0), 0U);
    after("switch 3");
    EXPECT_THAT(after_hole("ipoint 4"), ElementsAre("gap (3)", "forget 3 (ready)", "forget 4 (next job)"));
    EXPECT_THAT(after("ipoint 4"), IsEmpty());
}

TEST_F(ScheduleTest, UnlockingWakesAllThatWaitForTheMutexAndNoOthers) {
    EXPECT_THAT(after("switch 3, blocked 3 5"), ElementsAre("wait 3 (mutex 5)"));
    EXPECT_THAT(after("switch 4, blocked 4 5"), ElementsAre("wait 4 (mutex 5)"));
    EXPECT_THAT(after("switch 6, blocked 6 7"), ElementsAre("wait 6 (mutex 7)"));
    EXPECT_THAT(after("unlock 2 5"), ElementsAre("wake 3 (mutex)", "wake 4 (mutex)"));
    EXPECT_THAT(after("unlock 2 5"), IsEmpty());
}

TEST_F(ScheduleTest, ALenderIsKeptOnceHoweverOftenItIsBlocked) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_THAT(after("blocked 3 5"), ElementsAre("wait 3 (mutex 5)"));
    }
    EXPECT_THAT(after("unlock 2 5"), ElementsAre("wake 3 (mutex)"));
}

TEST_F(ScheduleTest, AnEndedTaskIsLeftEnded) {
    EXPECT_THAT(after("switch 3, end 3"), ElementsAre("end 3"));
    EXPECT_THAT(after("switch 1"), ElementsAre("wake 1 (unknown)", "3 -> 1 (ended)"));
}

TEST_F(ScheduleTest, InterruptsNestAndAreMadeWhole) {
    EXPECT_THAT(after("iret 33"), IsEmpty()) << "it began before the trace";
    EXPECT_THAT(after("irq 240"), ElementsAre("+240"));
    EXPECT_THAT(after("irq 33"), ElementsAre("+33"));
    EXPECT_EQ(schedule.interrupt_depth(0), 2U);
    EXPECT_THAT(after("iret 240"), ElementsAre("-33", "-240"));
    EXPECT_EQ(schedule.interrupt_depth(0), 0U);
}

TEST_F(ScheduleTest, InterruptsDeeperThanItRemembersAreLeftOut) {
    for (int i = 0; i < 40; ++i) {
        after("irq 240");
    }
    EXPECT_EQ(schedule.interrupt_depth(0), 32U);
}

TEST_F(ScheduleTest, InheritanceLastsUntilTheHeirIsScheduledForItself) {
    EXPECT_THAT(after("inheritance 7 4"), ElementsAre("7 for 4"));
    EXPECT_THAT(after("task_schedule 7 4"), IsEmpty());
    EXPECT_THAT(after("task_schedule 7 7"), ElementsAre("7 for itself"));
    EXPECT_THAT(after("task_schedule 7 7"), IsEmpty());
}

TEST_F(ScheduleTest, AGapForgetsWhatRunsAndEndsInterrupts) {
    EXPECT_THAT(after("switch 3, irq 240, lost 12"), ElementsAre("-240", "gap (3)", "forget 3 (ready)", "lost 12"));
    EXPECT_EQ(schedule.running(0), kUnknownContext);
    EXPECT_THAT(after("leave 4"), IsEmpty());
    EXPECT_THAT(after("switch 3"), ElementsAre("wake 3 (unknown)", "4 -> 3 (ready)"));
}

TEST_F(ScheduleTest, ProcessorsAreApart) {
    after("switch 3, switch 4 @65535");
    EXPECT_EQ(schedule.running(0), 3U);
    EXPECT_EQ(schedule.running(65535), 4U);
    EXPECT_EQ(schedule.running(7), kUnknownContext);
}

TEST_F(ScheduleTest, NoTaskRunsOnTwoProcessors) {
    after("switch 3, switch 3 @1");
    EXPECT_EQ(schedule.running(0), kUnknownContext);
    EXPECT_EQ(schedule.running(1), 3U);
    after("leave 3 @2"); // the latest record is right
    EXPECT_EQ(schedule.running(1), kUnknownContext);
    EXPECT_EQ(schedule.running(2), 3U);
}

TEST_F(ScheduleTest, AGapLeavesTasksOfOtherProcessorsAsTheyAre) {
    EXPECT_THAT(after("switch 3, switch 4 @1, release 4 @1, wait 5 delay @1, blackout"), ElementsAre("gap (3)"));
    EXPECT_THAT(after("lost 9"), ElementsAre(fmt::format("gap ({})", kUnknownContext), "forget 3 (ready)",
                                             "forget 5 (delay)", "lost 9"));
    EXPECT_EQ(schedule.running(1), 4U);
    EXPECT_EQ(schedule.state(4), TaskState::ready);
    EXPECT_THAT(after("complete 4 @1"), ElementsAre("wait 4 (next job 0)", "job 4 ends"));
}

TEST_F(ScheduleTest, ATaskThatAGapSparedIsForgottenByTheNextOnceItsProcessorLeftIt) {
    EXPECT_THAT(after("switch 3, switch 4 @1, lost 9"), ElementsAre("gap (3)", "forget 3 (ready)", "lost 9"));
    EXPECT_THAT(after("switch 5 @1, lost 9"),
                ElementsAre(fmt::format("gap ({})", kUnknownContext), "forget 4 (ready)", "lost 9"));
}

TEST_F(ScheduleTest, TheSwitchesOfAProcessorFormAChainWhateverOthersRun) {
    after("switch 3, switch 3 @1"); // the record of the switch away from 3 is missing
    EXPECT_EQ(schedule.running(0), kUnknownContext);
    EXPECT_THAT(after("switch 4"), ElementsAre("wake 4 (unknown)", "3 -> 4 (ready)"));
    EXPECT_THAT(after("switch 4 @1, switch 5"), ElementsAre("wake 5 (unknown)", "4 -> 5 (ready)"));
    EXPECT_THAT(after("switch 3 @1"), ElementsAre("4 -> 3 (ready)"));
}

TEST_F(ScheduleTest, ARestartOfTracingIsAGapAndItsFirstStartIsNone) {
    EXPECT_THAT(after("trace_start"), IsEmpty());
    EXPECT_THAT(after("switch 3, trace_start"), ElementsAre("gap (3)", "forget 3 (ready)"));
}

// After a pause the running task is unknown until a switch; another pause before it hides the end of a handler, too.
TEST_F(ScheduleTest, ARestartOfTracingEndsHandlersWhileTheRunningTaskIsUnknown) {
    const std::string gap = fmt::format("gap ({})", kUnknownContext);
    EXPECT_THAT(after("switch 3, trace_start 3, irq 240, activate 4, trace_start 3"),
                ElementsAre("-240", gap, "forget 4 (next job)"));
    EXPECT_EQ(schedule.processor(0).depth, 0U);
}

TEST_F(ScheduleTest, WhatHasEndedIsNotForgotten) {
    EXPECT_THAT(after("switch 3, end 4, lost 1"), ElementsAre("gap (3)", "forget 3 (ready)", "lost 1"));
    EXPECT_EQ(schedule.state(4), TaskState::unknown);
}

TEST_F(ScheduleTest, WhoeverCouldRetryWaitsAgainWhenAnotherTakesTheMutex) {
    after("switch 3, acquire 2 5");
    EXPECT_EQ(schedule.holder(5), 2U);
    EXPECT_THAT(after("blocked 3 5"), ElementsAre("wait 3 (mutex 5)"));
    EXPECT_THAT(after("unlock 2 5"), ElementsAre("wake 3 (mutex)"));
    EXPECT_EQ(schedule.holder(5), kUnknownContext);
    EXPECT_THAT(after("acquire 6 5"), ElementsAre("wait 3 (mutex 5)"));
    EXPECT_THAT(after("unlock 6 5"), ElementsAre("wake 3 (mutex)"));
    EXPECT_THAT(after("acquire 3 5"), IsEmpty());
    EXPECT_THAT(after("unlock 3 5"), IsEmpty());
}

TEST_F(ScheduleTest, ADispatchIsInThePlaceThatTheDecisionNames) {
    after("task_schedule 7 4, task_dispatch 7");
    EXPECT_EQ(schedule.processor(0).dispatched, 7U);
    EXPECT_EQ(schedule.processor(0).place, 4U);
    after("task_dispatch 8");
    EXPECT_EQ(schedule.processor(0).place, 8U) << "no decision was for it";
}

TEST_F(ScheduleTest, AReleaseOnTopOfAJobEndsIt) {
    EXPECT_THAT(after("release 3"), ElementsAre("wake 3 (unknown)", "job 3"));
    EXPECT_THAT(after("release 3"), ElementsAre("job 3 ends", "job 3"));
    EXPECT_THAT(after("end 3"), ElementsAre("end 3", "job 3 ends"));
}

TEST_F(ScheduleTest, WhatIsOpenEndsWithTheTrace) {
    after("switch 3, release 4, wait 2 semaphore 9");
    std::vector<std::string> texts;
    for (const Change& change : schedule.finish()) {
        texts.push_back(text_of(change));
    }
    EXPECT_THAT(texts, ElementsAre("forget 2 (semaphore)", "forget 3 (ready)", "forget 4 (ready)", "job 4 is lost"));
}

TEST_F(ScheduleTest, EachWaitHasItsKind) {
    constexpr auto kKinds = std::to_array<std::string_view>(
        {"semaphore", "delay", "condition", "receive", "send", "suspended", "signal", "mutex"});
    for (std::uint32_t kind = 1; kind <= kKinds.size(); ++kind) {
        EXPECT_THAT(after(fmt::format("wait 3 {} 9", kind)),
                    ElementsAre(fmt::format("wait 3 ({} 9)", kKinds[kind - 1])));
        EXPECT_TRUE(is_blocked(schedule.state(3)));
    }
    EXPECT_THAT(after("wait 3 0 9"), ElementsAre("wait 3 (suspended 9)")) << "older records do not say";
    EXPECT_EQ(state_name(schedule.state(3)), "suspended");
    EXPECT_FALSE(is_blocked(TaskState::job));
    EXPECT_TRUE(is_waiting(TaskState::job));
    EXPECT_FALSE(is_waiting(TaskState::ready));
    EXPECT_FALSE(is_waiting(TaskState::ended));
}

TEST_F(ScheduleTest, ThatATaskIsActivatedMattersOnlyIfNothingElseIsKnown) {
    EXPECT_THAT(after("activate 3"), ElementsAre("wait 3 (next job 0)"));
    EXPECT_THAT(after("switch 4, activate 4"), IsEmpty());
}

TEST_F(ScheduleTest, EachEndOfAJobIsOne) {
    for (const std::string_view name : {"task_end_cycle", "task_disable", "job_abort"}) {
        EXPECT_THAT(after(fmt::format("release 3, {} 3", name)), ElementsAre("wait 3 (next job 0)", "job 3 ends"))
            << name;
        EXPECT_THAT(after(fmt::format("{} 3", name)), ElementsAre("wait 3 (next job 0)")) << name;
    }
    EXPECT_THAT(after("release 3, sleep 3"), ElementsAre("wait 3 (next job 0)")) << "task_disable follows";
}

TEST_F(ScheduleTest, AContextBeginsAnew) {
    EXPECT_THAT(after("release 3, create 3"), ElementsAre("create 3", "job 3 ends"));
    EXPECT_EQ(schedule.state(3), TaskState::unknown);
    EXPECT_THAT(after("create 3"), ElementsAre("create 3"));
    EXPECT_THAT(after("end 3"), ElementsAre("end 3"));
    EXPECT_EQ(schedule.state(3), TaskState::ended);
    EXPECT_THAT(after("blocked 3 5, end 3, unlock 2 5"), IsEmpty()) << "it waits for nothing any more";
}

TEST_F(ScheduleTest, AWaitForAMutexNamesItsHolderAndEndsWithItsTimeOut) {
    after("acquire 2 5, acquire 4 0x1'0000"); // no mutex has this number
    EXPECT_EQ(schedule.holder(0x1'0000), kUnknownContext);
    after("acquire 4 0xFFFF");
    EXPECT_EQ(schedule.holder(0xFFFF), 4U);
    trace::Event event;
    event.row = tracer::find_event("set_mutex_block");
    event.code = event.row->code;
    event.par1 = 3;
    event.par2 = 5;
    const auto changes = schedule.take(event);
    ASSERT_EQ(changes.size(), 1U);
    EXPECT_EQ(changes.front().other, 2U);
    EXPECT_EQ(changes.front().object, 5U);
    EXPECT_THAT(after("set_mutex_timeout 3 5"), ElementsAre("wake 3 (mutex)"));
    EXPECT_THAT(after("unlock 2 5"), IsEmpty()) << "it waits no more";
    EXPECT_EQ(schedule.holder(5), kUnknownContext);
}

// The mutex was unlocked, the task could try again, and then its time was up.
TEST_F(ScheduleTest, WhoeverCouldRetryAndTimesOutLendsNothing) {
    EXPECT_THAT(after("acquire 2 5, blocked 3 5, unlock 2 5, set_mutex_timeout 3 5"), IsEmpty());
    EXPECT_THAT(after("acquire 4 5"), IsEmpty());
}

TEST_F(ScheduleTest, AnOwnersDeathUnlocks) {
    EXPECT_THAT(after("acquire 2 5, blocked 3 5, set_mutex_owner_died 2 5"), ElementsAre("wake 3 (mutex)"));
    EXPECT_EQ(schedule.holder(5), kUnknownContext);
}

TEST_F(ScheduleTest, ATaskThatIsSuspendedWhileItWaitsForAMutexStillWaitsForIt) {
    EXPECT_THAT(after("acquire 2 5, blocked 3 5, wait 3 suspended"), ElementsAre("wait 3 (suspended 0)"));
    EXPECT_THAT(after("task_unblock 3"), ElementsAre("wait 3 (mutex 5)"));
    EXPECT_THAT(after("wait 3 suspended"), ElementsAre("wait 3 (suspended 0)"));
    EXPECT_THAT(after("unlock 2 5"), IsEmpty()) << "it is suspended";
    EXPECT_THAT(after("task_unblock 3"), ElementsAre("wake 3 (suspended)"));
    EXPECT_THAT(after("acquire 2 5"), ElementsAre("wait 3 (mutex 5)"));
    EXPECT_THAT(after("wait 3 semaphore 2"), ElementsAre("wait 3 (semaphore 2)")) << "it gave the mutex up";
    EXPECT_THAT(after("unlock 2 5"), IsEmpty());
}

TEST_F(ScheduleTest, TheFirstRecordOfLeavingSaysWhatRan) {
    EXPECT_THAT(after("leave 3"), IsEmpty());
    EXPECT_EQ(schedule.running(0), 3U);
    EXPECT_THAT(after("leave 4"), IsEmpty());
    EXPECT_EQ(schedule.running(0), 3U) << "a switch says otherwise";
    EXPECT_THAT(after("switch 3"), IsEmpty());
    EXPECT_THAT(after("switch 4"), ElementsAre("wake 4 (unknown)", "3 -> 4 (ready)"));
}

TEST_F(ScheduleTest, AGapForgetsDecisionsAndDispatches) {
    after("task_schedule 7 4, task_dispatch 7, blackout");
    EXPECT_EQ(schedule.processor(0).dispatched, kUnknownContext);
    EXPECT_EQ(schedule.processor(0).place, kUnknownContext);
    EXPECT_EQ(schedule.processor(0).chosen, kUnknownContext);
    EXPECT_EQ(schedule.processor(0).chosen_place, kUnknownContext);
    EXPECT_EQ(schedule.processor(0).switched_to, kUnknownContext);
    after("switch 7");
    EXPECT_EQ(schedule.processor(0).place, 7U);
}

TEST_F(ScheduleTest, ASwitchIsInThePlaceOfItsDispatch) {
    after("task_schedule 7 4, task_dispatch 7, switch 7");
    EXPECT_EQ(schedule.processor(0).place, 4U);
    after("switch 8");
    EXPECT_EQ(schedule.processor(0).place, 8U) << "no record dispatched it";
}

TEST_F(ScheduleTest, TheStateOfNoContextIsUnknown) {
    after("switch 3");
    EXPECT_EQ(schedule.state(kUnknownContext), TaskState::unknown);
    EXPECT_EQ(schedule.state(0xFFFF'FFFF), TaskState::unknown);
    EXPECT_EQ(schedule.state(0xFFFF), TaskState::unknown);
}

TEST_F(ScheduleTest, DamagedEventsChangeNothing) {
    trace::Event event;
    event.row = tracer::find_event("context_switch");
    event.code = event.row->code;
    event.state = trace::EventState::malformed;
    EXPECT_TRUE(schedule.take(event).empty());
}

} // namespace

} // namespace host::schedule::schedule_test
