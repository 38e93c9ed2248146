// SPDX-License-Identifier: MIT
// The cause of a late job, in scenes of few records that were computed by hand: one for each cause, and what is claimed
// where nothing is known. One tick is a nanosecond.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>

namespace host::analyse::why {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// protocol: of the mutex; with inheritance the middle task would not have run.
WhyScene& inversion(WhyScene& scene, lib::MutexProtocol protocol) {
    return scene.at(0, "set_mutex_protocol", static_cast<std::uint16_t>(protocol), 7)
        .at(0, "context_switch", kLow)
        .release(0, kLow, 0, 3000)
        .at(10, "set_mutex_acquire", kLow, 7)
        .release(20, kHigh, 20, 120)
        .change(20, kLow, kHigh)
        .release(30, kMiddle, 30, 2030)
        .at(40, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(40, kHigh, kMiddle)
        .at(140, "task_end_cycle", kMiddle)
        .change(140, kMiddle, kLow)
        .at(150, "set_mutex_unlock", kLow, 7)
        .at(150, "set_mutex_acquire", kHigh, 7)
        .at(150, "task_unblock", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(150, kLow, kHigh)
        .at(170, "task_end_cycle", kHigh);
}

TEST(Diagnosis, NamesTheMissingInheritance) {
    WhyScene scene(kHigh);
    inversion(scene, lib::MutexProtocol::none);
    EXPECT_THAT(scene.needed(), ElementsAre("missing_inheritance 100"));
    const Diagnosis diagnosis = diagnose(scene.job(), 0);
    EXPECT_EQ(diagnosis.lateness, 50);
    EXPECT_EQ(diagnosis.findings[0].who, kLow);
    EXPECT_THAT(diagnosis.findings[0].tasks, ElementsAre(kMiddle));
    EXPECT_EQ(scene.job().protocols.at(7), lib::MutexProtocol::none);
}

TEST(Diagnosis, NamesALockThatIsHeldAcrossAWait) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kLow)
        .release(0, kLow, 0, 3000)
        .at(10, "set_mutex_acquire", kLow, 7)
        .release(20, kHigh, 20, 120)
        .at(20, "task_block", kLow, wait_word(lib::WaitKind::delay, 0))
        .change(20, kLow, kHigh)
        .at(30, "set_mutex_block", kHigh, 7)
        .change(30, kHigh, kIdle)
        .at(190, "task_unblock", kLow, wait_word(lib::WaitKind::delay, 0))
        .change_for(190, kIdle, kLow, kHigh)
        .at(195, "set_mutex_unlock", kLow, 7)
        .change(195, kLow, kHigh)
        .at(199, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("lock_across_wait 160"));
}

TEST(Diagnosis, NamesALongCriticalSection) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kLow)
        .release(0, kLow, 0, 3000)
        .at(10, "set_mutex_acquire", kLow, 7)
        .release(20, kHigh, 20, 120)
        .change(20, kLow, kHigh)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kHigh)
        .at(130, "set_mutex_unlock", kLow, 7)
        .change(130, kLow, kHigh)
        .at(150, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("critical_section 100"));
}

TEST(Diagnosis, NamesItsOwnOverrun) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle)
        .release(10, kHigh, 10, 110)
        .change(10, kIdle, kHigh)
        .at(130, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("own_overrun 70"));
}

WhyScene& preempted(WhyScene& scene, std::uint64_t executed) {
    return scene.at(0, "context_switch", kIdle)
        .release(0, kMiddle, 0, 150)
        .release(0, kHigh, 0, 100)
        .change(0, kIdle, kHigh)
        .at(executed, "task_end_cycle", kHigh)
        .change(executed, kHigh, kMiddle)
        .at(executed + 80, "task_end_cycle", kMiddle);
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
    scene.at(0, "context_switch", kIdle)
        .release(0, kHigh, 0, 100)
        .change(0, kIdle, kHigh)
        .at(150, "task_end_cycle", kHigh)
        .change(150, kHigh, kMiddle)
        .release(150, kMiddle, 40, 2040)
        .release(160, kDated, 160, 250)
        .at(240, "task_end_cycle", kMiddle)
        .change(240, kMiddle, kDated)
        .at(280, "task_end_cycle", kDated);
    // High ran 100 too long before the release, and kept middle from running; middle declares what it ran.
    EXPECT_THAT(scene.needed(), ElementsAre("priority_order 80"));
}

