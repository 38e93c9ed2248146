// SPDX-License-Identifier: MIT
// Tests response times divided among their culprits: scenes that were computed by hand from docs/metrics.md, and random
// sequences, of which no job may have a residue.
#include "tests/support/accounting_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace host::schedule::accounting_test {

namespace {

using ::testing::ElementsAre;
using Scene = AccountingScene;

TEST(Accounting, DividesJitterExecutionAndPreemption) {
    Scene scene(R"(0 switch idle; 103 irq 32; 105 release low at 100; 107 iret 32; 108 idle -> low in 2; 200 irq 32
                   202 release high at 200; 204 iret 32; 205 low -> high in 2; 300 complete high; 301 high -> low in 2
                   400 complete low)");
    EXPECT_THAT(scene.shares(kLow),
                ElementsAre("R 300", "jitter task 1: 3", "jitter interrupt 32: 2", "interference interrupt 32: 6",
                            "interference kernel 1: 3", "execution self: 190", "interference task 5: 94",
                            "interference kernel 5: 2"));
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 100", "jitter interrupt 32: 2", "interference interrupt 32: 2",
                                                 "interference kernel 3: 3", "execution self: 93"));
}

TEST(Accounting, NamesWhoRanWhileTheHolderCouldNot) {
    Scene scene(R"(0 switch low, release low; 10 acquire low 7; 20 release high, low -> high; 30 release middle
                   40 wait high mutex 7, high -> middle; 100 complete middle, middle -> low
                   150 unlock low 7, acquire high 7, wake high mutex 7, low -> high; 170 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 150", "execution self: 40", "blocking task 4 mutex 7 of 3 unbounded: 60",
                            "blocking task 3 mutex 7 of 3 bounded: 50"));
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 70", "interference task 5: 10", "execution self: 60"));
}

TEST(Accounting, NamesWhatTheHolderWaitsFor) {
    Scene scene(R"(0 switch low, release low; 10 acquire low 7; 20 release high; 30 wait low delay, low -> high
                   40 blocked high 7, high -> idle; 90 wake low delay, idle -> low for high
                   95 unlock low 7, low -> high; 99 complete high)");
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 79", "interference kernel 3: 10", "execution self: 14",
                                                 "blocking task 1 mutex 7 of 3 unbounded that waits 2/0: 50",
                                                 "blocking task 3 mutex 7 of 3 bounded: 5"));
    EXPECT_EQ(scene.m_accounts.back().preemptions, 0U);
    EXPECT_EQ(scene.m_accounts.back().dispatches, 2U);
}

TEST(Accounting, PushThroughBlockingNamesTheMutexOfTheOther) {
    Scene scene(R"(0 switch low, release low; 10 acquire low 7; 20 release high, low -> high; 25 release middle
                   30 blocked high 7, high -> low for high; 50 unlock low 7, low -> high
                   60 complete high, high -> middle; 70 complete middle)");
    EXPECT_THAT(scene.shares(kMiddle), ElementsAre("R 45", "interference task 5: 15",
                                                   "blocking task 3 mutex 7 of 3 bounded: 20", "execution self: 10"));
}

// High waits for 8 of dated, which waits for 7 of low: what keeps middle from running is 7.
TEST(Accounting, PushThroughBlockingNamesTheMutexOfTheOneThatRuns) {
    Scene scene(R"(0 switch low, release low; 10 acquire low 7; 11 low -> dated; 12 acquire dated 8
                   13 blocked dated 7, dated -> low for dated; 20 release high, low -> high; 25 release middle
                   30 blocked high 8, high -> low for high; 50 unlock low 7, acquire dated 7, low -> dated for high
                   54 unlock dated 7, unlock dated 8, dated -> high; 60 complete high, high -> middle
                   70 complete middle)");
    EXPECT_THAT(scene.shares(kMiddle),
                ElementsAre("R 45", "interference task 5: 11", "blocking task 3 mutex 7 of 3 bounded: 20",
                            "blocking task 7 mutex 8 of 7 bounded: 4", "execution self: 10"));
}

// Until it leaves the processor it still runs in the place of the other, for the mutex that it has unlocked: not for
// the one that it keeps.
TEST(Accounting, TheMutexIsNamedUntilWhoHasUnlockedItLeaves) {
    for (const std::string_view other : {"", "acquire low 8; 12 "}) {
        Scene scene(fmt::format(R"(0 switch low, release low; 10 {}acquire low 7; 20 release high, low -> high
                                   25 release middle; 30 blocked high 7, high -> low for high; 50 unlock low 7
                                   55 low -> high in 2; 60 complete high, high -> middle; 70 complete middle)",
                                other));
        EXPECT_THAT(scene.shares(kHigh),
                    ElementsAre("R 40", "execution self: 13", "blocking task 3 mutex 7 of 3 bounded: 25",
                                "interference kernel 3: 2"));
        EXPECT_THAT(scene.shares(kMiddle), testing::Contains("blocking task 3 mutex 7 of 3 bounded: 25"));
    }
}

