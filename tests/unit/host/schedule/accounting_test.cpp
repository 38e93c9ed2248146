// SPDX-License-Identifier: MIT
// Response times divided among their culprits: scenes that were computed by hand from docs/metrics.md, and random
// sequences, of which no job may have a residue.
#include "tests/support/accounting_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace host::schedule {

namespace {

using ::testing::ElementsAre;
using Scene = AccountingScene;

TEST(Accounting, DividesJitterExecutionAndPreemption) {
    Scene scene;
    scene.at(0, "context_switch", kIdle)
        .at(103, "interrupt_start", kTimer)
        .at(105, "job_release", kLow, 100)
        .at(107, "interrupt_end", kTimer)
        .change(108, kIdle, kLow)
        .at(200, "interrupt_start", kTimer)
        .at(202, "job_release", kHigh, 200)
        .at(204, "interrupt_end", kTimer)
        .change(205, kLow, kHigh)
        .at(300, "task_end_cycle", kHigh)
        .change(301, kHigh, kLow)
        .at(400, "task_end_cycle", kLow);
    EXPECT_THAT(scene.shares(kLow),
                ElementsAre("R 300", "jitter task 1: 3", "jitter interrupt 32: 2", "interference interrupt 32: 6",
                            "interference kernel 1: 3", "execution self: 190", "interference task 5: 94",
                            "interference kernel 5: 2"));
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 100", "jitter interrupt 32: 2", "interference interrupt 32: 2",
                                                 "interference kernel 3: 3", "execution self: 93"));
}

TEST(Accounting, NamesWhoRanWhileTheHolderCouldNot) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(10, "set_mutex_acquire", kLow, 7)
        .at(20, "job_release", kHigh, 20)
        .change(20, kLow, kHigh, 0)
        .at(30, "job_release", kMiddle, 30)
        .at(40, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(40, kHigh, kMiddle, 0)
        .at(100, "task_end_cycle", kMiddle)
        .change(100, kMiddle, kLow, 0)
        .at(150, "set_mutex_unlock", kLow, 7)
        .at(150, "set_mutex_acquire", kHigh, 7)
        .at(150, "task_unblock", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(150, kLow, kHigh, 0)
        .at(170, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 150", "execution self: 40", "blocking task 4 mutex 7 of 3 unbounded: 60",
                            "blocking task 3 mutex 7 of 3 bounded: 50"));
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 70", "interference task 5: 10", "execution self: 60"));
}

TEST(Accounting, NamesWhatTheHolderWaitsFor) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(10, "set_mutex_acquire", kLow, 7)
        .at(20, "job_release", kHigh, 20)
        .at(30, "task_block", kLow, wait_word(lib::WaitKind::delay, 0))
        .change(30, kLow, kHigh, 0)
        .at(40, "set_mutex_block", kHigh, 7)
        .change(40, kHigh, kIdle, 0)
        .at(90, "task_unblock", kLow, wait_word(lib::WaitKind::delay, 0))
        .change_for(90, kIdle, kLow, kHigh, 0)
        .at(95, "set_mutex_unlock", kLow, 7)
        .change(95, kLow, kHigh, 0)
        .at(99, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 79", "interference kernel 3: 10", "execution self: 14",
                                                 "blocking task 1 mutex 7 of 3 unbounded that waits 2/0: 50",
                                                 "blocking task 3 mutex 7 of 3 bounded: 5"));
    EXPECT_EQ(scene.m_accounts.back().preemptions, 0U);
    EXPECT_EQ(scene.m_accounts.back().dispatches, 2U);
}

TEST(Accounting, PushThroughBlockingNamesTheMutexOfTheOther) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(10, "set_mutex_acquire", kLow, 7)
        .at(20, "job_release", kHigh, 20)
        .change(20, kLow, kHigh, 0)
        .at(25, "job_release", kMiddle, 25)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kHigh, 0)
        .at(50, "set_mutex_unlock", kLow, 7)
        .change(50, kLow, kHigh, 0)
        .at(60, "task_end_cycle", kHigh)
        .change(60, kHigh, kMiddle, 0)
        .at(70, "task_end_cycle", kMiddle);
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 45", "interference task 5: 15",
                                                   "blocking task 3 mutex 7 of 3 bounded: 20", "execution self: 10"));
}