TEST(Diagnosis, NamesWhatPrecedesAlthoughItsDeadlineIsLater) {
    WhyScene scene(kDated);
    scene.at(0, "context_switch", kIdle)
        .release(0, kDated, 0, 100)
        .release(0, kMiddle, 0, 2000)
        .change(0, kIdle, kMiddle)
        .at(90, "task_end_cycle", kMiddle)
        .change(90, kMiddle, kDated)
        .at(130, "task_end_cycle", kDated);
    EXPECT_THAT(scene.needed(), ElementsAre("priority_order 90"));
}

TEST(Diagnosis, NamesInterruptsThatAreOff) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kLow)
        .at(10, "CLI")
        .at(120, "STI")
        .at(121, "interrupt_start", kTimer)
        .release(122, kHigh, 20, 120)
        .at(123, "interrupt_end", kTimer)
        .change(123, kLow, kHigh)
        .at(130, "task_end_cycle", kHigh);
    // The section and what the task ran before the interrupt was taken.
    EXPECT_THAT(scene.needed(), ElementsAre("interrupts_off 101"));
    EXPECT_EQ(diagnose(scene.job(), 0).findings[0].who, kLow);
}

TEST(Diagnosis, NamesTheVectorOfAStorm) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle).release(0, kHigh, 0, 100).change(0, kIdle, kHigh);
    for (std::uint64_t i = 0; i < 10; ++i) {
        scene.at(1 + i * 12, "interrupt_start", kTimer).at(9 + i * 12, "interrupt_end", kTimer);
    }
    scene.at(124, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("interrupt_load 80"));
    EXPECT_EQ(scene.job().interrupts.at(kTimer), 10U);
}

TEST(Diagnosis, NamesTheBudgetThatWasUsedUp) {
    WhyScene scene(kServed);
    scene.at(0, "server_create", 0, 9)
        .at(0, "server_kind", static_cast<std::uint16_t>(lib::ServerKind::deferrable), 9)
        .at(0, "server_capacity", 9, 40)
        .at(0, "server_period", 9, 500)
        .at(0, "server_attach", 9, kServed)
        .at(0, "server_budget", 9, 40)
        .at(0, "context_switch", kIdle)
        .at(10, "job_release", kServed, 10)
        .change(10, kIdle, kServed)
        .at(50, "server_budget", 9, 0)
        .change(50, kServed, kIdle)
        .at(500, "server_budget", 9, 40)
        .change(500, kIdle, kServed)
        .at(520, "task_end_cycle", kServed);
    const Diagnosis diagnosis = diagnose(scene.job(), 0);
    EXPECT_FALSE(diagnosis.lateness);
    EXPECT_EQ(diagnosis.findings[0].cause, Cause::server_budget);
    EXPECT_EQ(diagnosis.findings[0].gain, lib::Ticks{450});
    EXPECT_EQ(scene.job().server.value().capacity_ns, 40U);
}