// The one in the place of which it runs has waited for that mutex earlier, and waits for it no more: a ceiling stops
// it.
TEST(Accounting, AMutexForWhichNoneWaitsAnyMoreIsNotNamedWhenItIsUnlocked) {
    Scene scene(R"(0 switch low, release low; 2 acquire low 7; 10 release high, low -> high
                   12 blocked high 7, high -> low for high; 20 set_mutex_timeout high 7, wake high mutex 7, low -> high
                   25 complete high, high -> low; 30 acquire low 8; 40 release high, low -> low for high
                   50 unlock low 7; 70 unlock low 8, low -> high; 80 complete high)");
    EXPECT_THAT(scene.shares(kHigh), testing::Contains("blocking task 3 mutex 8 of 3 bounded: 30"));
}

TEST(MutexWaits, NameNoUnlockedMutexOfATraceThatBeginsAfterTheMachine) {
    const auto named_after = [](std::string_view begin) {
        support::SceneReader reader;
        Schedule schedule;
        MutexWaits waits;
        for (const trace::Event& event :
             reader.read(fmt::format("{}; 1 switch low, acquire low 7; 5 unlock low 7", begin))) {
            waits.take(event, schedule.take(event), schedule);
        }
        return waits.mutex_of(kLow);
    };
    EXPECT_EQ(named_after("0 trace_start"), 7U);
    EXPECT_EQ(named_after("0 trace_start 2"), 0U) << "it may hold one of before";
}

// The protocol none hands the mutex over in the unlock.
TEST(Accounting, NoTaskIsBlockedByAMutexThatIsFree) {
    for (const std::string_view freed : {"set_mutex_unlock", "set_mutex_owner_died"}) {
        Scene scene(fmt::format(R"(0 switch low, release low; 10 acquire low 7; 20 release high, low -> high
                                   30 wait high mutex 7, high -> low; 50 {} low 7; 58 acquire high 7
                                   60 wake high mutex 7, low -> high; 70 complete high)",
                                freed));
        EXPECT_THAT(scene.shares(kHigh),
                    ElementsAre("R 50", "execution self: 20", "blocking task 3 mutex 7 of 3 bounded: 20",
                                "interference kernel 3: 10"));
    }
}

TEST(Accounting, WhoeverIsResumedWaitsForTheMutexAgain) {
    Scene scene(R"(0 switch low, release low; 10 acquire low 7; 20 release high, low -> high
                   30 blocked high 7, high -> low for high; 40 wait high suspended, low -> low
                   60 wake high suspended, low -> idle; 65 wait high suspended, idle -> low; 70 unlock low 7
                   80 wake high suspended; 82 acquire low 7; 84 unlock low 7; 90 low -> high; 99 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 79", "execution self: 19", "blocking task 3 mutex 7 of 3 bounded: 12",
                            "suspension self 6/0: 35", "blocking task 1 mutex 7 of 3 unbounded: 5",
                            "interference kernel 3: 8"));
}

// The holder is stopped by a ceiling, and lends its place to the one with that mutex.
TEST(Accounting, ATaskInThePlaceOfTheHolderBoundsTheWait) {
    Scene scene(R"(0 switch middle, release middle; 10 acquire middle 7; 20 release high, middle -> high
                   30 blocked high 7, high -> low for middle; 50 low -> middle for high
                   60 unlock middle 7, middle -> high; 70 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 50", "execution self: 20", "blocking task 3 mutex 7 of 4 bounded: 20",
                            "blocking task 4 mutex 7 of 4 bounded: 10"));
}

// Between the records of the release and of the deadline.
TEST(Accounting, LevelsDecideWithoutDeadlines) {
    Scene scene("0 switch idle; 10 release dated; 12 due dated 500; 15 idle -> dated; 20 complete dated");
    EXPECT_THAT(scene.shares(kDated), ElementsAre("R 10", "interference kernel 1: 5", "execution self: 5"));
}

TEST(Accounting, AShorterDeadlineHoldsFromTheNextReleaseOn) {
    Scene scene(R"(0 switch middle, release middle; 10 release low; 20 deadline_change low 1; 30 middle -> low
                   40 complete low, low -> middle; 50 release low; 55 middle -> low; 60 complete low)");
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 30", "interference task 4: 20", "execution self: 10", "R 10",
                                                "interference kernel 4: 5", "execution self: 5"));
}

