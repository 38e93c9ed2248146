// SPDX-License-Identifier: MIT
// Tests which shares of the processor are active beside a GRUB server, and when that is not known.
#include "tests/support/oracle_scene.hpp"

#include <cmath>
#include <gmock/gmock.h>

namespace host::analyse::oracle::reclaiming_test {

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
        Scene scene("task 12 soft grub, server 3 GRUB capacity 100 period 1000 for 12");
        add(scene);
        return scene.play(fmt::format(R"(dispatch idle, leave idle
                                         500 server_bandwidth 0 {}, arrive 12 at 3 budget 100 due 1500, dispatch 12)",
                                      bandwidth));
    };
}

TEST_F(OracleReclaiming, CountsTasksByDeadlines) {
    expect_share(0.1, beside([](Scene&) {}));
    expect_share(0.1 + 0.2, beside([](Scene& scene) { scene.play("hard 13 edf 200 2000 1000"); }));
}

// What runs above deadlines counts once for its period, and once for the shortest deadline.
TEST_F(OracleReclaiming, CountsTasksOfFixedPriorities) {
    expect_share(0.1 + 0.1 + 0.2, beside([](Scene& scene) { scene.play("hard 13 rm 200 2000"); }));
    expect_share(0.1 + 0.05 + 0.1 + 0.4,
                 beside([](Scene& scene) { scene.play("hard 13 rm 200 2000, hard 14 edf 25 500"); }));
    expect_share(0.1, beside([](Scene& scene) { scene.play("task 13 sporadic rm wcet 200 deadline 900"); }));
}

TEST_F(OracleReclaiming, CountsServers) {
    const auto with = [](std::uint16_t kind, std::uint32_t capacity) {
        return beside([kind, capacity](Scene& scene) {
            scene.play(fmt::format("task 13 other served, server 4 {} capacity {} period 2000 for 13", kind, capacity));
        });
    };
    expect_share(0.1 + 0.1, with(kCbsKind, 200));
    expect_share(0.1 + 0.1 + 0.2, with(kPolling, 200));
    expect_share(0.1 + 0.1 + 0.4, with(kDeferrable, 200));
    expect_share(0.1, with(kGrubKind, 200)); // it has not been active since it was created
}

TEST_F(OracleReclaiming, CountsADeferrableServerWithAllOfTheProcessorOnce) {
    expect_share(1.0, beside([](Scene& scene) {
                     scene.play("task 13 other served, server 4 deferrable capacity 1000 period 1000 for 13");
                 }));
}

