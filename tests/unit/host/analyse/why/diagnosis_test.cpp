// SPDX-License-Identifier: MIT
// Tests the cause of a late job, in scenes of few records that were computed by hand: one for each cause, and what is
// claimed where nothing is known. One tick is a nanosecond.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace host::analyse::why::diagnosis_test {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// protocol: of the mutex; with inheritance the middle task would not have run.
WhyScene& inversion(WhyScene& scene, lib::MutexProtocol protocol) {
    return scene.play(fmt::format(R"(0 protocol 7 {}, switch low, release low due 3000; 10 acquire low 7
                                     20 release high due 120, low -> high; 30 release middle due 2030
                                     40 wait high mutex 7, high -> middle; 140 complete middle, middle -> low
                                     150 unlock low 7, acquire high 7, wake high mutex 7, low -> high
                                     170 complete high)",
                                  lib::word(protocol)));
}

TEST(Diagnosis, NamesTheMissingInheritance) {
    WhyScene scene(kHigh);
    inversion(scene, lib::MutexProtocol::none);
    EXPECT_THAT(scene.needed(), ElementsAre("missing_inheritance 100"));
    const Diagnosis diagnosis = diagnose(scene.job(), 0);
    EXPECT_EQ(diagnosis.lateness, 50);
    EXPECT_EQ(diagnosis.findings[0].who, kLow);
    EXPECT_THAT(diagnosis.findings[0].tasks, ElementsAre(kMiddle));
    EXPECT_EQ(chain_text(diagnosis.findings[0]), "7 of 3 none");
}

TEST(Diagnosis, NamesALockThatIsHeldAcrossAWait) {
    WhyScene scene(kHigh, R"(0 switch low, release low due 3000; 10 acquire low 7
                             20 release high due 120, wait low delay, low -> high; 30 blocked high 7, high -> idle
                             190 wake low delay, idle -> low for high; 195 unlock low 7, low -> high
                             199 complete high)");
    EXPECT_THAT(scene.needed(), ElementsAre("lock_across_wait 160"));
}

TEST(Diagnosis, NamesALongCriticalSection) {
    WhyScene scene(kHigh, R"(0 switch low, release low due 3000; 10 acquire low 7; 20 release high due 120, low -> high
                             30 blocked high 7, high -> low for high; 130 unlock low 7, low -> high
                             150 complete high)");
    EXPECT_THAT(scene.needed(), ElementsAre("critical_section 100"));
}

TEST(Diagnosis, NamesItsOwnOverrun) {
    WhyScene scene(kHigh, "0 switch idle; 10 release high due 110, idle -> high; 130 complete high");
    EXPECT_THAT(scene.needed(), ElementsAre("own_overrun 70"));
}

WhyScene& preempted(WhyScene& scene, std::uint64_t executed) {
    return scene.play(fmt::format(R"(0 switch idle, release middle due 150, release high due 100, idle -> high
                                     {} complete high, high -> middle; {} complete middle)",
                                  executed, executed + 80));
}

TEST(Diagnosis, NamesTheOverrunOfATaskThatPrecedes) {
    WhyScene scene(kMiddle);
    preempted(scene, 90);
    EXPECT_THAT(scene.needed(), ElementsAre("others_overrun 40"));
    const Diagnosis diagnosis = diagnose(scene.job(), 0);
    EXPECT_EQ(diagnosis.findings[0].who, kHigh);
    EXPECT_EQ(diagnosis.findings[0].greatest, lib::Ticks{90});
}

TEST(Diagnosis, NamesNoCauseOfAJobThatIsOnTime) {
    WhyScene scene(kMiddle);
    preempted(scene, 60);
    const Diagnosis diagnosis = diagnose(scene.job(), 0);
    EXPECT_EQ(diagnosis.lateness, -10);
    EXPECT_EQ(diagnosis.needed, 0U);
    EXPECT_EQ(diagnosis.findings[0].cause, Cause::execution) << "the greatest part";
}

// The first job leaves no time; in the second one no overrun is within it.
TEST(Diagnosis, CountsOverrunsSinceTheProcessorWasFree) {
    WhyScene scene(kDated, {.which = Wanted::Which::number, .number = 1});
    scene.play(R"(0 switch idle, release high due 100, idle -> high
                  150 complete high, high -> middle, release middle at 40 due 2040; 160 release dated due 250
                  240 complete middle, middle -> dated; 280 complete dated)");
    // High ran 100 too long before the release, and kept middle from running; middle declares what it ran.
    EXPECT_THAT(scene.needed(), ElementsAre("priority_order 80"));
}

