// SPDX-License-Identifier: MIT
// Tests up to which budgets and times the rules about servers accept a trace, and from where on not. The tolerance is
// 10 ticks for each interval.
#include "tests/support/oracle_scene.hpp"

#include <gmock/gmock.h>

namespace host::analyse::oracle::server_limits_test {

namespace {

using support::Scene;

class OracleServerLimits : public support::OracleTest {};

constexpr std::uint16_t kCbsKind = 1;
constexpr std::uint16_t kGrubKind = 2;
constexpr std::uint16_t kPolling = 3;
constexpr std::uint16_t kDeferrable = 4;
constexpr std::uint32_t kHalf = 0x7FFF'FFFF; // of the processor

std::uint32_t low(std::uint64_t value) {
    return static_cast<std::uint32_t>(value);
}

// Q = 100, T = 1000; work at 500 has the deadline 1500 and all of Q, and is dispatched at 506. Of GRUB half of the
// processor is active.
Scene served(std::uint16_t kind) {
    Scene scene(fmt::format(R"(480 task 12 soft {}, server 3 {} capacity 100 period 1000 for 12
                               490 hard 13 edf 400 1000)",
                            kind == kCbsKind ? Scene::kCbs : Scene::kGrub, kind));
    if (kind == kGrubKind) {
        scene.play(fmt::format("server_bandwidth 0 {}", kHalf));
    }
    return scene.play("500 arrive 12 at 3 budget 100 due 1500; 506 dispatch 12");
}

TEST_F(OracleServerLimits, ChargesACbsWhatRanInItsPlace) {
    // 40 ran in one interval.
    expect_limits(Rule::cbs_budget, 40, 80, [](std::uint64_t left) {
        return served(kCbsKind).play(fmt::format("546 leave 12, budget 3 {}", low(left)));
    });
    // Twice 20: in two intervals.
    expect_limits(Rule::cbs_budget, 30, 90, [](std::uint64_t left) {
        Scene scene = served(kCbsKind);
        return scene.play(fmt::format("526 leave 12, dispatch 12; 547 leave 12, budget 3 {}", low(left)));
    });
    // From the latest budget on.
    expect_limits(Rule::cbs_budget, 30, 70, [](std::uint64_t left) {
        Scene scene = served(kCbsKind);
        return scene.play(
            fmt::format("546 leave 12, budget 3 60; 600 dispatch 12; 610 leave 12, budget 3 {}", low(left)));
    });
}

TEST_F(OracleServerLimits, ChargesAGrubByTheActiveBandwidth) {
    // Of 80 it is charged 40.
    expect_limits(Rule::grub_budget, 40, 80, [](std::uint64_t left) {
        return served(kGrubKind).play(fmt::format("586 leave 12, budget 3 {}", low(left)));
    });
}

TEST_F(OracleServerLimits, ExhaustsACbsWhenItsBudgetIsUsedUp) {
    expect_limits(Rule::cbs_exhaust, 506 + 80, std::nullopt, [](std::uint64_t time) {
        Scene scene = served(kCbsKind);
        return scene.play(fmt::format("{} leave 12, exhaust 3", time));
    });
    expect_limits(Rule::cbs_exhaust, std::nullopt, 506 + 120, [](std::uint64_t time) {
        return served(kCbsKind).play(fmt::format("{} leave 12, budget 3 0", time));
    });
    // Half of it, rounded up.
    expect_limits(Rule::cbs_exhaust, 506 + 159, std::nullopt, [](std::uint64_t time) {
        return served(kGrubKind).play(fmt::format("{} leave 12, exhaust 3", time));
    });
}

// Exhausted at 606, with all of its budget used.
Scene exhausted(std::uint64_t budget, std::uint64_t deadline, std::uint64_t time = 606) {
    Scene scene = served(kCbsKind);
    return scene.play(fmt::format("{} leave 12, budget 3 0, exhaust 3, replenish 3, budget 3 {}; server_deadline 3 {}",
                                  time, low(budget), low(deadline)));
}

TEST_F(OracleServerLimits, PostponesTheDeadlineByWholePeriods) {
    const auto until = [](std::uint64_t deadline) { return exhausted(100, deadline); };
    expect_limits(Rule::cbs_exhaust, 2499, 2501, until);
    expect_limits(Rule::cbs_exhaust, 3498, 3502, until);
    EXPECT_TRUE(violates(Rule::cbs_exhaust, until(1500)));
    EXPECT_TRUE(violates(Rule::cbs_exhaust, until(1499)));
    EXPECT_TRUE(violates(Rule::cbs_exhaust, until(1501)));
    EXPECT_TRUE(violates(Rule::cbs_exhaust, until(500)));
}

// What ran beyond the budget is taken from the next one: 8, and the tolerance of one interval and one more.
TEST_F(OracleServerLimits, RefillsAnExhaustedServer) {
    const auto of = [](std::uint64_t budget) { return exhausted(budget, 2500); };
    expect_limits(Rule::cbs_exhaust, 79, 101, of);
    expect_limits(Rule::cbs_exhaust, 71, 101, [](std::uint64_t budget) { return exhausted(budget, 2500, 614); });
}

TEST_F(OracleServerLimits, LetsACbsUseItsShareUpToItsDeadline) {
    // The second time it is exhausted it has used twice 100 up to the deadline 2500, of which 200 are its own.
    expect_limits(Rule::cbs_isolation, std::nullopt, 100 + 20 + 10, [](std::uint64_t used) {
        Scene scene = exhausted(100, 2500);
        return scene.play(fmt::format("700 dispatch 12; {} leave 12, budget 3 0", 700 + used + 0));
    });
}

// c = 60, d = 1500: kept up to 900, renewed from there on.
Scene again(std::uint64_t time, std::uint64_t budget, std::uint64_t deadline) {
    Scene scene = served(kCbsKind);
    return scene.play(fmt::format(R"(546 leave 12, budget 3 60, complete 12, dispatch idle
                                     {} arrive 12 at 3 budget {} due {})",
                                  time, low(budget), low(deadline)));
}

