// SPDX-License-Identifier: MIT
// What the account of a job has beside the parts: counts, records, pieces; and the culprits in chains of mutexes, in
// sections, and on several processors.
#include "tests/support/accounting_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::schedule {

namespace {

using ::testing::ElementsAre;
using Scene = AccountingScene;

// Records 0 to 10; the job has those after its release: of 2 and 3, 5 to 10.
TEST(JobAccounts, CountsDispatchesPreemptionsRecordsAndTheTimeOnTheProcessor) {
    Scene scene;
    scene.at(0, "context_switch", kIdle)
        .at(5, "ipoint")
        .at(10, "job_release", kLow, 4)
        .at(12, "ipoint")
        .at(20, "context_switch", kLow)
        .at(30, "interrupt_start", kTimer)
        .at(37, "interrupt_end", kTimer)
        .at(40, "context_switch", kIdle)
        .at(60, "context_switch", kLow)
        .at(64, "ipoint")
        .at(90, "task_end_cycle", kLow);
    ASSERT_EQ(scene.m_accounts.size(), 1U);
    const JobAccount& account = scene.m_accounts.front();
    EXPECT_EQ(account.cpu, 0U);
    EXPECT_EQ(account.ready.ticks.value, 10U);
    EXPECT_EQ(account.ready.ns, 10);
    EXPECT_EQ(account.gross.value, 50U);
    EXPECT_EQ(account.part(Part::jitter).value, 6U);
    EXPECT_EQ(account.part(Part::execution).value, 43U);
    EXPECT_EQ(account.part(Part::interference).value, 37U);
    EXPECT_EQ(account.part(Part::blocking).value, 0U);
    EXPECT_EQ(account.part(Part::suspension).value, 0U);
    EXPECT_EQ(account.records, 10U);
    EXPECT_EQ(account.dispatches, 2U);
    EXPECT_EQ(account.preemptions, 1U);
    EXPECT_EQ(account.migrations, 0U);
    EXPECT_EQ(account.response().value, 86U);
    EXPECT_EQ(account.start_latency().value, 10U);
    EXPECT_EQ(account.span().value, 70U);
    EXPECT_THAT(scene.details(), ElementsAre("jitter task 1: 6 in 1, 2 records, longest 6 from 4 at #2",
                                             "interference kernel 1: 30 in 2, 3 records, longest 20 from 40 at #7",
                                             "execution self: 43 in 3, 4 records, longest 30 from 60 at #8",
                                             "interference interrupt 32: 7 in 1, 1 records, longest 7 from 30 at #5"));
}

TEST(JobAccounts, ReportsPiecesWithoutGapFromTheReleaseToTheEnd) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(4, "ipoint")
        .at(10, "job_release", kLow, 4)
        .at(30, "interrupt_start", kTimer)
        .at(37, "interrupt_end", kTimer)
        .at(90, "task_end_cycle", kLow)
        .at(95, "job_release", kLow, 95)
        .at(99, "task_end_cycle", kLow);
    EXPECT_THAT(scene.pieces(),
                ElementsAre("3/1 jitter task 4..10 #2 1 records", "3/1 execution self 10..30 #2 1 records",
                            "3/1 interference interrupt 30..37 #3 1 records", "3/1 execution self 37..90 #4 1 records",
                            "3/2 execution self 95..99 #6 1 records"));
}

// The first processor's records up to the migration, then the other's.
TEST(JobAccounts, FollowsAJobToAnotherProcessor) {
    Scene scene;
    scene.at(0, "context_switch", kIdle)
        .at(0, "context_switch", kMiddle, 0, 1)
        .at(10, "job_release", kLow, 10)
        .at(10, "context_switch", kLow)
        .at(20, "context_switch", kHigh)
        .at(25, "ipoint", 0, 0, 1)
        .at(30, "context_switch", kLow, 0, 1)
        .at(35, "ipoint", 0, 0, 1)
        .at(36, "ipoint")
        .at(50, "context_switch", kMiddle, 0, 1)
        .at(60, "context_switch", kLow, 0, 1)
        .at(70, "task_end_cycle", kLow, 0, 1);
    EXPECT_THAT(scene.shares(kLow),
                ElementsAre("R 60", "execution self: 40", "interference task 5: 10", "interference task 4: 10"));
    ASSERT_EQ(scene.m_accounts.size(), 1U);
    const JobAccount& account = scene.m_accounts.front();
    EXPECT_EQ(account.cpu, 1U);
    EXPECT_EQ(account.migrations, 1U);
    EXPECT_EQ(account.dispatches, 3U);
    EXPECT_EQ(account.preemptions, 2U);
    EXPECT_EQ(account.gross.value, 40U);
    EXPECT_EQ(account.records, 5U);
}

