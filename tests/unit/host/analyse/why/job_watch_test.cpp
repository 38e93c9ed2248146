// SPDX-License-Identifier: MIT
// What is gathered of one job beside its window: counts, servers, protocols, places, and which job it is.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::why {

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr std::uint32_t kWaitSemaphore = wait_word(lib::WaitKind::semaphore, 2);

// Jobs of high, one each 1000 ticks, that take so long; each is due after 100.
WhyScene& jobs(WhyScene& scene, std::initializer_list<std::uint64_t> lengths, std::uint64_t now = 0) {
    scene.at(now, "context_switch", kIdle);
    for (const std::uint64_t length : lengths) {
        scene.release(now, kHigh, now, now + 100).change(now, kIdle, kHigh);
        scene.at(now + length, "task_end_cycle", kHigh).change(now + length, kHigh, kIdle);
        now += 1000;
    }
    return scene;
}

std::uint64_t number_of(Wanted wanted, std::initializer_list<std::uint64_t> lengths) {
    WhyScene scene(kHigh, wanted);
    jobs(scene, lengths);
    return scene.found().job ? scene.job().account.job.number : 0;
}

TEST(JobWatch, TakesTheFirstOfEqualJobsForTheWorst) {
    EXPECT_EQ(number_of({}, {50, 60, 60, 40}), 2U);
    EXPECT_EQ(number_of({}, {50, 60, 61, 40}), 3U);
    EXPECT_EQ(number_of({}, {}), 0U);
}

TEST(JobWatch, TakesTheWorstIfNoneMissed) {
    EXPECT_EQ(number_of({.which = Wanted::Which::first_miss}, {50, 100, 60}), 2U);
    EXPECT_EQ(number_of({.which = Wanted::Which::first_miss}, {50, 101, 160}), 2U);
    EXPECT_EQ(number_of({.which = Wanted::Which::first_miss}, {99, 98, 160, 170}), 3U);
}

TEST(JobWatch, FindsNoJobOfANumberThatThereIsNot) {
    EXPECT_EQ(number_of({.which = Wanted::Which::number, .number = 3}, {50, 60}), 0U);
    EXPECT_EQ(number_of({.which = Wanted::Which::number, .number = 1}, {50, 60}), 1U);
}

TEST(JobWatch, TakesTheFirstTaskThatHasTheNumber) {
    WhyScene scene(kHigh, {.which = Wanted::Which::number, .number = 1});
    jobs(scene, {50});
    scene.at(1000, "task_end", kHigh).at(1001, "task_create", kHigh);
    jobs(scene, {70}, 2000);
    EXPECT_EQ(scene.job().account.response(), lib::Ticks{50});
    EXPECT_EQ(scene.found().jobs, 2U);
}

TEST(JobWatch, CountsJobsOfEveryTaskThatFits) {
    WhyScene scene({}, [](std::uint32_t context) { return context != kIdle; });
    jobs(scene, {50, 120, 130});
    scene.release(5000, kMiddle, 5000, 5200).change(5000, kIdle, kMiddle).at(5300, "task_end_cycle", kMiddle);
    scene.release(6000, kLow, 6000, 9000).finish();
    const Found& found = scene.found();
    EXPECT_EQ(found.jobs, 5U);
    EXPECT_EQ(found.late, 3U);
    EXPECT_EQ(found.unknown, 1U);
    EXPECT_EQ(found.greatest_number, 3U);
    EXPECT_THAT(found.contexts, ElementsAre(kLow, kMiddle, kHigh));
    EXPECT_EQ(scene.job().account.job.context, kMiddle);
    EXPECT_EQ(found.row, 1U);
    EXPECT_FALSE(found.first);
}

TEST(JobWatch, CountsInterruptsWithinTheJobByVector) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle)
        .at(1, "interrupt_start", kTimer)
        .at(2, "interrupt_end", kTimer)
        .release(10, kHigh, 10, 110)
        .change(10, kIdle, kHigh)
        .at(20, "interrupt_start", kTimer)
        .at(21, "timer_wakeup_start")
        .at(22, "timer_wakeup_end")
        .at(23, "interrupt_end", kTimer)
        .at(24, "interrupt_hit", 33)
        .at(25, "interrupt_hit", 33)
        .at(30, "task_end_cycle", kHigh)
        .at(31, "interrupt_hit", 33);
    EXPECT_THAT(scene.job().interrupts,
                ElementsAre(Pair(kTimer, 1), Pair(33, 2), Pair(std::uint32_t{schedule::kTimerHandler}, 1)));
}

TEST(JobWatch, KeepsThePlacesOfTheReleaseAndTheEnd) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kIdle).release(10, kHigh, 8, 110).change(10, kIdle, kHigh);
    scene.at(30, "task_end_cycle", kHigh);
    EXPECT_EQ(scene.job().released.record, 1U);
    EXPECT_EQ(scene.job().ended.record, 7U);
    EXPECT_EQ(scene.job().parameters.value().wcet_ns, 50U);
    EXPECT_EQ(scene.job().parameters.value().deadline_ns, 100U);
    EXPECT_EQ(scene.job().names->find(tracer::Unit::context, kIdle), "idle");
}

TEST(JobWatch, KnowsWhatTasksOfTheWindowDeclare) {
    WhyScene scene(kMiddle);
    scene.at(0, "context_switch", kIdle)
        .release(0, kMiddle, 0, 150)
        .release(0, kHigh, 0, 100)
        .release(0, kServed, 0, 100)
        .change(0, kIdle, kHigh)
        .at(60, "task_end_cycle", kHigh)
        .change(60, kHigh, kMiddle)
        .at(140, "task_end_cycle", kMiddle);
    EXPECT_THAT(scene.job().declared_ns, ElementsAre(Pair(kMiddle, 100), Pair(kHigh, 50)));
}

