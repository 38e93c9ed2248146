// SPDX-License-Identifier: MIT
// Which shares of the processor are active beside a GRUB server, and when that is not known.
#include "tests/support/oracle_scene.hpp"

#include <cmath>
#include <gmock/gmock.h>

namespace host::analyse::oracle {

namespace {

using support::Scene;

class OracleReclaiming : public support::OracleTest {
  protected:
    // The rule holds for this part of the processor, and for none that differs by a thousandth.
    template <typename SceneOf>
    void expect_share(double share, SceneOf&& scene_of) {
        for (const double other : {-0.001, 0.0, 0.001}) {
            const auto bandwidth = static_cast<std::uint32_t>(std::lround((share + other) * 4294967295.0));
            EXPECT_EQ(violates(Rule::grub_rate, scene_of(bandwidth)), other != 0.0) << share + other;
            EXPECT_NE(of(Rule::grub_rate).checked, 0U);
        }
    }

    void expect_undecided(const Scene& scene) {
        EXPECT_FALSE(violates(Rule::grub_rate, scene));
        EXPECT_EQ(of(Rule::grub_rate).checked, 0U);
        EXPECT_EQ(of(Rule::grub_rate).undecided, 1U);
    }
};

constexpr std::uint16_t kCbsKind = 1;
constexpr std::uint16_t kGrubKind = 2;
constexpr std::uint16_t kPolling = 3;
constexpr std::uint16_t kDeferrable = 4;

// A GRUB with Q / T = 0.1 and what `add` brings; at the decision for it the bandwidth is this.
template <typename Add>
auto beside(Add&& add) {
    return [add](std::uint32_t bandwidth) {
        Scene scene;
        scene.task(12, "soft", {.level = Scene::kGrub}).server(3, kGrubKind, 100, 1000, 12);
        add(scene);
        scene.run(Scene::kIdle).leave(Scene::kIdle).at(500).event("server_bandwidth", 0, bandwidth);
        return scene.arrive(3, 12, 100, 1500).run(12);
    };
}

TEST_F(OracleReclaiming, CountsTasksByDeadlines) {
    expect_share(0.1, beside([](Scene&) {}));
    expect_share(0.1 + 0.2, beside([](Scene& scene) { scene.hard(13, Scene::kEdf, 200, 2000, 1000); }));
}

// What runs above deadlines counts once for its period, and once for the shortest deadline.
TEST_F(OracleReclaiming, CountsTasksOfFixedPriorities) {
    expect_share(0.1 + 0.1 + 0.2, beside([](Scene& scene) { scene.hard(13, Scene::kRm, 200, 2000); }));
    expect_share(0.1 + 0.05 + 0.1 + 0.4,
                 beside([](Scene& scene) { scene.hard(13, Scene::kRm, 200, 2000).hard(14, Scene::kEdf, 25, 500); }));
    expect_share(0.1, beside([](Scene& scene) {
                     scene.task(13, "sporadic", {.level = Scene::kRm, .wcet_ns = 200, .deadline_ns = 900});
                 }));
}

TEST_F(OracleReclaiming, CountsServers) {
    const auto with = [](std::uint16_t kind, std::uint32_t capacity) {
        return beside([kind, capacity](Scene& scene) {
            scene.task(13, "other", {.level = Scene::kServed}).server(4, kind, capacity, 2000, 13);
        });
    };
    expect_share(0.1 + 0.1, with(kCbsKind, 200));
    expect_share(0.1 + 0.1 + 0.2, with(kPolling, 200));
    expect_share(0.1 + 0.1 + 0.4, with(kDeferrable, 200));
    expect_undecided(with(kGrubKind, 200)(0x1999'9999U)); // it has not been active since the start of the trace
}

TEST_F(OracleReclaiming, CountsADeferrableServerWithAllOfTheProcessorOnce) {
    expect_share(1.0, beside([](Scene& scene) {
                     scene.task(13, "other", {.level = Scene::kServed}).server(4, kDeferrable, 1000, 1000, 13);
                 }));
}

TEST_F(OracleReclaiming, CountsNoMoreThanTheProcessor) {
    const auto full = beside([](Scene& scene) { scene.hard(13, Scene::kEdf, 950, 1000); });
    EXPECT_FALSE(violates(Rule::grub_rate, full(~0U)));
    EXPECT_TRUE(violates(Rule::grub_rate, full(0xF000'0000U)));
}

TEST_F(OracleReclaiming, DoesNotKnowWhichDeadlineCountsAfterAChange) {
    expect_undecided(beside(
        [](Scene& scene) { scene.hard(13, Scene::kEdf, 200, 1000).event("deadline_change", 13, 1); })(0x1999'9999U));
    // The task that ended is none of them.
    const auto ended = beside([](Scene& scene) {
        scene.hard(13, Scene::kEdf, 200, 1000).event("deadline_change", 13, 1).event("task_end", 13);
    });
    expect_share(0.1, ended);
    expect_undecided(beside([](Scene& scene) {
        scene.task(13, "unknown", {.level = Scene::kEdf, .wcet_ns = 200, .period_ns = 1000});
    })(0x1999'9999U));
}

TEST_F(OracleReclaiming, DoesNotKnowAServerThatIsNotDescribed) {
    expect_undecided(beside([](Scene& scene) { scene.event("server_create", 0, 4); })(0x1999'9999U));
    expect_undecided(beside([](Scene& scene) { scene.event("server_create", 0, 4).event("server_kind", kCbsKind, 4); })(
        0x1999'9999U));
    expect_undecided(
        beside([](Scene& scene) { scene.event("server_create", 0, 4).event("server_period", 4, 1000); })(0x1999'9999U));
    expect_share(0.1, beside([](Scene& scene) { scene.event("server_create", 0, 4).event("server_remove", 0, 4); }));
}

// After a gap a server without a record may be active or not.
TEST_F(OracleReclaiming, DoesNotKnowWhichServerIsActiveAfterAGap) {
    const auto gap = [](bool both) {
        Scene scene;
        scene.task(12, "soft", {.level = Scene::kGrub}).server(3, kGrubKind, 100, 1000, 12);
        scene.task(13, "other", {.level = Scene::kGrub}).server(4, kGrubKind, 200, 1000, 13).event("blackout_start");
        scene.event("blackout_end", 0, 5).event("server_attach", 3, 12).event("server_attach", 4, 13);
        scene.at(500).event("server_bandwidth", 0, 0x1999'9999U).arrive(3, 12, 100, 1500);
        if (both) {
            scene.event("server_reclaiming", 0, 4);
        }
        return scene.run(Scene::kIdle);
    };
    judge(gap(false));
    EXPECT_EQ(of(Rule::grub_rate).undecided, 1U);
    EXPECT_EQ(of(Rule::grub_rate).checked, 0U);
}

// More than is active may be of a task that ended, until no task with a reservation has work.
TEST_F(OracleReclaiming, CountsWhatEndedUntilNothingHasWork) {
    const auto ended = [](std::uint32_t bandwidth, bool rests) {
        Scene scene;
        scene.task(12, "soft", {.level = Scene::kGrub}).server(3, kGrubKind, 100, 1000, 12);
        scene.hard(13, Scene::kEdf, 200, 1000).hard(14, Scene::kRm, 1, 1'000'000).run(Scene::kIdle).leave(1);
        scene.at(300).event("server_bandwidth", 0, bandwidth).arrive(3, 12, 100, 1300).event("task_end_cycle", 12);
        scene.at(310).release(14, 310, 1'000'310).event("task_end", 13);
        if (rests) {
            scene.event("task_disable", 14);
        }
        return scene.event("task_schedule", 14, 14);
    };
    judge(ended(0x4000'0000U, false));
    EXPECT_EQ(of(Rule::grub_rate).undecided, 1U);
    EXPECT_TRUE(violates(Rule::grub_rate, ended(0x4000'0000U, true)));
    EXPECT_TRUE(violates(Rule::grub_rate, ended(0, false))) << "less than is active";
}

TEST_F(OracleReclaiming, DoesNotJudgeTheZeroLagTimeByAHostClock) {
    Scene scene;
    scene.task(12, "soft", {.level = Scene::kGrub}).server(3, kGrubKind, 100, 1000, 12).at(500);
    scene.arrive(3, 12, 100, 1500).run(12).at(540).leave(12).event("server_budget", 3, 60);
    scene.event("task_end_cycle", 12).run(Scene::kIdle).at(5000).event("task_schedule", 1, 1);
    scene.event("server_reclaiming", 0, 3);
    EXPECT_TRUE(violates(Rule::grub_zero_lag, scene));
    scene.chunk.begin.clock_mode = tracer::ClockMode::emulated;
    judge(scene.chunk.bytes(), std::nullopt);
    EXPECT_EQ(of(Rule::grub_zero_lag).violations, 0U);
    EXPECT_EQ(of(Rule::grub_zero_lag).undecided, 1U);
}

// 100 c / Q is beyond the deadline: the bandwidth is given back at once.
TEST_F(OracleReclaiming, GivesBackAtOnceIfTheBudgetIsAheadOfTheDeadline) {
    const auto reclaims = [](std::uint32_t budget, std::uint64_t time) {
        Scene scene;
        scene.at(100).task(12, "soft", {.level = Scene::kGrub}).server(3, kGrubKind, 100, 1000, 12).at(120);
        scene.arrive(3, 12, budget, 1120).event("task_end_cycle", 12);
        return scene.at(time).event("server_reclaiming", 0, 3);
    };
    EXPECT_FALSE(violates(Rule::grub_zero_lag, reclaims(100, 130)));
    EXPECT_FALSE(violates(Rule::grub_zero_lag, reclaims(200, 130)));
    EXPECT_TRUE(violates(Rule::grub_zero_lag, reclaims(80, 130)));
}

} // namespace

} // namespace host::analyse::oracle
