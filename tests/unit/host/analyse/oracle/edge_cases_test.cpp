// SPDX-License-Identifier: MIT
// Cases beside the usual course of jobs, servers and decisions: what they violate, and what they leave undecided.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::Scene;
using testing::HasSubstr;

class OracleEdgeCases : public support::OracleTest {};

constexpr std::uint32_t kSemaphore = (1U << 16) | 7U;

// Due at 900, of 600 declared.
Scene running(std::uint32_t khz = 1'000'000) {
    Scene scene(khz);
    scene.hard(12, Scene::kEdf, 600, 1000, 800).at(100).release(12, 100, 900).run(12);
    return scene;
}

TEST_F(OracleEdgeCases, AJobContinuesAfterAChangeOfItsDeadline) {
    Scene scene = running();
    scene.event("deadline_change", 12, 1).event("job_deadline", 12, 1100).at(800).end_job(12);
    EXPECT_TRUE(violates(Rule::wcet_violation, scene)) << "its execution since the release counts";
}

TEST_F(OracleEdgeCases, ADeadlineOfATaskThatIsNotDescribedIsNotJudged) {
    Scene scene;
    scene.event("task_create", 40).release(40, 100, 900);
    EXPECT_FALSE(violates(Rule::edf_deadline, scene));
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 1U);
}

TEST_F(OracleEdgeCases, ATaskThatIsDisabledHasNoActivationsLeft) {
    const auto queued = [](bool disabled) {
        Scene scene;
        scene.task(12, "load", {.level = Scene::kRr}).event("task_activate", 12).release(12, 10).run(12);
        scene.event("task_activate", 12);
        if (disabled) {
            scene.event("task_disable", 12);
        }
        return scene.event("job_queued", 12, 1);
    };
    EXPECT_FALSE(violates(Rule::skip_save, queued(false)));
    EXPECT_TRUE(violates(Rule::skip_save, queued(true)));
}

TEST_F(OracleEdgeCases, ATaskThatIsDisabledInTimeMissesNothing) {
    Scene scene = running();
    scene.at(300).leave(12).event("task_disable", 12).run(Scene::kIdle);
    EXPECT_FALSE(violates(Rule::deadline_miss, scene));
}

// 12 holds a stack mutex: who inherits through it begins no job.
TEST_F(OracleEdgeCases, AnInheritanceIsNoStartOfAJob) {
    Scene scene;
    scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, 8'000'000).mutex(1, 3, 300).at(100);
    scene.release(12, 100, 9'000'100).release(13, 101, 8'000'101).run(13, 0, true).event("set_mutex_lock", 13, 1);
    scene.event("set_mutex_acquire", 13, 1);
    judge(scene);
    const Tally before = of(Rule::srp_start);
    judge(scene.event("set_mutex_inherit", 12, 1));
    EXPECT_EQ(of(Rule::srp_start).checked, before.checked);
    EXPECT_EQ(of(Rule::srp_start).undecided, before.undecided);
}

TEST_F(OracleEdgeCases, AMissIsNotJudgedWithoutARate) {
    EXPECT_FALSE(violates(Rule::deadline_miss, running(0).event("task_deadline_miss", 12)));
    EXPECT_EQ(of(Rule::deadline_miss).undecided, 1U);
    EXPECT_TRUE(violates(Rule::deadline_miss, running().event("task_deadline_miss", 12)));
}

TEST_F(OracleEdgeCases, OnlyTasksWithDeadlinesOweAReportOfAnOverrun) {
    const auto ran = [](std::uint16_t level) {
        Scene scene;
        scene.task(12, "x", {.level = level, .wcet_ns = 100, .period_ns = 9000, .deadline_ns = 9000}).at(100);
        return scene.release(12, 100, 9100).run(12).at(500).end_job(12);
    };
    EXPECT_TRUE(violates(Rule::wcet_violation, ran(Scene::kEdf)));
    EXPECT_FALSE(violates(Rule::wcet_violation, ran(Scene::kRr)));
}