TEST(Diagnosis, NamesWhatPrecedesAlthoughItsDeadlineIsLater) {
    WhyScene scene(kDated, R"(0 switch idle, release dated due 100, release middle due 2000, idle -> middle
                              90 complete middle, middle -> dated; 130 complete dated)");
    EXPECT_THAT(scene.needed(), ElementsAre("priority_order 90"));
}

TEST(Diagnosis, NamesInterruptsThatAreOff) {
    WhyScene scene(kHigh, R"(0 switch low; 10 cli; 120 sti; 121 irq 32; 122 release high at 20 due 120
                             123 iret 32, low -> high; 130 complete high)");
    // The section and what the task ran before the interrupt was taken.
    EXPECT_THAT(scene.needed(), ElementsAre("interrupts_off 101"));
    EXPECT_EQ(diagnose(scene.job(), 0).findings[0].who, kLow);
}

TEST(Diagnosis, NamesTheVectorOfAStorm) {
    WhyScene scene(kHigh, "0 switch idle, release high due 100, idle -> high");
    for (std::uint64_t i = 0; i < 10; ++i) {
        scene.play(fmt::format("{} irq 32; {} iret 32", 1 + i * 12, 9 + i * 12));
    }
    scene.play("124 complete high");
    EXPECT_THAT(scene.needed(), ElementsAre("interrupt_load 80"));
    EXPECT_EQ(scene.job().interrupts.at(kTimer), 10U);
}

TEST(Diagnosis, NamesTheBudgetThatWasUsedUp) {
    WhyScene scene(kServed, R"(0 server 9 deferrable capacity 40 period 500 for served, budget 9 40, switch idle
                               10 release served, idle -> served; 50 budget 9 0, served -> idle
                               500 budget 9 40, idle -> served; 520 complete served)");
    const Diagnosis diagnosis = diagnose(scene.job(), 0);
    EXPECT_FALSE(diagnosis.lateness);
    EXPECT_EQ(diagnosis.findings[0].cause, Cause::server_budget);
    EXPECT_EQ(diagnosis.findings[0].gain, lib::Ticks{450});
    EXPECT_EQ(scene.job().server.value().capacity_ns, 40U);
}

TEST(Diagnosis, NamesWhoEndedAWaitThatWasTooLong) {
    WhyScene scene(kHigh, R"(0 switch idle, release high due 100, idle -> high; 10 wait high semaphore 2, high -> low
                             120 wake high semaphore 2, low -> high; 130 complete high)");
    EXPECT_THAT(scene.needed(), ElementsAre("late_event 110"));
    EXPECT_EQ(diagnose(scene.job(), 0).findings[0].ended_by, (schedule::Executor{schedule::By::task, kLow}));
}

TEST(Diagnosis, NamesSeveralCausesIfNoneSufficesAlone) {
    WhyScene scene(kHigh, R"(0 switch idle, release low due 3000, release high due 100, idle -> high
                             70 wait high semaphore 2, high -> low; 100 wake high semaphore 2, low -> high
                             140 complete high)");
    // 110 executed, 50 declared: 60 too much suffices for the 40 that it was late.
    EXPECT_THAT(scene.needed(), ElementsAre("own_overrun 60"));
    WhyScene both(kHigh, R"(0 switch idle, release low due 3000, release high due 60, idle -> high
                            70 wait high semaphore 2, high -> low; 100 wake high semaphore 2, low -> high
                            140 complete high)");
    EXPECT_THAT(both.needed(), ElementsAre("own_overrun 60", "late_event 30"));
}

TEST(Diagnosis, CountsTheCostOfRecords) {
    WhyScene scene(kHigh, "0 switch idle, release high due 40, idle -> high");
    for (std::uint64_t i = 1; i < 10; ++i) {
        scene.play(fmt::format("{} ipoint", i * 4));
    }
    scene.play("45 complete high");
    const Diagnosis diagnosis = diagnose(scene.job(), 1.0);
    EXPECT_EQ(diagnosis.needed, 1U);
    EXPECT_EQ(diagnosis.findings[0].cause, Cause::tracing);
}

