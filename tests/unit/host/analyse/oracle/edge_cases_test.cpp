// SPDX-License-Identifier: MIT
// Tests cases beside the usual course of jobs, servers and decisions: what they violate, and what they leave undecided.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::edge_cases_test {

namespace {

using support::Scene;
using testing::HasSubstr;

class OracleEdgeCases : public support::OracleTest {};

// Due at 900, of 600 declared.
Scene running(std::uint32_t khz = 1'000'000) {
    return Scene("hard 12 edf 600 1000 800; 100 release 12 by timer due 900, dispatch 12", khz);
}

TEST_F(OracleEdgeCases, AJobContinuesAfterAChangeOfItsDeadline) {
    Scene scene = running();
    scene.play("deadline_change 12 1, due 12 1100; 800 finish 12");
    EXPECT_TRUE(violates(Rule::wcet_violation, scene)) << "its execution since the release counts";
}

TEST_F(OracleEdgeCases, ADeadlineOfATaskThatIsNotDescribedIsNotJudged) {
    Scene scene("create 40, release 40 by timer at 100 due 900");
    EXPECT_FALSE(violates(Rule::edf_deadline, scene));
    EXPECT_EQ(of(Rule::edf_deadline).undecided, 1U);
}

TEST_F(OracleEdgeCases, ATaskThatIsDisabledHasNoActivationsLeft) {
    const auto queued = [](bool disabled) {
        Scene scene("task 12 load rr, activate 12, release 12 at 10, dispatch 12, activate 12");
        if (disabled) {
            scene.play("disable 12");
        }
        return scene.play("job_queued 12 1");
    };
    EXPECT_FALSE(violates(Rule::skip_save, queued(false)));
    EXPECT_TRUE(violates(Rule::skip_save, queued(true)));
}

TEST_F(OracleEdgeCases, ATaskThatIsDisabledInTimeMissesNothing) {
    Scene scene = running();
    scene.play("300 leave 12, disable 12, dispatch idle");
    EXPECT_FALSE(violates(Rule::deadline_miss, scene));
}

// 12 holds a stack mutex: who inherits through it begins no job.
TEST_F(OracleEdgeCases, AnInheritanceIsNoStartOfAJob) {
    Scene scene(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 8'000'000, mutex 1 stack 300
                   100 release 12 by timer due 9'000'100, release 13 by timer at 101 due 8'000'101
                   dispatch 13 first, lock 13 1, acquire 13 1)");
    judge(scene);
    const Tally before = of(Rule::srp_start);
    judge(scene.play("set_mutex_inherit 12 1"));
    EXPECT_EQ(of(Rule::srp_start).checked, before.checked);
    EXPECT_EQ(of(Rule::srp_start).undecided, before.undecided);
}

TEST_F(OracleEdgeCases, AMissIsNotJudgedWithoutARate) {
    EXPECT_FALSE(violates(Rule::deadline_miss, running(0).play("miss 12")));
    EXPECT_EQ(of(Rule::deadline_miss).undecided, 1U);
    EXPECT_TRUE(violates(Rule::deadline_miss, running().play("miss 12")));
}

TEST_F(OracleEdgeCases, OnlyTasksWithDeadlinesOweAReportOfAnOverrun) {
    const auto ran = [](std::uint16_t level) {
        return Scene(fmt::format(R"(task 12 x {} wcet 100 period 9000 deadline 9000
                                    100 release 12 by timer due 9100, dispatch 12; 500 finish 12)",
                                 level));
    };
    EXPECT_TRUE(violates(Rule::wcet_violation, ran(Scene::kEdf)));
    EXPECT_FALSE(violates(Rule::wcet_violation, ran(Scene::kRr)));
}

// One report of a miss too many does not count against the next one.
TEST_F(OracleEdgeCases, EachMissTooManyIsOneViolation) {
    Scene scene = running();
    scene.play("300 miss 12, miss 12");
    judge(scene);
    EXPECT_EQ(of(Rule::deadline_miss).violations, 2U);
    scene.play("920 choose 12");
    judge(scene);
    EXPECT_EQ(of(Rule::deadline_miss).violations, 3U) << "and none of them was that of the deadline";
}

// 12 is due at 400, 13 at 300, 14 at 350; 15, due at 900, runs.
TEST_F(OracleEdgeCases, TheMostUrgentPlaceThatWasPassedOverIsNamed) {
    const auto passed_over = [this](std::uint32_t first, std::uint32_t second, std::uint32_t third) {
        Scene scene;
        std::uint16_t context = 12;
        for (const std::uint32_t deadline : {first, second, third, 900U}) {
            scene.play(fmt::format("hard {} edf 1 10'000 {}", context++, deadline - 100));
        }
        scene.play("100");
        context = 12;
        for (const std::uint32_t deadline : {first, second, third, 900U}) {
            scene.play(fmt::format("release {} by timer at 100 due {}", context++, deadline));
        }
        judge(scene.play("dispatch 15"));
        return m_texts.at(0);
    };
    EXPECT_THAT(passed_over(400, 300, 350), HasSubstr("hard13 (13) with the deadline 300 ticks comes first"));
    EXPECT_THAT(passed_over(300, 400, 350), HasSubstr("hard12 (12) with the deadline 300 ticks comes first"));
    EXPECT_THAT(passed_over(400, 350, 300), HasSubstr("hard14 (14) with the deadline 300 ticks comes first"));
}