TEST_F(OracleServerLimits, RenewsABudgetThatIsMoreThanItsShare) {
    // The two sides differ by no more than the rounding, 2200, which is 22 ticks.
    expect_limits(Rule::cbs_arrival, std::nullopt, 932, [](std::uint64_t time) { return again(time, 60, 1500); });
    expect_limits(Rule::cbs_arrival, 878, std::nullopt,
                  [](std::uint64_t time) { return again(time, 100, time + 1000); });
}

TEST_F(OracleServerLimits, RenewsADeadlineByAPeriodFromTheArrivalOn) {
    expect_limits(Rule::cbs_arrival, 2090, 2101, [](std::uint64_t deadline) { return again(1100, 100, deadline); });
    expect_limits(Rule::cbs_arrival, 99, 101, [](std::uint64_t budget) { return again(1100, budget, 2100); });
    expect_limits(Rule::cbs_arrival, 60, 60, [](std::uint64_t budget) { return again(700, budget, 1500); });
}

TEST_F(OracleServerLimits, RenewsAfterTheDeadline) {
    expect_limits(Rule::cbs_arrival, 2590, 2601, [](std::uint64_t deadline) { return again(1600, 100, deadline); });
    EXPECT_TRUE(violates(Rule::cbs_arrival, again(1600, 60, 1500)));
}

TEST_F(OracleServerLimits, ChangesADeadlineOnlyAtAnArrivalOrAnExhaustion) {
    expect_limits(Rule::cbs_exhaust, 1500, 1500, [](std::uint64_t deadline) {
        return served(kCbsKind).play(fmt::format("server_deadline 3 {}", low(deadline)));
    });
}

// c = 60, d = 1500: the zero-lag time is 900. The job ends at 589.
TEST_F(OracleServerLimits, GivesBandwidthBackAtTheZeroLagTime) {
    const auto rests = [] { return served(kGrubKind).play("586 leave 12, budget 3 60, complete 12"); };
    expect_limits(Rule::grub_zero_lag, 890, 920,
                  [&](std::uint64_t time) { return rests().play(fmt::format("{} server_reclaiming 0 3", time)); });
    expect_limits(Rule::grub_zero_lag, std::nullopt, 920,
                  [&](std::uint64_t time) { return rests().play(fmt::format("{} choose idle", time)); });
    // A job that ends after that time gives it back at once.
    const auto late = [] { return served(kGrubKind).play("586 leave 12, budget 3 60; 950 complete 12"); };
    expect_limits(Rule::grub_zero_lag, std::nullopt, 970,
                  [&](std::uint64_t time) { return late().play(fmt::format("{} server_reclaiming 0 3", time)); });
    expect_limits(Rule::grub_zero_lag, std::nullopt, 970,
                  [&](std::uint64_t time) { return late().play(fmt::format("{} choose idle", time)); });
}