TEST(Accounting, AServerWithoutBudgetThrottles) {
    Scene scene(R"(0 server 9 polling period 500 for served, budget 9 0, switch idle; 10 release served
                   60 budget 9 40, idle -> served; 100 budget 9 0, served -> idle; 160 budget 9 40, idle -> served
                   170 complete served)");
    EXPECT_THAT(scene.shares(kServed), ElementsAre("R 160", "interference throttling 9: 110", "execution self: 50"));
}

TEST(Accounting, AnEarlierJobIsTheBacklogOfTheNextOne) {
    Scene scene("0 switch low, release low; 150 complete low; 152 release low at 100, begin low; 180 complete low");
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 150", "execution self: 150", "R 80", "jitter backlog 3: 50",
                                                "jitter task 3: 2", "execution self: 28"));
    EXPECT_EQ(scene.m_accounts.back().start_latency().value, 0U);
}

TEST(Accounting, SuspensionNamesWhatEndedIt) {
    Scene scene(R"(0 switch high, release high; 10 wait high semaphore 2, high -> low in 1; 50 irq 32
                   51 wake high semaphore 2; 52 iret 32, low -> high in 1; 60 complete high)");
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 60", "execution self: 18", "suspension self 1/2: 40",
                                                 "interference interrupt 32: 1", "interference kernel 3: 1"));
    const auto wait =
        std::ranges::find(scene.m_pieces, Part::suspension, [](const Piece& piece) { return piece.culprit.part; });
    ASSERT_NE(wait, scene.m_pieces.end());
    EXPECT_EQ(wait->ended_by, (Executor{By::interrupt, kTimer}));
}

TEST(Accounting, ASectionWithInterruptsOffDelaysTheRelease) {
    Scene scene(R"(0 switch low; 10 cli; 90 sti; 91 irq 32; 92 release high at 20; 93 iret 32, low -> high
                   100 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 80", "jitter section 3: 70", "jitter task 3: 1", "jitter interrupt 32: 1",
                            "interference interrupt 32: 1", "execution self: 7"));
}

TEST(Accounting, ClaimsNothingWhereRecordsAreMissing) {
    Scene scene("0 switch low, release low; 5 release high; 10 blackout; 20 lost 4; 30 complete low");
    scene.finish();
    for (const JobAccount& account : scene.m_accounts) {
        EXPECT_EQ(account.unaccounted, Unaccounted::no_end);
    }
    EXPECT_EQ(scene.m_accounts.size(), 2U);
}

// What was free before the gap may be held since.
TEST(Accounting, AGapForgetsWhichMutexesAreFree) {
    Scene scene(R"(0 switch low, acquire low 7; 5 unlock low 7; 10 blackout; 20 lost 4
                   21 switch high, activate high, release high
                   30 blocked high 7, high -> low; 50 acquire high 7, low -> high; 60 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 39", "execution self: 19", "blocking task 3 mutex 7 of ? unknown: 20"));
}

// It may be the task itself, whose own release is recorded after the gap.
TEST(Accounting, ClaimsNoPartsIfWhatRanIsMissing) {
    Scene scene("0 switch low, release low; 10 blackout; 20 lost 4, activate low, release low; 30 complete low");
    ASSERT_EQ(scene.m_accounts.size(), 2U);
    EXPECT_EQ(scene.m_accounts[1].unaccounted, Unaccounted::no_end);
}

TEST(Accounting, AGapForgetsTheBudget) {
    const auto after = [](std::string_view budget) {
        return Scene(fmt::format(
            R"(0 server 9 polling period 1'000'000 for served, budget 9 0; 10 blackout; 20 lost 4, activate served{},
                                    idle -> high, release served; 40 high -> served; 50 complete served)",
            budget));
    };
    EXPECT_THAT(after(", budget 9 5").shares(kServed),
                ElementsAre("R 30", "interference task 5: 20", "execution self: 10"));
    EXPECT_FALSE(after("").m_accounts.at(0).is_known()) << "it may be throttled";
}

// The gap begins in a handler, and nothing says when that ended.
TEST(Accounting, AHandlerEndsWhereAGapBegins) {
    Scene scene(R"(0 switch idle; 10 irq 32; 12 blackout; 40 lost 4; 41 switch low
                   50 activate high, release high at 11, low -> high
                   55 irq 32; 55 iret 32; 60 complete high)");
    EXPECT_THAT(scene.shares(kHigh), ElementsAre("R 49", "jitter interrupt 32: 1", "jitter unknown ?: 29",
                                                 "jitter task 3: 9", "execution self: 10"));
}