TEST(JobWatch, KnowsTheServerOfTheTask) {
    WhyScene scene(kServed);
    const auto kind = static_cast<std::uint16_t>(lib::ServerKind::polling);
    scene.at(0, "server_create", 0, 8)
        .at(0, "server_create", 0, 9)
        .at(0, "server_kind", kind, 9)
        .at(0, "server_period", 9, 500)
        .at(0, "server_capacity", 9, 40)
        .at(0, "server_attach", 9, kServed)
        .at(0, "context_switch", kIdle)
        .at(5, "server_exhaust", 0, 9)
        .release(10, kServed, 10, 300)
        .change(10, kIdle, kServed)
        .at(50, "server_exhaust", 0, 9)
        .at(51, "server_exhaust", 0, 8)
        .at(60, "server_exhaust", 0, 9)
        .at(80, "task_end_cycle", kServed);
    const ServerFacts server = scene.job().server.value();
    EXPECT_EQ(server.id, 9U);
    EXPECT_EQ(server.kind, lib::ServerKind::polling);
    EXPECT_EQ(server.capacity_ns, 40U);
    EXPECT_EQ(server.period_ns, 500U);
    EXPECT_EQ(server.exhausted, 2U) << "within the job";
}

TEST(JobWatch, KnowsOnlyTheNumberOfAServerThatWasCreatedBefore) {
    WhyScene scene(kServed);
    scene.at(0, "server_attach", 9, kServed).at(0, "context_switch", kIdle).release(10, kServed, 10, 300);
    scene.change(10, kIdle, kServed).at(80, "task_end_cycle", kServed);
    EXPECT_EQ(scene.job().server.value().id, 9U);
    EXPECT_FALSE(scene.job().server.value().kind);
    WhyScene other(kHigh);
    jobs(other, {50});
    EXPECT_FALSE(other.job().server);
}

// High waits for the mutex 7, which low holds, and then for 8, whose protocol has no name.
TEST(JobWatch, KnowsTheProtocolsOfTheMutexesThatItWaitedFor) {
    WhyScene scene(kHigh);
    scene.at(0, "context_switch", kLow)
        .at(1, "set_mutex_protocol", static_cast<std::uint16_t>(lib::MutexProtocol::ceiling), 7)
        .at(1, "set_mutex_protocol", 99, 8)
        .release(2, kLow, 2, 3000)
        .at(3, "set_mutex_acquire", kLow, 7)
        .at(4, "set_mutex_acquire", kLow, 8)
        .release(20, kHigh, 20, 120)
        .change(20, kLow, kHigh)
        .at(30, "set_mutex_block", kHigh, 7)
        .change_for(30, kHigh, kLow, kHigh)
        .at(50, "set_mutex_unlock", kLow, 7)
        .change(50, kLow, kHigh)
        .at(51, "set_mutex_acquire", kHigh, 7)
        .at(60, "set_mutex_block", kHigh, 8)
        .change_for(60, kHigh, kLow, kHigh)
        .at(90, "set_mutex_unlock", kLow, 8)
        .change(90, kLow, kHigh)
        .at(99, "task_end_cycle", kHigh);
    EXPECT_THAT(scene.job().protocols, ElementsAre(Pair(7, lib::MutexProtocol::ceiling), Pair(8, std::nullopt)));
}

TEST(JobWatch, KeepsAWaitThatDidNotEnd) {
    const auto ended = [](std::string_view how, std::uint64_t woken) {
        WhyScene scene(kHigh);
        scene.at(0, "context_switch", kIdle)
            .release(0, kHigh, 0, 100)
            .change(0, kIdle, kHigh)
            .at(10, "task_block", kHigh, kWaitSemaphore)
            .change(10, kHigh, kIdle);
        if (woken != 0) {
            scene.at(woken, "task_unblock", kHigh, kWaitSemaphore).change(woken, kIdle, kHigh);
        }
        scene.at(60, how, kHigh).finish();
        const std::optional<schedule::Piece>& wait = scene.job().unended_wait;
        return wait ? wait->end.value - wait->begin.value : 0;
    };
    EXPECT_EQ(ended("job_abort", 0), 50U);
    EXPECT_EQ(ended("task_end", 0), 50U);
    EXPECT_EQ(ended("task_end_cycle", 0), 0U);
    EXPECT_EQ(ended("job_abort", 55), 0U);
}

// The second job begins late because of the first, the fourth because of the third, which did not.
TEST(JobWatch, BeginsARowOfJobsWhereOneWasNotLate) {
    const auto row = [](std::uint64_t number) {
        WhyScene scene(kHigh, {.which = Wanted::Which::number, .number = number});
        scene.at(0, "context_switch", kIdle).release(0, kHigh, 0, 100).change(0, kIdle, kHigh);
        scene.at(130, "task_end_cycle", kHigh).release(130, kHigh, 100, 200).at(180, "task_end_cycle", kHigh);
        scene.change(180, kHigh, kIdle).release(300, kHigh, 300, 400).change(300, kIdle, kHigh);
        scene.at(450, "task_end_cycle", kHigh);
        scene.release(451, kHigh, 400, 500).at(490, "task_end_cycle", kHigh);
        const Found& found = scene.found();
        return std::pair(found.row, found.first ? found.first->account.job.number : 0);
    };
    EXPECT_EQ(row(1), std::pair(1UL, 0UL));
    EXPECT_EQ(row(2), std::pair(2UL, 1UL));
    EXPECT_EQ(row(3), std::pair(1UL, 0UL));
    EXPECT_EQ(row(4), std::pair(2UL, 3UL));
}

} // namespace

} // namespace host::analyse::why