// An inversion, of which the record of the lock is missing.
TEST(Diagnosis, ClaimsNothingIfTheHolderIsNotKnown) {
    WhyScene scene(kHigh, R"(0 protocol 7 none, switch low, release low due 3000; 20 release high due 120, low -> high
                             30 release middle due 2030; 40 wait high mutex 7, high -> middle
                             140 complete middle, middle -> low
                             150 unlock low 7, acquire high 7, wake high mutex 7, low -> high; 170 complete high)");
    EXPECT_THAT(scene.needed(), IsEmpty());
    EXPECT_EQ(diagnose(scene.job(), 0).findings[0].cause, Cause::unknown);
}

// The task waits for 7, which inherits; its holder waits for 8, which does not.
TEST(Diagnosis, NamesTheMutexWithoutInheritanceOfAChain) {
    WhyScene scene(kHigh, R"(0 protocol 7 inheritance, protocol 8 none, switch dated; 1 acquire dated 8
                             10 release low due 3010, dated -> low; 12 acquire low 7; 14 wait low mutex 8, low -> dated
                             20 release high due 120, dated -> high; 30 release middle due 2030
                             40 wait high mutex 7, high -> middle; 140 complete middle, middle -> dated
                             150 unlock dated 8, acquire low 8, wake low mutex 8, dated -> low for high
                             152 unlock low 8; 153 unlock low 7, acquire high 7, wake high mutex 7, low -> high
                             170 complete high)");
    EXPECT_THAT(scene.needed(), ElementsAre("missing_inheritance 100"));
    const Finding finding = diagnose(scene.job(), 0).findings[0];
    EXPECT_EQ(finding.object, 8U);
    EXPECT_EQ(finding.who, kDated);
    EXPECT_EQ(chain_text(finding), "7 of 3 inheritance, 8 of 7 none");
}

// High waits for 10 of 8, which waits for 11 of 9, which waits for 12 of low. Each holds its mutex once the one after
// it has run.
std::unique_ptr<WhyScene> chain_of_three(std::string_view held_by_last) {
    auto scene = std::make_unique<WhyScene>(kHigh);
    scene->play(fmt::format(R"(0 protocol 10 inheritance, protocol 11 {}, protocol 12 inheritance, switch low
                               1 acquire low 12; 2 low -> 9; 3 acquire 9 11; 4 blocked 9 12, 9 -> low for 9
                               5 low -> 8; 6 acquire 8 10; 7 blocked 8 11, 8 -> low for 8
                               20 release high due 80, low -> high; 25 blocked high 10
                               {}; 100 unlock low 12, acquire 9 12, low -> 9 for high
                               103 unlock 9 12, unlock 9 11, acquire 8 11, 9 -> 8 for high
                               105 unlock 8 11, unlock 8 10, acquire high 10, 8 -> high; 110 complete high)",
                            held_by_last == "runs middle" ? "none" : "inheritance",
                            held_by_last == "runs"          ? "high -> low for high"
                            : held_by_last == "runs middle" ? "high -> middle; 90 middle -> low for high"
                                                            : "wait low delay, high -> idle; 90 wake low delay, "
                                                              "idle -> low for high"));
    return scene;
}

TEST(Diagnosis, NamesTheTaskThatRunsAtTheEndOfAChain) {
    const auto scene = chain_of_three("runs");
    EXPECT_THAT(scene->needed(), ElementsAre("critical_section 75"));
    const auto findings = diagnose(scene->job(), 0).findings;
    EXPECT_EQ(text_of(findings[0]), "critical_section gain 75 took 75 of 3 object 12 longest 75 at #35");
    EXPECT_EQ(chain_text(findings[0]), "10 of 8 inheritance, 11 of 9 inheritance, 12 of 3 inheritance");
    // What the others of the chain run is theirs.
    EXPECT_EQ(text_of(findings[1]), "critical_section gain 3 took 3 of 9 object 11 longest 3 at #41");
    EXPECT_EQ(text_of(findings[2]), "critical_section gain 2 took 2 of 8 object 10 longest 2 at #48");
}

