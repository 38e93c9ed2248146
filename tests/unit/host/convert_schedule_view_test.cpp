// SPDX-License-Identifier: MIT
// The scheduling model that viewers share: each test feeds records and reads the changes.
#include "host/convert/schedule_view.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::convert {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string text_of(const Change& change) {
    using enum Change::Kind;
    switch (change.kind) {
    case switched:
        return fmt::format("{} -> {} ({})", change.other, change.context, state_name(change.state));
    case woken:
        return fmt::format("wake {} ({})", change.context, state_name(change.state));
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
    case lost:
        return fmt::format("lost {}", change.object);
    }
    return {};
}

class ScheduleViewTest : public ::testing::Test {
  protected:
    std::vector<std::string> feed(std::string_view name, std::uint16_t par1 = 0, std::uint32_t par2 = 0,
                                  std::uint16_t cpu = 0) {
        trace::Event event;
        event.row = tracer::find_event(name);
        event.code = event.row->code;
        event.par1 = par1;
        event.par2 = par2;
        event.cpu = cpu;
        std::vector<std::string> texts;
        for (const Change& change : view.take(event)) {
            texts.push_back(text_of(change));
        }
        return texts;
    }

    // Task `context` is ready and has the processor.
    void run(std::uint16_t context, std::uint16_t cpu = 0) {
        static_cast<void>(feed("context_switch", context, 0, cpu));
    }

    ScheduleView view;
};

constexpr std::uint32_t wait(std::uint32_t kind, std::uint32_t object) {
    return kind << 16 | object;
}

TEST_F(ScheduleViewTest, ATaskThatNothingStoppedIsLeftReady) {
    run(3);
    EXPECT_THAT(feed("job_release", 4), ElementsAre("wake 4 (unknown)"));
    EXPECT_THAT(feed("context_switch", 4), ElementsAre("3 -> 4 (ready)"));
    EXPECT_EQ(view.running(0), 4U);
}

TEST_F(ScheduleViewTest, ATaskThatWaitsIsLeftWithItsReasonAndWakesWithIt) {
    run(3);
    EXPECT_THAT(feed("task_block", 3, wait(1, 9)), ElementsAre("wait 3 (semaphore 9)"));
    EXPECT_THAT(feed("context_switch", 1), ElementsAre("wake 1 (unknown)", "3 -> 1 (semaphore)"));
    EXPECT_THAT(feed("task_unblock", 3, wait(1, 9)), ElementsAre("wake 3 (semaphore)"));
    EXPECT_THAT(feed("context_switch", 3), ElementsAre("1 -> 3 (ready)"));
}

TEST_F(ScheduleViewTest, ACompleteJobWaitsForTheNextRelease) {
    run(3);
    EXPECT_THAT(feed("task_end_cycle", 3), ElementsAre("wait 3 (next job 0)"));
    EXPECT_THAT(feed("context_switch", 1), ElementsAre("wake 1 (unknown)", "3 -> 1 (next job)"));
    EXPECT_THAT(feed("job_release", 3), ElementsAre("wake 3 (next job)"));
}

TEST_F(ScheduleViewTest, UnlockingWakesAllThatWaitForTheMutexAndNobodyElse) {
    run(3);
    EXPECT_THAT(feed("set_mutex_block", 3, 5), ElementsAre("wait 3 (mutex 5)"));
    run(4);
    EXPECT_THAT(feed("set_mutex_block", 4, 5), ElementsAre("wait 4 (mutex 5)"));
    run(6);
    EXPECT_THAT(feed("set_mutex_block", 6, 7), ElementsAre("wait 6 (mutex 7)"));
    EXPECT_THAT(feed("set_mutex_unlock", 2, 5), ElementsAre("wake 3 (mutex)", "wake 4 (mutex)"));
    EXPECT_THAT(feed("set_mutex_unlock", 2, 5), IsEmpty());
}