TEST(Diagnosis, NamesWhoEndedAWaitThatWasTooLong) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle)
        .release(0, kHigh, 0, 100)
        .change(0, kIdle, kHigh)
        .at(10, "task_block", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(10, kHigh, kLow)
        .at(120, "task_unblock", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(120, kLow, kHigh)
        .at(130, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("late_event 110"));
    EXPECT_EQ(diagnose(scene.job(), 0).findings[0].ended_by, (schedule::Executor{schedule::By::task, kLow}));
}

TEST(Diagnosis, NamesSeveralCausesIfNoneSufficesAlone) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle)
        .release(0, kLow, 0, 3000)
        .release(0, kHigh, 0, 100)
        .change(0, kIdle, kHigh)
        .at(70, "task_block", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(70, kHigh, kLow)
        .at(100, "task_unblock", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(100, kLow, kHigh)
        .at(140, "task_end_cycle", kHigh);
    // 110 executed, 50 declared: 60 too much suffices for the 40 that it was late.
    EXPECT_THAT(scene.needed(), ElementsAre("own_overrun 60"));
    WhyScene both(kHigh);
    both.at(0, "context_switch", kIdle)
        .release(0, kLow, 0, 3000)
        .release(0, kHigh, 0, 60)
        .change(0, kIdle, kHigh)
        .at(70, "task_block", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(70, kHigh, kLow)
        .at(100, "task_unblock", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(100, kLow, kHigh)
        .at(140, "task_end_cycle", kHigh);
    EXPECT_THAT(both.needed(), ElementsAre("own_overrun 60", "late_event 30"));
}

TEST(Diagnosis, CountsTheCostOfRecords) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle).release(0, kHigh, 0, 40).change(0, kIdle, kHigh);
    for (std::uint64_t i = 1; i < 10; ++i) {
        scene.at(i * 4, "ipoint");
    }
    scene.at(45, "task_end_cycle", kHigh);
    const Diagnosis diagnosis = diagnose(scene.job(), 1.0);
    EXPECT_EQ(diagnosis.needed, 1U);
    EXPECT_EQ(diagnosis.findings[0].cause, Cause::tracing);
}

// An inversion, of which the record of the lock is missing.
TEST(Diagnosis, ClaimsNothingIfTheHolderIsNotKnown) {
    WhyScene scene(kHigh);
    scene.at(0, "set_mutex_protocol", static_cast<std::uint16_t>(lib::MutexProtocol::none), 7)
        .at(0, "context_switch", kLow)
        .release(0, kLow, 0, 3000)
        .release(20, kHigh, 20, 120)
        .change(20, kLow, kHigh)
        .release(30, kMiddle, 30, 2030)
        .at(40, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(40, kHigh, kMiddle)
        .at(140, "task_end_cycle", kMiddle)
        .change(140, kMiddle, kLow)
        .at(150, "set_mutex_unlock", kLow, 7)
        .at(150, "set_mutex_acquire", kHigh, 7)
        .at(150, "task_unblock", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(150, kLow, kHigh)
        .at(170, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), IsEmpty());
    EXPECT_EQ(diagnose(scene.job(), 0).findings[0].cause, Cause::unknown);
}

// The task waits for 7, which inherits; its holder waits for 8, which does not.
TEST(Diagnosis, NamesTheMutexWithoutInheritanceOfAChain) {
    WhyScene scene(kHigh);
    scene.at(0, "set_mutex_protocol", static_cast<std::uint16_t>(lib::MutexProtocol::inheritance), 7)
        .at(0, "set_mutex_protocol", static_cast<std::uint16_t>(lib::MutexProtocol::none), 8)
        .at(0, "context_switch", kDated)
        .at(1, "set_mutex_acquire", kDated, 8)
        .release(10, kLow, 10, 3010)
        .change(10, kDated, kLow)
        .at(12, "set_mutex_acquire", kLow, 7)
        .at(14, "task_block", kLow, wait_word(lib::WaitKind::mutex, 8))
        .change(14, kLow, kDated)
        .release(20, kHigh, 20, 120)
        .change(20, kDated, kHigh)
        .release(30, kMiddle, 30, 2030)
        .at(40, "task_block", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(40, kHigh, kMiddle)
        .at(140, "task_end_cycle", kMiddle)
        .change(140, kMiddle, kDated)
        .at(150, "set_mutex_unlock", kDated, 8)
        .at(150, "set_mutex_acquire", kLow, 8)
        .at(150, "task_unblock", kLow, wait_word(lib::WaitKind::mutex, 8))
        .change_for(150, kDated, kLow, kHigh)
        .at(152, "set_mutex_unlock", kLow, 8)
        .at(153, "set_mutex_unlock", kLow, 7)
        .at(153, "set_mutex_acquire", kHigh, 7)
        .at(153, "task_unblock", kHigh, wait_word(lib::WaitKind::mutex, 7))
        .change(153, kLow, kHigh)
        .at(170, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("missing_inheritance 100"));
    const Finding finding = diagnose(scene.job(), 0).findings[0];
    EXPECT_EQ(finding.object, 8U);
    EXPECT_EQ(finding.who, kDated);
    EXPECT_EQ(scene.job().protocols.at(7), lib::MutexProtocol::inheritance);
    EXPECT_EQ(scene.job().protocols.at(8), lib::MutexProtocol::none);
}

// Middle waits for the section of low while high runs, which would have run in any case.
TEST(Diagnosis, CountsOnlyWhatTheHolderRuns) {
    const auto scene_of = [](std::uint64_t high_ends, std::uint64_t deadline) {
        auto scene = std::make_unique<WhyScene>(kMiddle);
        scene->at(0, "context_switch", kLow)
            .release(0, kLow, 0, 3000)
            .at(10, "set_mutex_acquire", kLow, 7)
            .release(20, kMiddle, 20, deadline)
            .change(20, kLow, kMiddle)
            .at(30, "set_mutex_block", kMiddle, 7)
            .change_for(30, kMiddle, kLow, kMiddle)
            .release(50, kHigh, 50, 150)
            .change(50, kLow, kHigh)
            .at(high_ends, "task_end_cycle", kHigh)
            .change_for(high_ends, kHigh, kLow, kMiddle)
            .at(high_ends + 30, "set_mutex_unlock", kLow, 7)
            .change(high_ends + 30, kLow, kMiddle)
            .at(high_ends + 40, "task_end_cycle", kMiddle);
        return scene;
    };
    // Without the 50 of the section it ends before high arrives.
    EXPECT_THAT(scene_of(90, 125)->needed(), ElementsAre("critical_section 90"));
    // 150 beyond what high declares; 50 of the section.
    EXPECT_THAT(scene_of(250, 140)->needed(), ElementsAre("others_overrun 150"));
}

// High runs 150 too long while the task waits for a moment: it does not end earlier without that.
TEST(Diagnosis, DoesNotBlameWorkThatDidNotDelayIt) {
    WhyScene scene(kMiddle);
    scene.at(0, "context_switch", kIdle)
        .release(0, kMiddle, 0, 150)
        .change(0, kIdle, kMiddle)
        .at(10, "task_block", kMiddle, wait_word(lib::WaitKind::delay, 0))
        .change(10, kMiddle, kIdle)
        .release(20, kHigh, 20, 120)
        .change(20, kIdle, kHigh)
        .at(220, "task_end_cycle", kHigh)
        .change(220, kHigh, kIdle)
        .at(300, "interrupt_start", kTimer)
        .at(300, "task_unblock", kMiddle, wait_word(lib::WaitKind::delay, 0))
        .at(301, "interrupt_end", kTimer)
        .change(301, kIdle, kMiddle)
        .at(310, "task_end_cycle", kMiddle);
    EXPECT_THAT(scene.needed(), ElementsAre("late_event 291"));
}

// A task that precedes it keeps interrupts off when it is released: it would have run in any case.
TEST(Diagnosis, BlamesInterruptsOffOnlyOfTasksThatDoNotPrecede) {
    WhyScene scene(kMiddle);
    scene.at(0, "context_switch", kIdle)
        .release(0, kHigh, 0, 100)
        .change(0, kIdle, kHigh)
        .at(200, "interrupt_start", kTimer)
        .release(200, kMiddle, 20, 120)
        .at(201, "interrupt_end", kTimer)
        .at(210, "task_end_cycle", kHigh)
        .change(210, kHigh, kMiddle)
        .at(240, "task_end_cycle", kMiddle);
    // High ends at 51 (with the handler) without the 159 or 160 that it executes beyond 50.
    const std::vector<std::string> needed = scene.needed();
    ASSERT_EQ(needed.size(), 1U);
    EXPECT_THAT(needed[0], ::testing::StartsWith("others_overrun 1"));
}

// A storm while the task waits for the mutex counts, too.
TEST(Diagnosis, CountsInterruptsWithinBlocking) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kLow)
        .release(0, kLow, 0, 3000)
        .at(10, "set_mutex_acquire", kLow, 7)
        .release(20, kHigh, 20, 120)
        .change(20, kLow, kHigh)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kHigh);
    for (std::uint64_t i = 0; i < 10; ++i) {
        scene.at(31 + i * 12, "interrupt_start", kTimer).at(39 + i * 12, "interrupt_end", kTimer);
    }
    scene.at(155, "set_mutex_unlock", kLow, 7).change(155, kLow, kHigh).at(165, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.needed(), ElementsAre("interrupt_load 80"));
    EXPECT_EQ(diagnose(scene.job(), 0).findings[1].took, lib::Ticks{45}) << "the section without its handlers";
}