TEST(Diagnosis, NamesTheTaskThatSleepsAtTheEndOfAChain) {
    const auto scene = chain_of_three("sleeps");
    EXPECT_THAT(scene->needed(), ElementsAre("lock_across_wait 65"));
    const Finding finding = diagnose(scene->job(), 0).findings[0];
    EXPECT_EQ(finding.who, kLow);
    EXPECT_EQ(finding.object, 12U);
    EXPECT_EQ(chain_text(finding), "10 of 8 inheritance, 11 of 9 inheritance, 12 of 3 inheritance");
}

TEST(Diagnosis, NamesTheLinkWithoutInheritanceInTheMiddleOfAChain) {
    const auto scene = chain_of_three("runs middle");
    EXPECT_THAT(scene->needed(), ElementsAre("missing_inheritance 65"));
    const Finding finding = diagnose(scene->job(), 0).findings[0];
    EXPECT_EQ(finding.who, 9U);
    EXPECT_EQ(finding.object, 11U);
    EXPECT_THAT(finding.tasks, ElementsAre(kMiddle));
}

// Middle waits for the section of low while high runs, which would have run in any case.
TEST(Diagnosis, CountsOnlyWhatTheHolderRuns) {
    const auto scene_of = [](std::uint64_t high_ends, std::uint64_t deadline) {
        auto scene = std::make_unique<WhyScene>(kMiddle);
        scene->play(fmt::format(R"(0 switch low, release low due 3000; 10 acquire low 7
                                   20 release middle due {}, low -> middle
                                   30 blocked middle 7, middle -> low for middle; 50 release high due 150, low -> high
                                   {} complete high, high -> low for middle; {} unlock low 7, low -> middle
                                   {} complete middle)",
                                deadline, high_ends, high_ends + 30, high_ends + 40));
        return scene;
    };
    // Without the 50 of the section it ends before high arrives.
    EXPECT_THAT(scene_of(90, 125)->needed(), ElementsAre("critical_section 90"));
    // 150 beyond what high declares; 50 of the section.
    EXPECT_THAT(scene_of(250, 140)->needed(), ElementsAre("others_overrun 150"));
}

// High runs 150 too long while the task waits for a moment: it does not end earlier without that.
TEST(Diagnosis, DoesNotBlameWorkThatDidNotDelayIt) {
    WhyScene scene(kMiddle, R"(0 switch idle, release middle due 150, idle -> middle
                               10 wait middle delay, middle -> idle; 20 release high due 120, idle -> high
                               220 complete high, high -> idle; 300 irq 32, wake middle delay
                               301 iret 32, idle -> middle; 310 complete middle)");
    EXPECT_THAT(scene.needed(), ElementsAre("late_event 291"));
}

// A task that precedes it keeps interrupts off when it is released: it would have run in any case.
TEST(Diagnosis, BlamesInterruptsOffOnlyOfTasksThatDoNotPrecede) {
    WhyScene scene(kMiddle, R"(0 switch idle, release high due 100, idle -> high
                               200 irq 32, release middle at 20 due 120; 201 iret 32; 210 complete high, high -> middle
                               240 complete middle)");
    // High ends at 51 (with the handler) without the 159 or 160 that it executes beyond 50.
    const std::vector<std::string> needed = scene.needed();
    ASSERT_EQ(needed.size(), 1U);
    EXPECT_THAT(needed[0], ::testing::StartsWith("others_overrun 1"));
}

// A storm while the task waits for the mutex counts, too.
TEST(Diagnosis, CountsInterruptsWithinBlocking) {
    WhyScene scene(kHigh, R"(0 switch low, release low due 3000; 10 acquire low 7; 20 release high due 120, low -> high
                             30 blocked high 7, high -> low for high)");
    for (std::uint64_t i = 0; i < 10; ++i) {
        scene.play(fmt::format("{} irq 32; {} iret 32", 31 + i * 12, 39 + i * 12));
    }
    scene.play("155 unlock low 7, low -> high; 165 complete high");
    EXPECT_THAT(scene.needed(), ElementsAre("interrupt_load 80"));
    EXPECT_EQ(diagnose(scene.job(), 0).findings[1].took, lib::Ticks{45}) << "the section without its handlers";
}

// A shorter relative deadline precedes, as configured.
TEST(Diagnosis, DoesNotBlameAnOrderByRelativeDeadlines) {
    WhyScene scene(kMiddle, R"(0 switch idle, release middle due 60, idle -> middle
                               10 release high due 110, middle -> high; 50 complete high, high -> middle
                               80 complete middle)");
    EXPECT_THAT(scene.needed(), ElementsAre("load 40"));
}