// The protocol none hands the mutex over in the unlock.
TEST(Accounting, NoTaskIsBlockedByAMutexThatIsFree) {
    for (const std::string_view freed : {"set_mutex_unlock", "set_mutex_owner_died"}) {
        Scene scene;
        scene.at(0, "context_switch", kLow)
            .at(0, "job_release", kLow, 0)
            .at(10, "set_mutex_acquire", kLow, 7)
            .at(20, "job_release", kHigh, 20)
            .change(20, kLow, kHigh, 0)
            .at(30, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
            .change(30, kHigh, kLow, 0)
            .at(50, freed, kLow, 7)
            .at(58, "set_mutex_acquire", kHigh, 7)
            .at(60, "task_unblock", kHigh, wait_word(lib::WaitKind::mutex, 7))
            .change(60, kLow, kHigh, 0)
            .at(70, "task_end_cycle", kHigh);
        EXPECT_THAT(scene.shares(kHigh),
                    ElementsAre("R 50", "execution self: 20", "blocking task 3 mutex 7 of 3 bounded: 20",
                                "interference kernel 3: 10"));
    }
}

TEST(Accounting, WhoeverIsResumedWaitsForTheMutexAgain) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(10, "set_mutex_acquire", kLow, 7)
        .at(20, "job_release", kHigh, 20)
        .change(20, kLow, kHigh, 0)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kHigh, 0)
        .at(40, "task_block", kHigh, wait_word(lib::WaitKind::suspended, 0))
        .change(40, kLow, kLow, 0)
        .at(60, "task_unblock", kHigh, wait_word(lib::WaitKind::suspended, 0))
        .change(60, kLow, kIdle, 0)
        .at(65, "task_block", kHigh, wait_word(lib::WaitKind::suspended, 0))
        .change(65, kIdle, kLow, 0)
        .at(70, "set_mutex_unlock", kLow, 7)
        .at(80, "task_unblock", kHigh, wait_word(lib::WaitKind::suspended, 0))
        .at(82, "set_mutex_acquire", kLow, 7)
        .at(84, "set_mutex_unlock", kLow, 7)
        .change(90, kLow, kHigh, 0)
        .at(99, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 79", "execution self: 19", "blocking task 3 mutex 7 of 3 bounded: 12",
                            "suspension self 6/0: 35", "blocking task 1 mutex 7 of 3 unbounded: 5",
                            "interference kernel 3: 8"));
}

// The holder is stopped by a ceiling, and lends its place to the one with that mutex.
TEST(Accounting, ATaskInThePlaceOfTheHolderBoundsTheWait) {
    Scene scene;
    scene.at(0, "context_switch", kMiddle)
        .at(0, "job_release", kMiddle, 0)
        .at(10, "set_mutex_acquire", kMiddle, 7)
        .at(20, "job_release", kHigh, 20)
        .change(20, kMiddle, kHigh, 0)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kMiddle, 0)
        .change_for(50, kLow, kMiddle, kHigh, 0)
        .at(60, "set_mutex_unlock", kMiddle, 7)
        .change(60, kMiddle, kHigh, 0)
        .at(70, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 50", "execution self: 20", "blocking task 3 mutex 7 of 4 bounded: 20",
                            "blocking task 4 mutex 7 of 4 bounded: 10"));
}

// Between the records of the release and of the deadline.
TEST(Accounting, LevelsDecideWithoutDeadlines) {
    Scene scene;
    scene.at(0, "context_switch", kIdle)
        .at(10, "job_release", kDue, 10)
        .at(12, "job_deadline", kDue, 500)
        .change(15, kIdle, kDue, 0)
        .at(20, "task_end_cycle", kDue);
    EXPECT_THAT(scene.shares(kDue), ElementsAre("R 10", "interference kernel 1: 5", "execution self: 5"));
}

