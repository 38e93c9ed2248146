// SPDX-License-Identifier: MIT
// Tests what is gathered of one job beside its window: counts, servers, protocols, places, and which job it is.
#include "tests/support/why_scene.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace host::analyse::why::job_watch_test {

namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// Jobs of high, one each 1000 ticks, that take so long; each is due after 100.
WhyScene& jobs(WhyScene& scene, std::initializer_list<std::uint64_t> lengths, std::uint64_t now = 0) {
    scene.play(fmt::format("{} switch idle", now));
    for (const std::uint64_t length : lengths) {
        scene.play(fmt::format("{} release high due {}, idle -> high; {} complete high, high -> idle", now, now + 100,
                               now + length));
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
    scene.play("1000 end high; 1001 create high");
    jobs(scene, {70}, 2000);
    EXPECT_EQ(scene.job().account.response(), lib::Ticks{50});
    EXPECT_EQ(scene.found().jobs, 2U);
}

TEST(JobWatch, CountsJobsOfEveryTaskThatFits) {
    WhyScene scene({}, [](std::uint32_t context) { return context != kIdle; });
    jobs(scene, {50, 120, 130});
    scene.play("5000 release middle due 5200, idle -> middle; 5300 complete middle; 6000 release low due 9000");
    scene.finish();
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
    WhyScene scene(kHigh, R"(0 switch idle; 1 irq 32; 2 iret 32; 10 release high due 110, idle -> high; 20 irq 32
                             21 timer; 22 timer_end; 23 iret 32; 24 interrupt_hit 33; 25 interrupt_hit 33
                             30 complete high; 31 interrupt_hit 33)");
    EXPECT_THAT(scene.job().interrupts,
                ElementsAre(Pair(kTimer, 1), Pair(33, 2), Pair(std::uint32_t{schedule::kTimerHandler}, 1)));
}

TEST(JobWatch, KeepsThePlacesOfTheReleaseAndTheEnd) {
    WhyScene scene(kHigh, "0 switch idle; 10 release high at 8 due 110, idle -> high; 30 complete high");
    EXPECT_EQ(scene.job().released.record, 1U);
    EXPECT_EQ(scene.job().ended.record, 7U);
    EXPECT_EQ(scene.job().parameters.value().wcet_ns, 50U);
    EXPECT_EQ(scene.job().parameters.value().deadline_ns, 100U);
    EXPECT_EQ(scene.job().names->find(tracer::Unit::context, kIdle), "idle");
}

TEST(JobWatch, KnowsWhatTasksOfTheWindowDeclare) {
    WhyScene scene(kMiddle, R"(0 switch idle, release middle due 150, release high due 100, release served due 100
                               idle -> high; 60 complete high, high -> middle; 140 complete middle)");
    EXPECT_THAT(scene.job().declared_ns, ElementsAre(Pair(kMiddle, 100), Pair(kHigh, 50)));
}

TEST(JobWatch, KnowsTheServerOfTheTask) {
    WhyScene scene(kServed, R"(0 server_create 0 8, server 9 polling capacity 40 period 500 for served, switch idle
                               5 exhaust 9; 10 release served due 300, idle -> served; 50 exhaust 9; 51 exhaust 8
                               60 exhaust 9; 80 complete served)");
    const ServerFacts server = scene.job().server.value();
    EXPECT_EQ(server.id, 9U);
    EXPECT_EQ(server.kind, lib::ServerKind::polling);
    EXPECT_EQ(server.capacity_ns, 40U);
    EXPECT_EQ(server.period_ns, 500U);
    EXPECT_EQ(server.exhausted, 2U) << "within the job";
}

// A request of task 9 is served before that of served, of the same polling server.
TEST(JobWatch, KnowsWhatTheServerHadLeftAtTheRelease) {
    const auto server = [](std::string_view before) {
        WhyScene scene(kServed);
        scene.play("0 server 9 polling capacity 40 period 500 for served, server_attach 9 9, switch idle");
        scene.play(before);
        scene.play("100 release served due 600, idle -> served; 120 complete served");
        return scene.job().server.value();
    };
    EXPECT_EQ(server("10 budget 9 40").left, lib::Ticks{40});
    EXPECT_EQ(server("10 budget 9 15").left, lib::Ticks{15});
    EXPECT_EQ(server("10 budget 9 0").found_none, lib::Ticks{10}) << "it polled in vain";
    EXPECT_FALSE(server("10 budget 9 0, exhaust 9").found_none) << "a request used it up";
    EXPECT_FALSE(server("10 budget 9 0; 20 budget 9 40").found_none);
    EXPECT_FALSE(server("10 budget 9 40, idle -> 9").left) << "it serves another request meanwhile";
}

TEST(JobWatch, KnowsOnlyTheNumberOfAServerThatWasCreatedBefore) {
    WhyScene scene(kServed, R"(0 server_attach 9 served, switch idle; 10 release served due 300, idle -> served
                               80 complete served)");
    EXPECT_EQ(scene.job().server.value().id, 9U);
    EXPECT_FALSE(scene.job().server.value().kind);
    WhyScene other(kHigh);
    jobs(other, {50});
    EXPECT_FALSE(other.job().server);
}

// High waits for the mutex 7, which low holds, and then for 8, whose protocol has no name.
TEST(JobWatch, KnowsTheProtocolsOfTheMutexesThatItWaitedFor) {
    WhyScene scene(kHigh, R"(0 switch low; 1 protocol 7 ceiling, protocol 8 99; 2 release low due 3000; 3 acquire low 7
                             4 acquire low 8; 20 release high due 120, low -> high
                             30 blocked high 7, high -> low for high; 50 unlock low 7, low -> high; 51 acquire high 7
                             60 blocked high 8, high -> low for high; 90 unlock low 8, low -> high; 99 complete high)");
    const auto findings = diagnose(scene.job(), 0).findings;
    EXPECT_EQ(chain_text(findings[0]), "8 of 3 unknown");
    EXPECT_EQ(chain_text(findings[1]), "7 of 3 ceiling");
}

TEST(JobWatch, KeepsAWaitThatDidNotEnd) {
    const auto ended = [](std::string_view how, std::uint64_t woken) {
        WhyScene scene(kHigh, R"(0 switch idle, release high due 100, idle -> high
                                 10 wait high semaphore 2, high -> idle)");
        if (woken != 0) {
            scene.play(fmt::format("{} wake high semaphore 2, idle -> high", woken));
        }
        scene.play(fmt::format("60 {} high", how)).finish();
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
        scene.play(R"(0 switch idle, release high due 100, idle -> high; 130 complete high, release high at 100 due 200
                      180 complete high, high -> idle; 300 release high due 400, idle -> high; 450 complete high
                      451 release high at 400 due 500; 490 complete high)");
        const Found& found = scene.found();
        return std::pair(found.row, found.first ? found.first->account.job.number : 0);
    };
    EXPECT_EQ(row(1), std::pair(1UL, 0UL));
    EXPECT_EQ(row(2), std::pair(2UL, 1UL));
    EXPECT_EQ(row(3), std::pair(1UL, 0UL));
    EXPECT_EQ(row(4), std::pair(2UL, 3UL));
}

// The third job is not late, the fourth is not complete.
TEST(JobWatch, ReportsEachLateJobWithTheFirstOfItsRow) {
    WhyScene scene(kHigh);
    std::vector<std::string> late;
    scene.listen([&](const Found& found) {
        late.push_back(fmt::format("{} of {} from {}, {} causes", found.job->account.job.number, found.row,
                                   found.first ? found.first->account.job.number : 0,
                                   diagnose(*found.job, 0).findings.size()));
    });
    scene
        .play(R"(0 switch idle, release high due 100, idle -> high; 130 complete high, release high at 100 due 200
                  210 complete high, high -> idle; 300 release high due 400, idle -> high; 350 complete high
                  351 high -> idle; 600 release high due 700, idle -> high)")
        .finish();
    EXPECT_THAT(late, ElementsAre("1 of 1 from 0, 2 causes", "2 of 2 from 1, 3 causes"));
}

} // namespace

} // namespace host::analyse::why::job_watch_test