TEST(JobWatch, ExplainsTheFirstOfARowOfLateJobs) {
    WhyScene scene(kHigh, {.which = Wanted::Which::number, .number = 3});
    scene.play(R"(0 switch idle, release high due 100, idle -> high; 230 complete high, release high at 100 due 200
                  270 complete high, release high at 200 due 300; 310 complete high, high -> idle
                  400 release high due 500, idle -> high; 440 complete high)");
    ASSERT_TRUE(scene.found().first);
    const JobCase& first = *scene.found().first;
    EXPECT_TRUE(explains(first, diagnose(first, 0), scene.job()));
    EXPECT_EQ(first.account.job.number, 1U);
    EXPECT_EQ(scene.found().row, 3U);
    EXPECT_EQ(scene.found().jobs, 4U);
    EXPECT_EQ(scene.found().late, 3U);
}

// The second job began late by 30, and is late by 120, because of middle's 200.
TEST(JobWatch, ExplainsALaterJobOfARowByItself) {
    WhyScene scene(kLow, {.which = Wanted::Which::number, .number = 2});
    scene.play(R"(0 switch idle, release low due 200, idle -> low; 230 complete low, release low at 200 due 400
                  240 release middle due 2240, low -> middle; 540 complete middle, middle -> low; 600 complete low)");
    ASSERT_TRUE(scene.found().first);
    const JobCase& first = *scene.found().first;
    EXPECT_FALSE(explains(first, diagnose(first, 0), scene.job()));
    EXPECT_THAT(scene.needed(), ElementsAre("others_overrun 200"));
}

TEST(JobWatch, ChoosesTheJobThatWasAskedFor) {
    const auto number = [](Wanted wanted) {
        WhyScene scene(kHigh, wanted);
        std::uint64_t now = 0;
        scene.play("0 switch idle");
        for (const std::uint64_t length : std::to_array<std::uint64_t>({50, 120, 130, 60})) {
            scene.play(fmt::format("{} release high due {}, idle -> high; {} complete high, high -> idle", now,
                                   now + 100, now + length));
            now += 1000;
        }
        return scene.job().account.job.number;
    };
    EXPECT_EQ(number({}), 3U);
    EXPECT_EQ(number({.which = Wanted::Which::first_miss}), 2U);
    EXPECT_EQ(number({.which = Wanted::Which::number, .number = 4}), 4U);
}

TEST(JobWatch, ClaimsNothingOfAJobWithMissingRecords) {
    WhyScene scene(kHigh, {.which = Wanted::Which::number, .number = 1});
    scene.play("0 switch idle, release high due 100; 10 blackout; 20 lost 4").finish();
    EXPECT_FALSE(scene.job().account.is_known());
    EXPECT_EQ(scene.found().unknown, 1U);
    WhyScene worst(kHigh, "0 switch idle, release high due 100");
    worst.finish();
    EXPECT_FALSE(worst.found().job) << "its response time is not known";
}

TEST(Story, UnitesWhatIsShortAndKeepsEachTick) {
    WhyScene scene(kHigh, "0 switch idle, release high due 100, idle -> high");
    for (std::uint64_t i = 0; i < 3000; ++i) {
        scene.play(fmt::format("{} irq 32; {} iret 32", 10 + i * 20, 11 + i * 20));
    }
    scene.play(R"(60'020 wait high semaphore 2, high -> low; 70'020 wake high semaphore 2, low -> high
                  80'020 complete high)");
    const auto& passages = scene.job().story.passages();
    ASSERT_LE(passages.size(), 8U);
    std::uint64_t sum = 0;
    lib::Ticks end{};
    for (const Passage& passage : passages) {
        EXPECT_EQ(passage.begin, end);
        end = passage.end;
        for (const Portion& portion : passage.portions) {
            sum += portion.ticks.value;
        }
    }
    EXPECT_EQ(end, lib::Ticks{80'020});
    EXPECT_EQ(sum, 80'020U);
    EXPECT_EQ(passages.back().portions.front().culprit.part, schedule::Part::execution);
}

} // namespace

} // namespace host::analyse::why::diagnosis_test