// C / min(D, T) of 13, Q / T of 3: two parts, each rounded up.
TEST_F(OracleServerLimits, AddsUpTheActiveBandwidth) {
    constexpr std::uint64_t kSum = 1'717'986'918ULL + 429'496'730ULL;
    expect_limits(Rule::grub_rate, kSum - 2, kSum + 2, [](std::uint64_t bandwidth) {
        Scene scene(R"(490 hard 13 edf 400 1000, task 12 soft grub
                       server 3 GRUB capacity 100 period 1000 for 12, dispatch idle
                       leave idle)"); // nothing of before counts
        return scene.play(
            fmt::format("500 server_bandwidth 0 {}, arrive 12 at 3 budget 100 due 1500, dispatch 12", low(bandwidth)));
    });
}

// Q = 100, T = 1000, next at 1000; polling servers have lost their budget.
Scene fixed_server(std::uint16_t kind) {
    Scene scene(fmt::format(R"(task 12 request served, server 3 {} capacity 100 period 1000 for 12, replenish 3
                               budget 3 100, server_deadline 3 1000)",
                            kind));
    if (kind == kPolling) {
        scene.play("budget 3 0");
    }
    return scene.play("dispatch idle");
}

Scene refilled(std::uint64_t time, std::uint64_t budget, std::uint64_t next) {
    Scene scene = fixed_server(kDeferrable);
    return scene.play(fmt::format("{} replenish 3, budget 3 {}, server_deadline 3 {}", time, low(budget), low(next)));
}

TEST_F(OracleServerLimits, RefillsAServerAtTheEndOfItsPeriod) {
    expect_limits(Rule::server_replenish, 999, std::nullopt,
                  [](std::uint64_t time) { return refilled(time, 100, 2000); });
    expect_limits(Rule::server_replenish, 99, 101, [](std::uint64_t budget) { return refilled(1000, budget, 2000); });
    const auto next = [](std::uint64_t deadline) { return refilled(1000, 100, deadline); };
    expect_limits(Rule::server_replenish, 1999, 2001, next);
    expect_limits(Rule::server_replenish, 2999, 3001, next);
    EXPECT_TRUE(violates(Rule::server_replenish, next(1000))) << "it advances";
    EXPECT_TRUE(violates(Rule::server_replenish, next(2499)));
}

// Dispatched at 203, on 100 of budget.
Scene serving(std::uint64_t end, std::uint64_t left) {
    Scene scene = fixed_server(kDeferrable);
    return scene.play(
        fmt::format("200 release 12, leave idle; 203 dispatch 12; {} leave 12, budget 3 {}", end, low(left)));
}

TEST_F(OracleServerLimits, ChargesAServerWhatRanInItsPlace) {
    expect_limits(Rule::server_budget, 40, 80, [](std::uint64_t left) { return serving(243, left); });
    expect_limits(Rule::server_budget, std::nullopt, 203 + 120, [](std::uint64_t end) { return serving(end, 0); });
    expect_limits(Rule::server_budget, 203 + 80, std::nullopt, [](std::uint64_t end) { return serving(end, 0); });
}

TEST_F(OracleServerLimits, ExhaustsAServerWhenItsBudgetIsUsedUp) {
    expect_limits(Rule::server_budget, 203 + 80, std::nullopt, [](std::uint64_t end) {
        Scene scene = fixed_server(kDeferrable);
        return scene.play(fmt::format("200 release 12, leave idle; 203 dispatch 12; {} leave 12, exhaust 3", end));
    });
}

// 5 beyond the budget and the tolerance of one interval and one more are taken from the next one, and 10 more.
TEST_F(OracleServerLimits, TakesWhatWasUsedTooMuchFromTheNextBudget) {
    expect_limits(Rule::server_replenish, 100 - 25 - 10, 101, [](std::uint64_t budget) {
        Scene scene = serving(203 + 105, 0);
        scene.play(fmt::format("1000 replenish 3, budget 3 {}", low(budget)));
        return scene;
    });
}

TEST_F(OracleServerLimits, TakesTheBudgetOfAPollingServerWithoutRequests) {
    expect_limits(Rule::server_replenish, std::nullopt, 0, [](std::uint64_t kept) {
        Scene scene = fixed_server(kPolling);
        return scene.play(fmt::format(R"(1000 replenish 3, budget 3 100, server_deadline 3 2000, budget 3 {}
                                         choose idle)",
                                      low(kept)));
    });
}

} // namespace

} // namespace host::analyse::oracle::server_limits_test