// 12 holds a ceiling mutex; where 13 has its place is not known.
TEST_F(OracleEdgeCases, ACeilingIsNotJudgedOfATaskThatDoesNotRun) {
    const auto judged = [this](std::string_view what, bool gap) {
        Scene scene(R"(hard 12 edf 50 9'000'000, hard 13 edf 50 800'000, mutex 1 ceiling 300, mutex 2 ceiling 100
                       100 release 12 by timer due 9'000'100, release 13 by timer due 800'100, dispatch 13, leave 13)");
        if (gap) {
            scene.play(R"(blackout, lost 5, release 13 by timer at 200 due 800'200, set_mutex_ceiling 1 300
                          set_mutex_ceiling 2 100, unlock 12 1, unlock 12 2)");
        } else {
            scene.play("dispatch 12");
        }
        scene.play(fmt::format("acquire 12 1, {} 13 1", what));
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
    return Scene(fmt::format("480 task 12 soft {}, server 3 {} capacity 100 period 1000 for 12",
                             kind == 1 ? Scene::kCbs : Scene::kServed, kind));
}

// A task that waited for the mutex lends its place to the next one that gets it: a server that was parked refills
// first.
TEST_F(OracleEdgeCases, AServerMayTakeItsPlaceAgainBetweenALockAndTheAcquisition) {
    const auto locks = [](std::string_view between) {
        Scene scene = server(1);
        scene.play("hard 13 edf 50 9'000'000, mutex 1 inheritance; 490 release 13 by timer due 9'000'490, dispatch 13");
        for (int i = 0; i < 9; ++i) {
            scene.play("lock 13 1, acquire 13 1, unlock 13 1");
        }
        return scene.play(fmt::format("lock 13 1, {}, acquire 13 1", between));
    };
    EXPECT_FALSE(
        violates(Rule::record_order, locks("server_active 12 3, server_budget 3 100, server_deadline 3 1500")));
    EXPECT_TRUE(violates(Rule::record_order, locks("server_budget 3 100")));
}

// Once it has held, each overrun has the reaction to it, and each reaction what it is to. In a blackout only the
// records that are important are kept.
TEST_F(OracleEdgeCases, WhatATaskDidWrongAndTheReactionComeInOnePiece) {
    const auto then = [](std::string_view next) {
        Scene scene = running();
        for (unsigned i = 0; i < 4; ++i) {
            scene.play("overrun 12, task_exception 12 0x20000");
        }
        return scene.play(next);
    };
    EXPECT_FALSE(violates(Rule::record_order, then("miss 12, task_exception 12 0x10002, task_exception 12 0x40002")));
    for (const std::string_view forged :
         {"overrun 12, begin 12", "task_exception 12 0x20001", "overrun 12, task_exception 12 0x10000",
          "overrun 12, task_exception 13 0x20000", "activation_violation 12 0, begin 12"}) {
        EXPECT_TRUE(violates(Rule::record_order, then(forged))) << forged;
    }
    EXPECT_FALSE(violates(Rule::record_order, then("blackout, miss 12, miss 13, lost 4")));
}

TEST_F(OracleEdgeCases, AnArrivalWithoutARecordOfItsBudgetIsJudgedByItsDeadline) {
    const auto arrives = [](std::uint32_t deadline) {
        Scene scene = server(1);
        return scene.play(fmt::format("500 server_active 12 3, server_deadline 3 {}", deadline));
    };
    EXPECT_FALSE(violates(Rule::cbs_arrival, arrives(1500)));
    EXPECT_EQ(of(Rule::cbs_arrival).checked, 1U);
    EXPECT_TRUE(violates(Rule::cbs_arrival, arrives(1700)));
}

TEST_F(OracleEdgeCases, AnArrivalThatKeepsAnUnknownBudgetIsNotJudged) {
    Scene scene = server(1);
    scene.play("server_deadline 3 1500; 500 server_active 12 3, server_deadline 3 1500");
    EXPECT_FALSE(violates(Rule::cbs_arrival, scene));
    EXPECT_EQ(of(Rule::cbs_arrival).undecided, 1U);
}

TEST_F(OracleEdgeCases, APollingServerMayBeReplenishedToNothing) {
    const auto replenished = [](std::uint16_t kind, bool request) {
        Scene scene = server(kind);
        if (request) {
            scene.play("release 12 at 490");
        }
        return scene.play("500 replenish 3, budget 3 0");
    };
    EXPECT_FALSE(violates(Rule::server_replenish, replenished(3, false)));
    EXPECT_TRUE(violates(Rule::server_replenish, replenished(3, true)));
    EXPECT_TRUE(violates(Rule::server_replenish, replenished(4, false)));
}

// After a gap it is not known whether the request is ready.
TEST_F(OracleEdgeCases, APollingServerMayHaveARequestThatIsNotKnown) {
    const auto loses = [](std::string_view known) {
        Scene scene = server(3);
        scene.play("blackout, lost 5, dispatch idle, job_queued 14, server_attach 3 12");
        if (!known.empty()) {
            scene.play(fmt::format("{} 12 500", known));
        }
        return scene.play("budget 3 100; 600 budget 3 0, choose 14");
    };
    EXPECT_FALSE(violates(Rule::server_replenish, loses("")));
    EXPECT_EQ(of(Rule::server_replenish).checked, 1U);
    EXPECT_FALSE(violates(Rule::server_budget, loses("")));
    EXPECT_TRUE(violates(Rule::server_budget, loses("job_release"))) << "it has a request";
    const auto keeps = [](std::string_view decision) {
        Scene scene = server(3);
        return scene
            .play(
                "blackout, lost 5, activate 14, job_queued 14, server_attach 3 12, task_block 12 0x20000, budget 3 100")
            .play(decision)
            .play("choose 14");
    };
    EXPECT_FALSE(violates(Rule::server_replenish, keeps(""))) << "another task may have a request";
    EXPECT_TRUE(violates(Rule::server_replenish, keeps("choose idle"))) << "now it is known that none has";
}

// 105 ran of 100: nothing is left, but for the tolerance of two intervals.
TEST_F(OracleEdgeCases, ABudgetThatIsUsedUpIsNothing) {
    expect_limits(Rule::server_budget, std::nullopt, 20, [](std::uint64_t left) {
        Scene scene = server(4);
        return scene.play(
            fmt::format("budget 3 100; 490 release 12; 500 dispatch 12; 605 leave 12, budget 3 {}", left));
    });
}

// 12 and 13 wait; nothing is known of the order of a task without a policy.
TEST_F(OracleEdgeCases, TheOrderOfWakingIsNotKnownBesideATaskWithoutAPolicy) {
    Scene scene(R"(set_semaphore_create 0 7, hard 12 edf 50 900, create 40, release 12 by timer at 100 due 1000
                   release 40 at 100)");
    for (const std::uint16_t context : {std::uint16_t{12}, std::uint16_t{40}}) {
        scene.play(fmt::format("dispatch {}, set_mutex_wait {} 7, leave {}, wait {} semaphore 7", context, context,
                               context, context));
    }
    scene.play("set_mutex_post 0 7, wake 12 semaphore 7");
    EXPECT_FALSE(violates(Rule::wake_order, scene));
    EXPECT_EQ(of(Rule::wake_order).undecided, 1U);
    EXPECT_EQ(of(Rule::wake_order).checked, 0U);
}

TEST_F(OracleEdgeCases, NothingIsDecidedOnASecondProcessorOrAfterADamagedEvent) {
    Scene scene = running();
    scene.play("miss 12");
    scene.chunk.begin.cpu = 1;
    EXPECT_FALSE(violates(Rule::deadline_miss, scene));
    EXPECT_THAT(m_relaxations, testing::Contains(HasSubstr("a second processor")));
}

TEST_F(OracleEdgeCases, WhatAProcessorRunsIsNotKnownAfterALossOnItOrAFilter) {
    const auto violations = [](std::string_view meanwhile) {
        const trace::Names names;
        trace::TraceFacts facts;
        facts.clock.mode = tracer::ClockMode::icount;
        facts.chunks.resize(1);
        facts.chunks.front().described = true;
        Oracle oracle([](const Finding&) {}, std::nullopt);
        support::SceneReader reader;
        const std::string text = fmt::format("10 switch 12 @1; {} 20 switch 12; 90'000 switch 12", meanwhile);
        for (trace::Event event : reader.read(text)) {
            event.names = &names;
            oracle.add(event, facts);
        }
        return oracle.verdicts().of(Rule::one_processor).violations;
    };
    EXPECT_EQ(violations(""), 1U);
    EXPECT_EQ(violations("15 switch 13 @1;"), 0U);
    EXPECT_EQ(violations("15 blackout @1; 16 lost 3 @1;"), 0U);
    EXPECT_EQ(violations("15 filter_priority 1 0 @1;"), 0U);
}

} // namespace

} // namespace host::analyse::oracle::edge_cases_test