// A shorter relative deadline precedes, as configured.
TEST(Diagnosis, DoesNotBlameAnOrderByRelativeDeadlines) {
    WhyScene scene(kMiddle);
    scene.at(0, "context_switch", kIdle)
        .release(0, kMiddle, 0, 60)
        .change(0, kIdle, kMiddle)
        .release(10, kHigh, 10, 110)
        .change(10, kMiddle, kHigh)
        .at(50, "task_end_cycle", kHigh)
        .change(50, kHigh, kMiddle)
        .at(80, "task_end_cycle", kMiddle);
    EXPECT_THAT(scene.needed(), ElementsAre("load 40"));
}

TEST(JobWatch, ExplainsTheFirstOfARowOfLateJobs) {
    WhyScene scene(kHigh, {.which = Wanted::Which::number, .number = 3});
    scene.at(0, "context_switch", kIdle)
        .release(0, kHigh, 0, 100)
        .change(0, kIdle, kHigh)
        .at(230, "task_end_cycle", kHigh)
        .release(230, kHigh, 100, 200)
        .at(270, "task_end_cycle", kHigh)
        .release(270, kHigh, 200, 300)
        .at(310, "task_end_cycle", kHigh)
        .change(310, kHigh, kIdle)
        .release(400, kHigh, 400, 500)
        .change(400, kIdle, kHigh)
        .at(440, "task_end_cycle", kHigh);
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
    scene.at(0, "context_switch", kIdle)
        .release(0, kLow, 0, 200)
        .change(0, kIdle, kLow)
        .at(230, "task_end_cycle", kLow)
        .release(230, kLow, 200, 400)
        .release(240, kMiddle, 240, 2240)
        .change(240, kLow, kMiddle)
        .at(540, "task_end_cycle", kMiddle)
        .change(540, kMiddle, kLow)
        .at(600, "task_end_cycle", kLow);
    ASSERT_TRUE(scene.found().first);
    const JobCase& first = *scene.found().first;
    EXPECT_FALSE(explains(first, diagnose(first, 0), scene.job()));
    EXPECT_THAT(scene.needed(), ElementsAre("others_overrun 200"));
}