TEST(Accounting, AShorterDeadlineHoldsFromTheNextReleaseOn) {
    Scene scene;
    scene.at(0, "context_switch", kMiddle)
        .at(0, "job_release", kMiddle, 0)
        .at(10, "job_release", kLow, 10)
        .at(20, "deadline_change", kLow, 1)
        .change(30, kMiddle, kLow, 0)
        .at(40, "task_end_cycle", kLow)
        .change(40, kLow, kMiddle, 0)
        .at(50, "job_release", kLow, 50)
        .change(55, kMiddle, kLow, 0)
        .at(60, "task_end_cycle", kLow);
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 30", "interference task 4: 20", "execution self: 10", "R 10",
                                                "interference kernel 4: 5", "execution self: 5"));
}

TEST(Accounting, AServerWithoutBudgetThrottles) {
    Scene scene;
    scene.at(0, "server_create", 0, 9)
        .at(0, "server_kind", static_cast<std::uint16_t>(lib::ServerKind::polling), 9)
        .at(0, "server_period", 9, 500)
        .at(0, "server_attach", 9, kServed)
        .at(0, "server_budget", 9, 0)
        .at(0, "context_switch", kIdle)
        .at(10, "job_release", kServed, 10)
        .at(60, "server_budget", 9, 40)
        .change(60, kIdle, kServed, 0)
        .at(100, "server_budget", 9, 0)
        .change(100, kServed, kIdle, 0)
        .at(160, "server_budget", 9, 40)
        .change(160, kIdle, kServed, 0)
        .at(170, "task_end_cycle", kServed);
    EXPECT_THAT(scene.shares(kServed), ElementsAre("R 160", "interference throttling 9: 110", "execution self: 50"));
}

TEST(Accounting, AnEarlierJobIsTheBacklogOfTheNextOne) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(150, "task_end_cycle", kLow)
        .at(152, "job_release", kLow, 100)
        .at(152, "task_begin_cycle", kLow)
        .at(180, "task_end_cycle", kLow);
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 150", "execution self: 150", "R 80", "jitter backlog 3: 50",
                                                "jitter task 3: 2", "execution self: 28"));
    EXPECT_EQ(scene.m_accounts.back().start_latency().value, 0U);
}

TEST(Accounting, SuspensionNamesWhatEndedIt) {
    Scene scene;
    scene.at(0, "context_switch", kHigh)
        .at(0, "job_release", kHigh, 0)
        .at(10, "task_block", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(10, kHigh, kLow, 1)
        .at(50, "interrupt_start", kTimer)
        .at(51, "task_unblock", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .at(52, "interrupt_end", kTimer)
        .change(52, kLow, kHigh, 1)
        .at(60, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 60", "execution self: 18", "suspension self 1/2: 40",
                                                 "interference interrupt 32: 1", "interference kernel 3: 1"));
    const auto wait =
        std::ranges::find(scene.m_pieces, Part::suspension, [](const Piece& piece) { return piece.culprit.part; });
    ASSERT_NE(wait, scene.m_pieces.end());
    EXPECT_EQ(wait->ended_by, (Executor{By::interrupt, kTimer}));
}

TEST(Accounting, ASectionWithInterruptsOffDelaysTheRelease) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(10, "CLI")
        .at(90, "STI")
        .at(91, "interrupt_start", kTimer)
        .at(92, "job_release", kHigh, 20)
        .at(93, "interrupt_end", kTimer)
        .change(93, kLow, kHigh, 0)
        .at(100, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 80", "jitter section 3: 70", "jitter task 3: 1", "jitter interrupt 32: 1",
                            "interference interrupt 32: 1", "execution self: 7"));
}

TEST(Accounting, ClaimsNothingWhereRecordsAreMissing) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(5, "job_release", kHigh, 5)
        .at(10, "blackout_start")
        .at(20, "blackout_end", 0, 4)
        .at(30, "task_end_cycle", kLow)
        .finish();
    for (const JobAccount& account : scene.m_accounts) {
        EXPECT_EQ(account.unaccounted, Unaccounted::no_end);
    }
    EXPECT_EQ(scene.m_accounts.size(), 2U);
}