TEST_F(ScheduleViewTest, ALenderIsKeptOnceHoweverOftenItIsBlocked) {
    for (int i = 0; i < 3; ++i) {
        EXPECT_THAT(feed("set_mutex_block", 3, 5), ElementsAre("wait 3 (mutex 5)"));
    }
    EXPECT_THAT(feed("set_mutex_unlock", 2, 5), ElementsAre("wake 3 (mutex)"));
}

TEST_F(ScheduleViewTest, AnEndedTaskIsLeftEnded) {
    run(3);
    EXPECT_THAT(feed("task_end", 3), ElementsAre("end 3"));
    EXPECT_THAT(feed("context_switch", 1), ElementsAre("wake 1 (unknown)", "3 -> 1 (ended)"));
}

TEST_F(ScheduleViewTest, InterruptsNestAndAreMadeWhole) {
    EXPECT_THAT(feed("interrupt_end", 33), IsEmpty()) << "its begin lies before the trace";
    EXPECT_THAT(feed("interrupt_start", 240), ElementsAre("+240"));
    EXPECT_THAT(feed("interrupt_start", 33), ElementsAre("+33"));
    EXPECT_EQ(view.interrupt_depth(0), 2U);
    EXPECT_THAT(feed("interrupt_end", 240), ElementsAre("-33", "-240"));
    EXPECT_EQ(view.interrupt_depth(0), 0U);
}

TEST_F(ScheduleViewTest, InterruptsDeeperThanItRemembersAreLeftOut) {
    for (int i = 0; i < 40; ++i) {
        static_cast<void>(feed("interrupt_start", 240));
    }
    EXPECT_EQ(view.interrupt_depth(0), 32U);
}

TEST_F(ScheduleViewTest, InheritanceLastsUntilTheHeirIsScheduledForItself) {
    EXPECT_THAT(feed("inheritance", 7, 4), ElementsAre("7 for 4"));
    EXPECT_THAT(feed("task_schedule", 7, 4), IsEmpty());
    EXPECT_THAT(feed("task_schedule", 7, 7), ElementsAre("7 for itself"));
    EXPECT_THAT(feed("task_schedule", 7, 7), IsEmpty());
}

TEST_F(ScheduleViewTest, AGapForgetsWhatRunsAndEndsInterrupts) {
    run(3);
    static_cast<void>(feed("interrupt_start", 240));
    EXPECT_THAT(feed("blackout_end", 0, 12), ElementsAre("-240", "lost 12"));
    EXPECT_EQ(view.running(0), kUnknownContext);
    EXPECT_THAT(feed("task_epilogue", 4), IsEmpty());
    EXPECT_THAT(feed("context_switch", 3), ElementsAre("4 -> 3 (ready)"));
}

TEST_F(ScheduleViewTest, ProcessorsAreApart) {
    run(3, 0);
    run(4, 65535);
    EXPECT_EQ(view.running(0), 3U);
    EXPECT_EQ(view.running(65535), 4U);
    EXPECT_EQ(view.running(7), kUnknownContext);
}

TEST_F(ScheduleViewTest, DamagedEventsChangeNothing) {
    trace::Event event;
    event.row = tracer::find_event("context_switch");
    event.code = event.row->code;
    event.state = trace::EventState::malformed;
    EXPECT_TRUE(view.take(event).empty());
}

TEST(ScheduleViewNames, TheIdleTaskIsThreadZero) {
    trace::Names names;
    names.set(tracer::Unit::context, 1, "idle");
    names.set(tracer::Unit::context, 2, "fast");
    EXPECT_EQ(tid_of(names, 1), 0U);
    EXPECT_EQ(tid_of(names, 2), 2U);
    EXPECT_EQ(tid_of(names, 0), kContextZeroTid);
    EXPECT_EQ(tid_of(names, kUnknownContext), kUnknownTid);
    EXPECT_EQ(task_label(names, 2), "fast");
    EXPECT_EQ(task_label(names, 9), "context-9");
    EXPECT_EQ(task_label(names, kUnknownContext), "unknown");
}

} // namespace

} // namespace host::convert