TEST(JobAccounts, AJobThatNeverRanHasNoSpan) {
    Scene scene;
    scene.at(0, "context_switch", kIdle).at(10, "job_release", kLow, 5).at(30, "job_abort", kLow);
    ASSERT_EQ(scene.m_accounts.size(), 1U);
    const JobAccount& account = scene.m_accounts.front();
    EXPECT_TRUE(account.is_known());
    EXPECT_EQ(account.response().value, 25U);
    EXPECT_EQ(account.start_latency().value, 20U);
    EXPECT_EQ(account.span().value, 0U);
    EXPECT_EQ(account.dispatches, 0U);
}

// 3 holds 7 and waits for 8, which 4 holds, who waits for 9, which 6 holds.
TEST(JobAccounts, AChainOfHoldersEndsWithTheOneThatWaitsForNoMutex) {
    Scene scene;
    scene.at(0, "set_mutex_acquire", kLow, 7)
        .at(0, "set_mutex_acquire", kMiddle, 8)
        .at(0, "set_mutex_acquire", kServed, 9)
        .at(0, "context_switch", kMiddle)
        .at(1, "task_block", kMiddle, wait_word(lib::WaitKind::mutex, 9))
        .at(2, "context_switch", kLow)
        .at(3, "task_block", kLow, wait_word(lib::WaitKind::mutex, 8))
        .at(4, "context_switch", kServed)
        .at(5, "task_block", kServed, wait_word(lib::WaitKind::semaphore, 2))
        .at(10, "context_switch", kHigh)
        .at(10, "job_release", kHigh, 10)
        .at(20, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .at(20, "context_switch", kDue)
        .at(30, "task_unblock", kServed, wait_word(lib::WaitKind::semaphore, 2))
        .at(40, "context_switch", kServed)
        .at(50, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 40", "execution self: 10",
                                                 "blocking task 7 mutex 7 of 3 unbounded to 6 that waits 1/2: 10",
                                                 "blocking task 7 mutex 7 of 3 unbounded to 6: 10",
                                                 "blocking task 6 mutex 7 of 3 bounded to 6: 10"));
}

// Whatever precedes the task anyway, or is of the chain, delays it for a bounded time.
TEST(JobAccounts, AWaitIsBoundedWhileWhatRunsPrecedesOrIsOfTheChain) {
    const auto while_runs = [](std::uint16_t context, std::uint16_t place) {
        Scene scene;
        scene.at(0, "set_mutex_acquire", kLow, 7)
            .at(0, "set_mutex_acquire", kIdle, 8)
            .at(0, "context_switch", kLow)
            .at(1, "task_block", kLow, wait_word(lib::WaitKind::mutex, 8))
            .at(2, "context_switch", kMiddle)
            .at(10, "job_release", kMiddle, 10)
            .at(20, "task_block", kMiddle, wait_word(lib::WaitKind::mutex, 7))
            .change_for(20, kMiddle, context, place, 0)
            .at(30, "task_end_cycle", kMiddle);
        return scene.shares(kMiddle).back();
    };
    EXPECT_EQ(while_runs(kHigh, kHigh), "blocking task 5 mutex 7 of 3 bounded to 1: 10");
    EXPECT_EQ(while_runs(kIdle, kIdle), "blocking task 1 mutex 7 of 3 bounded to 1: 10") << "the end of the chain";
    EXPECT_EQ(while_runs(kDue, kLow), "blocking task 7 mutex 7 of 3 bounded to 1: 10") << "in the place of its middle";
    EXPECT_EQ(while_runs(kDue, kMiddle), "blocking task 7 mutex 7 of 3 bounded to 1: 10") << "in its own place";
    EXPECT_EQ(while_runs(kDue, kHigh), "blocking task 7 mutex 7 of 3 bounded to 1: 10");
    EXPECT_EQ(while_runs(kHigh, kDue), "blocking task 5 mutex 7 of 3 unbounded to 1: 10");
    EXPECT_EQ(while_runs(kDue, kDue), "blocking task 7 mutex 7 of 3 unbounded to 1: 10");
    EXPECT_EQ(while_runs(99, 99), "blocking task 99 mutex 7 of 3 unknown to 1: 10");
}

TEST(JobAccounts, WhileNothingIsKnownToRunNoInversionIs) {
    Scene scene;
    scene.at(0, "set_mutex_acquire", kLow, 7)
        .at(0, "context_switch", kHigh)
        .at(10, "job_release", kHigh, 10)
        .at(20, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .at(20, "context_switch", kIdle)
        .at(25, "context_switch", kIdle, 0, 1) // on another processor: a record of this one is missing
        .at(25, "ipoint")
        .at(30, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 20", "execution self: 10", "blocking task 1 mutex 7 of 3 unbounded: 5",
                            "blocking unknown ? mutex 7 of 3 unknown: 5"));
}