// What was free before the gap may be held since.
TEST(Accounting, AGapForgetsWhichMutexesAreFree) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "set_mutex_acquire", kLow, 7)
        .at(5, "set_mutex_unlock", kLow, 7)
        .at(10, "blackout_start")
        .at(20, "blackout_end", 0, 4)
        .at(21, "context_switch", kHigh)
        .at(21, "job_release", kHigh, 21)
        .at(30, "set_mutex_block", kHigh, 7)
        .change(30, kHigh, kLow, 0)
        .at(50, "set_mutex_acquire", kHigh, 7)
        .change(50, kLow, kHigh, 0)
        .at(60, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 39", "execution self: 19", "blocking task 3 mutex 7 of ? unknown: 20"));
}

TEST(Accounting, AGapForgetsTheBudget) {
    Scene scene;
    scene.at(0, "server_create", 0, 9)
        .at(0, "server_kind", static_cast<std::uint16_t>(lib::ServerKind::polling), 9)
        .at(0, "server_attach", 9, kServed)
        .at(0, "server_budget", 9, 0)
        .at(10, "blackout_start")
        .at(20, "blackout_end", 0, 4)
        .at(20, "context_switch", kHigh)
        .at(30, "job_release", kServed, 30)
        .change(50, kHigh, kServed, 0)
        .at(60, "task_end_cycle", kServed);
    EXPECT_THAT(scene.shares(kServed), ElementsAre("R 30", "interference kernel 5: 20", "execution self: 10"));
}

// The gap begins in a handler, and nothing says when that ended.
TEST(Accounting, AHandlerEndsWhereAGapBegins) {
    Scene scene;
    scene.at(0, "context_switch", kIdle)
        .at(10, "interrupt_start", kTimer)
        .at(12, "blackout_start")
        .at(40, "blackout_end", 0, 4)
        .at(41, "context_switch", kLow)
        .at(50, "job_release", kHigh, 11)
        .change(50, kLow, kHigh, 0)
        .at(60, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 49", "jitter interrupt 32: 1", "jitter unknown ?: 29",
                                                 "jitter task 3: 9", "execution self: 10"));
}

TEST(Accounting, ASectionOfTheHolderCountsAsItsTask) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "job_release", kLow, 0)
        .at(10, "set_mutex_acquire", kLow, 7)
        .at(20, "job_release", kHigh, 20)
        .change(20, kLow, kHigh, 0)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kHigh, 0)
        .at(40, "CLI")
        .at(60, "STI")
        .at(70, "set_mutex_unlock", kLow, 7)
        .change(70, kLow, kHigh, 0)
        .at(80, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 60", "execution self: 20", "blocking task 3 mutex 7 of 3 bounded: 40"));
}

TEST(Accounting, ClaimsNothingIfAReleaseIsRecordedEarly) {
    Scene scene;
    scene.at(0, "context_switch", kHigh).at(10, "job_release", kHigh, 15).at(30, "task_end_cycle", kHigh);
    ASSERT_EQ(scene.m_accounts.size(), 1U);
    EXPECT_EQ(scene.m_accounts[0].unaccounted, Unaccounted::early);
}

TEST(Accounting, ANewTaskHasNoBacklogOfTheOldOne) {
    Scene scene;
    scene.at(0, "context_switch", kIdle)
        .at(0, "job_release", kLow, 0)
        .change(0, kIdle, kLow, 0)
        .at(150, "task_end", kLow)
        .change(150, kLow, kIdle, 0)
        .at(160, "task_create", kLow)
        .at(170, "job_release", kLow, 100)
        .change(170, kIdle, kLow, 0)
        .at(180, "task_end_cycle", kLow);
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 150", "execution self: 150", "R 80", "jitter task 3: 50",
                                                "jitter task 1: 20", "execution self: 10"));
}