TEST(JobWatch, ChoosesTheJobThatWasAskedFor) {
    const auto number = [](Wanted wanted) {
        WhyScene scene(kHigh, wanted);
        std::uint64_t now = 0;
        scene.at(0, "context_switch", kIdle);
        for (const std::uint64_t length : std::to_array<std::uint64_t>({50, 120, 130, 60})) {
            scene.release(now, kHigh, now, now + 100).change(now, kIdle, kHigh);
            scene.at(now + length, "task_end_cycle", kHigh).change(now + length, kHigh, kIdle);
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
    scene.at(0, "context_switch", kIdle)
        .release(0, kHigh, 0, 100)
        .at(10, "blackout_start")
        .at(20, "blackout_end", 0, 4)
        .finish();
    EXPECT_FALSE(scene.job().account.is_known());
    EXPECT_EQ(scene.found().unknown, 1U);
    WhyScene worst(kHigh);
    worst.at(0, "context_switch", kIdle).release(0, kHigh, 0, 100).finish();
    EXPECT_FALSE(worst.found().job) << "its response time is not known";
}

TEST(Story, UnitesWhatIsShortAndKeepsEachTick) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle).release(0, kHigh, 0, 100).change(0, kIdle, kHigh);
    for (std::uint64_t i = 0; i < 3000; ++i) {
        scene.at(10 + i * 20, "interrupt_start", kTimer).at(11 + i * 20, "interrupt_end", kTimer);
    }
    scene.at(60'020, "task_block", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(60'020, kHigh, kLow)
        .at(70'020, "task_unblock", kHigh, wait_word(lib::WaitKind::semaphore, 2))
        .change(70'020, kLow, kHigh)
        .at(80'020, "task_end_cycle", kHigh);
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

} // namespace host::analyse::why