// One report of a miss too many does not count against the next one.
TEST_F(OracleEdgeCases, EachMissTooManyIsOneViolation) {
    Scene scene = running();
    scene.at(300).event("task_deadline_miss", 12).event("task_deadline_miss", 12);
    judge(scene);
    EXPECT_EQ(of(Rule::deadline_miss).violations, 2U);
    scene.at(920).event("task_schedule", 12, 12);
    judge(scene);
    EXPECT_EQ(of(Rule::deadline_miss).violations, 3U) << "and none of them was that of the deadline";
}

// 12 is due at 400, 13 at 300, 14 at 350; 15, due at 900, runs.
TEST_F(OracleEdgeCases, TheMostUrgentPlaceThatWasPassedOverIsNamed) {
    const auto passed_over = [this](std::uint32_t first, std::uint32_t second, std::uint32_t third) {
        Scene scene;
        std::uint16_t context = 12;
        for (const std::uint32_t deadline : {first, second, third, 900U}) {
            scene.hard(context++, Scene::kEdf, 1, 10'000, deadline - 100);
        }
        scene.at(100);
        context = 12;
        for (const std::uint32_t deadline : {first, second, third, 900U}) {
            scene.release(context++, 100, deadline);
        }
        judge(scene.run(15));
        return m_texts.at(0);
    };
    EXPECT_THAT(passed_over(400, 300, 350), HasSubstr("hard13 (13) with the deadline 300 ticks comes first"));
    EXPECT_THAT(passed_over(300, 400, 350), HasSubstr("hard12 (12) with the deadline 300 ticks comes first"));
    EXPECT_THAT(passed_over(400, 350, 300), HasSubstr("hard14 (14) with the deadline 300 ticks comes first"));
}

// 12 holds a ceiling mutex; where 13 has its place is not known.
TEST_F(OracleEdgeCases, ACeilingIsNotJudgedOfATaskThatDoesNotRun) {
    const auto judged = [this](std::string_view what, bool gap) {
        Scene scene;
        scene.hard(12, Scene::kEdf, 50, 9'000'000).hard(13, Scene::kEdf, 50, 800'000).mutex(1, 2, 300).mutex(2, 2, 100);
        scene.at(100).release(12, 100, 9'000'100).release(13, 100, 800'100).run(13).leave(13);
        if (gap) {
            scene.event("blackout_start").event("blackout_end", 0, 5).release(13, 200, 800'200);
            scene.event("set_mutex_ceiling", 1, 300).event("set_mutex_ceiling", 2, 100);
            scene.event("set_mutex_unlock", 12, 1).event("set_mutex_unlock", 12, 2);
        } else {
            scene.run(12);
        }
        scene.event("set_mutex_acquire", 12, 1).event(what, 13, 1);
        judge(scene);
    };
    judged("set_mutex_block", false);
    EXPECT_EQ(of(Rule::pc_block).checked, 0U);
    EXPECT_EQ(of(Rule::pc_block).undecided, 1U);
    judged("set_mutex_block", true);
    EXPECT_EQ(of(Rule::pc_block).checked, 0U) << "who left the processor before a gap";
    EXPECT_EQ(of(Rule::pc_block).undecided, 1U);
}

// Q = 100, T = 1000.
Scene server(std::uint16_t kind) {
    Scene scene;
    scene.at(480).task(12, "soft", {.level = kind == 1 ? Scene::kCbs : Scene::kServed});
    return scene.server(3, kind, 100, 1000, 12);
}

TEST_F(OracleEdgeCases, AnArrivalWithoutARecordOfItsBudgetIsJudgedByItsDeadline) {
    const auto arrives = [](std::uint32_t deadline) {
        Scene scene = server(1);
        return scene.at(500).event("server_active", 12, 3).event("server_deadline", 3, deadline);
    };
    EXPECT_FALSE(violates(Rule::cbs_arrival, arrives(1500)));
    EXPECT_EQ(of(Rule::cbs_arrival).checked, 1U);
    EXPECT_TRUE(violates(Rule::cbs_arrival, arrives(1700)));
}

TEST_F(OracleEdgeCases, AnArrivalThatKeepsAnUnknownBudgetIsNotJudged) {
    Scene scene = server(1);
    scene.event("server_deadline", 3, 1500).at(500).event("server_active", 12, 3).event("server_deadline", 3, 1500);
    EXPECT_FALSE(violates(Rule::cbs_arrival, scene));
    EXPECT_EQ(of(Rule::cbs_arrival).undecided, 1U);
}

TEST_F(OracleEdgeCases, APollingServerMayBeReplenishedToNothing) {
    const auto replenished = [](std::uint16_t kind, bool request) {
        Scene scene = server(kind);
        if (request) {
            scene.release(12, 490);
        }
        return scene.at(500).event("server_replenish", 0, 3).event("server_budget", 3, 0);
    };
    EXPECT_FALSE(violates(Rule::server_replenish, replenished(3, false)));
    EXPECT_TRUE(violates(Rule::server_replenish, replenished(3, true)));
    EXPECT_TRUE(violates(Rule::server_replenish, replenished(4, false)));
}

// After a gap it is not known whether the request is ready.
TEST_F(OracleEdgeCases, APollingServerMayHaveARequestThatIsNotKnown) {
    const auto loses = [](std::string_view known) {
        Scene scene = server(3);
        scene.event("blackout_start").event("blackout_end", 0, 5).event("server_attach", 3, 12);
        if (!known.empty()) {
            scene.event(known, 12, 500);
        }
        scene.event("server_budget", 3, 100).at(600).event("server_budget", 3, 0);
        return scene.event("task_schedule", 14, 14);
    };
    EXPECT_FALSE(violates(Rule::server_replenish, loses("")));
    EXPECT_EQ(of(Rule::server_replenish).checked, 1U);
    EXPECT_FALSE(violates(Rule::server_budget, loses("")));
    EXPECT_TRUE(violates(Rule::server_budget, loses("job_release"))) << "it has a request";
    const auto keeps = [](std::string_view known) {
        Scene scene = server(3);
        scene.event("blackout_start").event("blackout_end", 0, 5).event("server_attach", 3, 12);
        if (!known.empty()) {
            scene.event(known, 12, 2U << 16);
        }
        return scene.event("server_budget", 3, 100).event("task_schedule", 14, 14);
    };
    EXPECT_FALSE(violates(Rule::server_replenish, keeps("")));
    EXPECT_TRUE(violates(Rule::server_replenish, keeps("task_block")));
}

// 105 ran of 100: nothing is left, but for the tolerance of two intervals.
TEST_F(OracleEdgeCases, ABudgetThatIsUsedUpIsNothing) {
    expect_limits(Rule::server_budget, std::nullopt, 20, [](std::uint64_t left) {
        Scene scene = server(4);
        scene.event("server_budget", 3, 100).at(490).release(12, 490).at(500).run(12).at(605).leave(12);
        return scene.event("server_budget", 3, static_cast<std::uint32_t>(left));
    });
}

// 12 and 13 wait; nothing is known of the order of a task without a policy.
TEST_F(OracleEdgeCases, TheOrderOfWakingIsNotKnownBesideATaskWithoutAPolicy) {
    Scene scene;
    scene.event("set_semaphore_create", 0, 7).hard(12, Scene::kEdf, 50, 900).event("task_create", 40);
    scene.release(12, 100, 1000).release(40, 100);
    for (const std::uint16_t context : {std::uint16_t{12}, std::uint16_t{40}}) {
        scene.run(context).event("set_mutex_wait", context, 7).leave(context).event("task_block", context, kSemaphore);
    }
    scene.event("set_mutex_post", 0, 7).event("task_unblock", 12, kSemaphore);
    EXPECT_FALSE(violates(Rule::wake_order, scene));
    EXPECT_EQ(of(Rule::wake_order).undecided, 1U);
    EXPECT_EQ(of(Rule::wake_order).checked, 0U);
}

TEST_F(OracleEdgeCases, NothingIsDecidedOnASecondProcessorOrAfterADamagedEvent) {
    Scene scene = running();
    scene.event("task_deadline_miss", 12);
    scene.chunk.begin.cpu = 1;
    EXPECT_FALSE(violates(Rule::deadline_miss, scene));
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("a second processor")));
}

} // namespace

} // namespace host::analyse::oracle