// A ceiling stops the task that the scheduler chose: another runs in its place.
TEST(JobAccounts, ATaskInThePlaceOfTheReadyOneBlocksIt) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(1, "set_mutex_acquire", kLow, 7)
        .at(2, "set_mutex_acquire", kLow, 8)
        .at(3, "set_mutex_acquire", kDue, 9)
        .at(10, "job_release", kHigh, 10)
        .change_for(20, kLow, kLow, kHigh)
        .at(30, "set_mutex_unlock", kLow, 8)
        .at(40, "set_mutex_unlock", kLow, 7)
        .change(50, kLow, kHigh, 0)
        .at(60, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 50", "interference kernel 3: 10", "blocking task 3 mutex 8 of 3 bounded: 10",
                            "blocking task 3 mutex 7 of 3 bounded: 10", "blocking task 3 mutex 0 of 3 bounded: 10",
                            "execution self: 10"));
}

// The scheduler has not been asked yet whether the task that is ready precedes.
TEST(JobAccounts, ASectionThatKeepsTheSchedulerWaitingIsNamed) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(10, "job_release", kHigh, 10)
        .at(20, "CLI")
        .at(35, "STI")
        .change(40, kLow, kHigh, 0)
        .at(50, "task_end_cycle", kHigh)
        .at(60, "job_release", kMiddle, 60)
        .at(65, "CLI")
        .at(70, "STI")
        .at(80, "task_end_cycle", kMiddle);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 40", "interference kernel 3: 15", "interference section 3: 15", "execution self: 10"));
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 20", "interference task 5: 20"));
}

TEST(JobAccounts, TheHandlerOfTheTimerInterferesWhereInterruptsAreNotRecorded) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(10, "timer_wakeup_start")
        .at(12, "job_release", kLow, 9)
        .at(15, "timer_wakeup_end")
        .at(20, "task_end_cycle", kLow);
    EXPECT_THAT(scene.shares(kLow),
                ElementsAre("R 11", "jitter task 3: 1", fmt::format("jitter interrupt {}: 2", kTimerHandler),
                            fmt::format("interference interrupt {}: 3", kTimerHandler), "execution self: 5"));
}

TEST(JobAccounts, TheBacklogEndsWithTheJobBefore) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(50, "task_end_cycle", kLow)
        .at(60, "job_release", kLow, 50)
        .at(70, "task_end_cycle", kLow);
    EXPECT_THAT(scene.shares(kLow),
                ElementsAre("R 50", "execution self: 50", "R 20", "jitter task 3: 10", "execution self: 10"));
}

TEST(JobAccounts, WhatIsNoEventOfATraceIsLeftOut) {
    Schedule schedule;
    std::size_t accounts = 0;
    Accounting accounting([&](const JobAccount&) { ++accounts; });
    const auto take = [&](std::string_view name, trace::EventState state, bool metadata) {
        trace::Event event;
        trace::set_meaning(event, {.code = tracer::find_event(name)->code, .par1 = kLow});
        event.state = state;
        event.metadata = metadata;
        const Change began{.kind = Change::Kind::job_began, .context = kLow};
        accounting.take(event, {&began, 1}, schedule, kKhz);
    };
    take("job_release", trace::EventState::malformed, false);
    take("job_release", trace::EventState::ok, true);
    trace::Event nothing;
    accounting.take(nothing, {}, schedule, kKhz);
    accounting.finish();
    EXPECT_EQ(accounts, 0U);
    take("job_release", trace::EventState::late, false);
    accounting.finish();
    EXPECT_EQ(accounts, 1U);
}

// A second open job keeps its account when the first ends, whatever place that leaves.
TEST(JobAccounts, JobsThatEndLeaveTheOthersAsTheyAre) {
    Scene scene;
    scene.at(0, "context_switch", kHigh)
        .at(0, "job_release", kLow, 0)
        .at(0, "job_release", kMiddle, 0)
        .at(0, "job_release", kHigh, 0)
        .at(10, "job_abort", kLow)
        .at(20, "task_end_cycle", kHigh)
        .at(20, "context_switch", kMiddle)
        .at(25, "job_release", kHigh, 25)
        .at(30, "task_end_cycle", kMiddle)
        .at(30, "context_switch", kHigh)
        .at(40, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 10", "interference task 5: 10"));
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 30", "interference task 5: 20", "execution self: 10"));
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 20", "execution self: 20", "R 15", "interference kernel 4: 5", "execution self: 10"));
}

} // namespace

} // namespace host::schedule