// The mutex for which the end of the chain waits is free: the end may try again.
TEST(Accounting, TheEndOfAChainThatMayTryAgainWaitsForNothing) {
    Scene scene;
    scene.at(0, "context_switch", kLow)
        .at(0, "set_mutex_acquire", kLow, 8)
        .at(5, "job_release", kMiddle, 5)
        .change(5, kLow, kMiddle, 0)
        .at(6, "set_mutex_acquire", kMiddle, 7)
        .at(8, "task_block", kMiddle, wait_word(lib::WaitKind::mutex, 8))
        .change(8, kMiddle, kLow, 0)
        .at(10, "job_release", kHigh, 10)
        .change(10, kLow, kHigh, 0)
        .at(20, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(20, kHigh, kLow, 0)
        .at(30, "set_mutex_unlock", kLow, 8)
        .at(40, "set_mutex_acquire", kMiddle, 8)
        .at(40, "task_unblock", kMiddle, wait_word(lib::WaitKind::mutex, 8))
        .change(40, kLow, kMiddle, 0)
        .at(50, "set_mutex_unlock", kMiddle, 7)
        .at(50, "set_mutex_acquire", kHigh, 7)
        .at(50, "task_unblock", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(50, kMiddle, kHigh, 0)
        .at(60, "task_end_cycle", kHigh);
    for (const std::string& share : scene.shares(kHigh)) {
        EXPECT_EQ(share.find("that waits"), std::string::npos) << share;
    }
}

// The budget counts, whatever runs meanwhile.
TEST(Accounting, AHandlerDoesNotInterruptThrottling) {
    Scene scene;
    scene.at(0, "server_create", 0, 9)
        .at(0, "server_kind", static_cast<std::uint16_t>(lib::ServerKind::polling), 9)
        .at(0, "server_attach", 9, kServed)
        .at(0, "server_budget", 9, 0)
        .at(0, "context_switch", kIdle)
        .at(10, "job_release", kServed, 10)
        .at(20, "interrupt_start", kTimer)
        .at(30, "interrupt_end", kTimer)
        .at(60, "server_budget", 9, 40)
        .change(60, kIdle, kServed, 0)
        .at(70, "task_end_cycle", kServed);
    EXPECT_THAT(scene.shares(kServed), ElementsAre("R 60", "interference throttling 9: 50", "execution self: 10"));
}

TEST(Accounting, ClaimsNothingWhereStampsFall) {
    Scene scene;
    scene.at(0, "context_switch", kLow).at(0, "job_release", kLow, 0).at(50, "ipoint").at(40, "task_end_cycle", kLow);
    ASSERT_EQ(scene.m_accounts.size(), 1U);
    EXPECT_EQ(scene.m_accounts[0].unaccounted, Unaccounted::stamps_fell);
}

// Any order of records, those of no kernel too.
TEST(Accounting, LeavesNoResidueInRandomSequences) {
    static constexpr auto kNames = std::to_array<std::string_view>(
        {"job_release", "task_end_cycle", "context_switch", "task_epilogue", "task_dispatch", "task_block",
         "task_unblock", "set_mutex_block", "set_mutex_acquire", "set_mutex_unlock", "interrupt_start", "interrupt_end",
         "timer_wakeup_start", "timer_wakeup_end", "CLI", "STI", "job_abort", "task_schedule", "inheritance"});
    std::mt19937 random(7);
    std::uint64_t known = 0;
    for (int round = 0; round < 200; ++round) {
        Scene scene;
        std::uint64_t now = 1000;
        for (int i = 0; i < 300; ++i) {
            now += random() % 10;
            const std::string_view name = kNames[random() % kNames.size()];
            const auto context = static_cast<std::uint16_t>(kIdle + random() % 6);
            const auto other = static_cast<std::uint32_t>(
                name == "job_release"  ? now - random() % 40
                : name == "task_block" ? wait_word(static_cast<lib::WaitKind>(1 + random() % 8), 1)
                                       : kIdle + random() % 6);
            scene.at(now, name, context, other);
        }
        scene.finish();
        for (const JobAccount& account : scene.m_accounts) {
            EXPECT_EQ(account.residue, 0);
            known += account.is_known() ? 1U : 0U;
        }
    }
    EXPECT_GT(known, 1000U);
}

} // namespace

} // namespace host::schedule