TEST(Accounting, ASectionOfTheHolderCountsAsItsTask) {
    Scene scene(R"(0 switch low, release low; 10 acquire low 7; 20 release high, low -> high
                   30 blocked high 7, high -> low for high; 40 cli; 60 sti; 70 unlock low 7, low -> high
                   80 complete high)");
    EXPECT_THAT(scene.shares(kHigh),
                ElementsAre("R 60", "execution self: 20", "blocking task 3 mutex 7 of 3 bounded: 40"));
}

TEST(Accounting, ClaimsNothingIfAReleaseIsRecordedEarly) {
    Scene scene("0 switch high; 10 release high at 15; 30 complete high");
    ASSERT_EQ(scene.m_accounts.size(), 1U);
    EXPECT_EQ(scene.m_accounts[0].unaccounted, Unaccounted::early);
}

TEST(Accounting, ANewTaskHasNoBacklogOfTheOldOne) {
    Scene scene(R"(0 switch idle, release low, idle -> low; 150 end low, low -> idle; 160 create low
                   170 release low at 100, idle -> low; 180 complete low)");
    EXPECT_THAT(scene.shares(kLow), ElementsAre("R 150", "execution self: 150", "R 80", "jitter task 3: 50",
                                                "jitter task 1: 20", "execution self: 10"));
}

TEST(Accounting, AJobWhoseReleaseIsLostMayBeTheBacklogOfTheNextOne) {
    const auto next = [](std::string_view ends) {
        return Scene(fmt::format(R"(0 switch low, release low; 10 filter_CPU 1 0; 20 filter_CPU 0 0; 21 switch low
                                    22 choose low; {}; 152 release low at 100, begin low; 180 complete low)",
                                 ends))
            .m_accounts.back();
    };
    EXPECT_FALSE(next("100 activate low, job_queued low 1; 150 complete low").is_known());
    EXPECT_TRUE(next("90 complete low; 100 activate low, job_queued low 1").is_known()) << "the one before had ended";
}

// A filter may have been set in a gap.
TEST(Accounting, AfterALossNoFamilyIsReliedOnBeforeARecordOfIt) {
    const auto job = [](std::string_view gap, std::string_view record) {
        return Scene(fmt::format(R"(0 switch low, acquire low 7; 2 unlock low 7; {}; 50 activate high, release high
                                    51 low -> high{}; 60 complete high)",
                                 gap, record))
            .m_accounts.back();
    };
    constexpr std::string_view kGap = "10 blackout; 20 lost 4; 21 switch low; 22 choose low";
    EXPECT_FALSE(job(kGap, "").is_known()) << "records of mutexes may be hidden";
    EXPECT_TRUE(job(kGap, ", acquire high 8").is_known());
    EXPECT_TRUE(job("10 filter_CPU 1 0; 20 filter_CPU 0 0; 21 switch low; 22 choose low", "").is_known()) << "no loss";
}

// The task that runs after a loss may do so in the place of another one, which the next decision names.
TEST(Accounting, AfterALossThePlaceIsKnownOnceADecisionNamesIt) {
    Scene scene(R"(0 switch low; 10 blackout; 40 lost 4; 41 switch low; 50 choose low for high
                   60 activate middle, release middle; 70 low -> middle; 80 complete middle)");
    EXPECT_THAT(scene.shares(kMiddle),
                ElementsAre("R 20", testing::StartsWith("blocking task 3"), "execution self: 10"));
}

// The mutex for which the end of the chain waits is free: the end may try again.
TEST(Accounting, TheEndOfAChainThatMayTryAgainWaitsForNothing) {
    Scene scene(R"(0 switch low, acquire low 8; 5 release middle, low -> middle; 6 acquire middle 7
                   8 wait middle mutex 8, middle -> low; 10 release high, low -> high; 20 wait high mutex 7, high -> low
                   30 unlock low 8; 40 acquire middle 8, wake middle mutex 8, low -> middle
                   50 unlock middle 7, acquire high 7, wake high mutex 7, middle -> high; 60 complete high)");
    for (const std::string& share : scene.shares(kHigh)) {
        EXPECT_EQ(share.find("that waits"), std::string::npos) << share;
    }
}

// The budget counts, whatever runs meanwhile.
TEST(Accounting, AHandlerDoesNotInterruptThrottling) {
    Scene scene(R"(0 server 9 polling for served, budget 9 0, switch idle; 10 release served; 20 irq 32; 30 iret 32
                   60 budget 9 40, idle -> served; 70 complete served)");
    EXPECT_THAT(scene.shares(kServed), ElementsAre("R 60", "interference throttling 9: 50", "execution self: 10"));
}

TEST(Accounting, ClaimsNothingWhereStampsFall) {
    Scene scene("0 switch low, release low; 50 ipoint; !40 complete low");
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
            scene.play(fmt::format("{} {} {} {}", now, name, context, other));
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

} // namespace host::schedule::accounting_test
