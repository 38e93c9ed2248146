// SPDX-License-Identifier: MIT
// Tests what the account of a job has beside the parts: counts, records, pieces; and the culprits in chains of mutexes,
// in sections, and on several processors.
#include "tests/support/accounting_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::schedule::job_account_test {

namespace {

using ::testing::ElementsAre;
using Scene = AccountingScene;

// Records 0 to 10; the job has those after its release: of 2 and 3, 5 to 10.
TEST(JobAccounts, CountsDispatchesPreemptionsRecordsAndTheTimeOnTheProcessor) {
    Scene scene(R"(0 switch idle; 5 ipoint; 10 release low at 4; 12 ipoint; 20 switch low; 30 irq 32; 37 iret 32
                   40 switch idle; 60 switch low; 64 ipoint; 90 complete low)");
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
    Scene scene(R"(0 switch low; 4 ipoint; 10 release low at 4; 30 irq 32; 37 iret 32; 90 complete low; 95 release low
                   99 complete low)");
    EXPECT_THAT(scene.pieces(),
                ElementsAre("3/1 jitter task 4..10 #2 1 records", "3/1 execution self 10..30 #2 1 records",
                            "3/1 interference interrupt 30..37 #3 1 records", "3/1 execution self 37..90 #4 1 records",
                            "3/2 execution self 95..99 #6 1 records"));
}

// The first processor's records up to the migration, then the other's.
TEST(JobAccounts, FollowsAJobToAnotherProcessor) {
    Scene scene(R"(0 switch idle, switch middle @1; 10 release low, switch low; 20 switch high; 25 ipoint @1
                   30 switch low @1; 35 ipoint @1; 36 ipoint; 50 switch middle @1; 60 switch low @1
                   70 complete low @1)");
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
    Scene scene("0 switch idle; 10 release low at 5; 30 abort low");
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
    Scene scene(R"(0 acquire low 7, acquire middle 8, acquire served 9, switch middle; 1 wait middle mutex 9
                   2 switch low; 3 wait low mutex 8; 4 switch served; 5 wait served semaphore 2
                   10 switch high, release high; 20 wait high mutex 7, switch dated; 30 wake served semaphore 2
                   40 switch served; 50 complete high)");
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 40", "execution self: 10",
                                                 "blocking task 7 mutex 7 of 3 unbounded to 6 that waits 1/2: 10",
                                                 "blocking task 7 mutex 7 of 3 unbounded to 6: 10",
                                                 "blocking task 6 mutex 7 of 3 bounded to 6: 10"));
}

// Whatever precedes the task anyway, or is of the chain, delays it for a bounded time.
TEST(JobAccounts, AWaitIsBoundedWhileWhatRunsPrecedesOrIsOfTheChain) {
    const auto while_runs = [](std::uint16_t context, std::uint16_t place) {
        Scene scene(fmt::format(R"(0 acquire low 7, acquire idle 8, switch low; 1 wait low mutex 8; 2 switch middle
                                   10 release middle; 20 wait middle mutex 7, middle -> {} for {}
                                   30 complete middle)",
                                context, place));
        return scene.shares(kMiddle).back();
    };
    EXPECT_EQ(while_runs(kHigh, kHigh), "blocking task 5 mutex 7 of 3 bounded to 1: 10");
    EXPECT_EQ(while_runs(kIdle, kIdle), "blocking task 1 mutex 7 of 3 bounded to 1: 10") << "the end of the chain";
    EXPECT_EQ(while_runs(kDated, kLow), "blocking task 7 mutex 7 of 3 bounded to 1: 10")
        << "in the place of its middle";
    EXPECT_EQ(while_runs(kDated, kMiddle), "blocking task 7 mutex 7 of 3 bounded to 1: 10") << "in its own place";
    EXPECT_EQ(while_runs(kDated, kHigh), "blocking task 7 mutex 7 of 3 bounded to 1: 10");
    EXPECT_EQ(while_runs(kHigh, kDated), "blocking task 5 mutex 7 of 3 unbounded to 1: 10");
    EXPECT_EQ(while_runs(kDated, kDated), "blocking task 7 mutex 7 of 3 unbounded to 1: 10");
    EXPECT_EQ(while_runs(99, 99), "blocking task 99 mutex 7 of 3 unknown to 1: 10");
}

// The idle task runs on another processor: a record of this one is missing.
TEST(JobAccounts, WhileNothingIsKnownToRunNoInversionIs) {
    Scene scene(R"(0 acquire low 7, switch high; 10 release high; 20 wait high mutex 7, switch idle
                   25 switch idle @1, ipoint; 30 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 20", "execution self: 10", "blocking task 1 mutex 7 of 3 unbounded: 5",
                            "blocking unknown ? mutex 7 of 3 unknown: 5"));
}

// A ceiling stops the task that the scheduler chose: another runs in its place.
TEST(JobAccounts, ATaskInThePlaceOfTheReadyOneBlocksIt) {
    Scene scene(R"(0 switch low; 1 acquire low 7; 2 acquire low 8; 3 acquire dated 9; 10 release high
                   20 low -> low for high in 2; 30 unlock low 8; 40 unlock low 7; 50 low -> high; 60 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 50", "interference kernel 3: 10", "blocking task 3 mutex 8 of 3 bounded: 10",
                            "blocking task 3 mutex 7 of 3 bounded: 20", "execution self: 10"));
}

// The scheduler has not been asked yet whether the task that is ready precedes.
TEST(JobAccounts, ASectionThatKeepsTheSchedulerWaitingIsNamed) {
    Scene scene(R"(0 switch low; 10 release high; 20 cli; 35 sti; 40 low -> high; 50 complete high; 60 release middle
                   65 cli; 70 sti; 80 complete middle)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 40", "interference kernel 3: 15", "interference section 3: 15", "execution self: 10"));
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 20", "interference task 5: 20"));
}

TEST(JobAccounts, TheHandlerOfTheTimerInterferesWhereInterruptsAreNotRecorded) {
    Scene scene("0 switch low; 10 timer; 12 release low at 9; 15 timer_end; 20 complete low");
    EXPECT_THAT(scene.shares(kLow),
                ElementsAre("R 11", "jitter task 3: 1", fmt::format("jitter interrupt {}: 2", kTimerHandler),
                            fmt::format("interference interrupt {}: 3", kTimerHandler), "execution self: 5"));
}

TEST(JobAccounts, TheBacklogEndsWithTheJobBefore) {
    Scene scene("0 switch low, release low; 50 complete low; 60 release low at 50; 70 complete low");
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
    Scene scene(R"(0 switch high, release low, release middle, release high; 10 abort low
                   20 complete high, switch middle; 25 release high; 30 complete middle, switch high
                   40 complete high)");
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 10", "interference task 5: 10"));
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 30", "interference task 5: 20", "execution self: 10"));
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 20", "execution self: 20", "R 15", "interference kernel 4: 5", "execution self: 10"));
}

} // namespace

} // namespace host::schedule::job_account_test