TEST_F(OracleReclaiming, CountsNoMoreThanTheProcessor) {
    const auto full = beside([](Scene& scene) { scene.play("hard 13 edf 950 1000"); });
    EXPECT_FALSE(violates(Rule::grub_rate, full(~0U)));
    EXPECT_TRUE(violates(Rule::grub_rate, full(0xF000'0000U)));
}

TEST_F(OracleReclaiming, DoesNotKnowWhichDeadlineCountsAfterAChange) {
    expect_undecided(
        beside([](Scene& scene) { scene.play("hard 13 edf 200 1000, deadline_change 13 1"); })(0x1999'9999U));
    // The task that ended is none of them.
    const auto ended = beside([](Scene& scene) { scene.play("hard 13 edf 200 1000, deadline_change 13 1, end 13"); });
    expect_share(0.1, ended);
    expect_undecided(
        beside([](Scene& scene) { scene.play("task 13 unknown edf wcet 200 period 1000"); })(0x1999'9999U));
}

TEST_F(OracleReclaiming, DoesNotKnowAServerThatIsNotDescribed) {
    expect_undecided(beside([](Scene& scene) { scene.play("server_create 0 4"); })(0x1999'9999U));
    expect_undecided(beside(
        [](Scene& scene) { scene.play(fmt::format("server_create 0 4, server_kind {} 4", kCbsKind)); })(0x1999'9999U));
    expect_undecided(beside([](Scene& scene) { scene.play("server_create 0 4, server_period 4 1000"); })(0x1999'9999U));
    expect_share(0.1, beside([](Scene& scene) { scene.play("server_create 0 4, server_remove 0 4"); }));
}

// After a gap a server without a record may be active or not.
TEST_F(OracleReclaiming, DoesNotKnowWhichServerIsActiveAfterAGap) {
    const auto gap = [](bool both) {
        Scene scene(R"(task 12 soft grub, server 3 GRUB capacity 100 period 1000 for 12, task 13 other grub
                       server 4 GRUB capacity 200 period 1000 for 13, blackout, lost 5, server_attach 3 12
                       server_attach 4 13; 500 server_bandwidth 0 0x1999'9999, arrive 12 at 3 budget 100 due 1500)");
        if (both) {
            scene.play("server_reclaiming 0 4");
        }
        return scene.play("dispatch idle");
    };
    judge(gap(false));
    EXPECT_EQ(of(Rule::grub_rate).undecided, 1U);
    EXPECT_EQ(of(Rule::grub_rate).checked, 0U);
}

// More than is active may be of a task that ended, until no task with a reservation has work.
TEST_F(OracleReclaiming, CountsWhatEndedUntilNothingHasWork) {
    const auto ended = [](std::uint32_t bandwidth, std::string_view then) {
        Scene scene(fmt::format(R"(task 12 soft grub, server 3 GRUB capacity 100 period 1000 for 12
                                   hard 13 edf 200 1000, hard 14 rm 1 1'000'000, dispatch idle, leave idle
                                   300 server_bandwidth 0 {}, arrive 12 at 3 budget 100 due 1300, complete 12
                                   310 release 14 by timer due 1'000'310, end 13)",
                                bandwidth));
        return scene.play(fmt::format("{} choose 14", then));
    };
    judge(ended(0x4000'0000U, ""));
    EXPECT_EQ(of(Rule::grub_rate).undecided, 1U);
    judge(ended(0x4000'0000U, "wait 14 delay,"));
    EXPECT_EQ(of(Rule::grub_rate).undecided, 1U) << "it may be suspended, and have work again";
    EXPECT_TRUE(violates(Rule::grub_rate, ended(0x4000'0000U, "disable 14,")));
    EXPECT_TRUE(violates(Rule::grub_rate, ended(0x4000'0000U, "wait 14 delay, wake 14 delay, disable 14,")));
    EXPECT_TRUE(violates(Rule::grub_rate, ended(0, ""))) << "less than is active";
}

TEST_F(OracleReclaiming, DoesNotJudgeTheZeroLagTimeByAHostClock) {
    Scene scene(R"(task 12 soft grub, server 3 GRUB capacity 100 period 1000 for 12
                   500 arrive 12 at 3 budget 100 due 1500, dispatch 12
                   540 leave 12, budget 3 60, complete 12, dispatch idle; 5000 choose idle, server_reclaiming 0 3)");
    EXPECT_TRUE(violates(Rule::grub_zero_lag, scene));
    scene.chunk.begin.clock_mode = tracer::ClockMode::emulated;
    judge(scene.chunk.bytes(), std::nullopt);
    EXPECT_EQ(of(Rule::grub_zero_lag).violations, 0U);
    EXPECT_EQ(of(Rule::grub_zero_lag).undecided, 1U);
}

// 100 c / Q is beyond the deadline: the bandwidth is given back at once.
TEST_F(OracleReclaiming, GivesBackAtOnceIfTheBudgetIsAheadOfTheDeadline) {
    const auto reclaims = [](std::uint32_t budget, std::uint64_t time) {
        return Scene(fmt::format(R"(100 task 12 soft grub, server 3 GRUB capacity 100 period 1000 for 12
                                    120 arrive 12 at 3 budget {} due 1120, complete 12; {} server_reclaiming 0 3)",
                                 budget, time));
    };
    EXPECT_FALSE(violates(Rule::grub_zero_lag, reclaims(100, 130)));
    EXPECT_FALSE(violates(Rule::grub_zero_lag, reclaims(200, 130)));
    EXPECT_TRUE(violates(Rule::grub_zero_lag, reclaims(80, 130)));
}

} // namespace

} // namespace host::analyse::oracle::reclaiming_test
