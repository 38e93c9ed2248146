// SPDX-License-Identifier: MIT
// Tests admission over several levels: response times at their edges, the whole processor and one unit more, and random
// sets against a simulation of the schedule in unit steps.
#include "arch/arch.hpp"
#include "kernel/sched/admission/exact_tests.hpp"
#include "kernel/sched/admission/reservations.hpp"
#include "kernel/sched/admission/utilisation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

namespace reservations_test {

using kernel::Claim;
using kernel::Demand;
using kernel::Reservations;
using kernel::Verdict;

kernel::IrqOff boot() {
    return kernel::IrqOff::from_boot();
}

Demand implicit(std::uint64_t wcet, std::uint64_t period) {
    return {wcet, period, period};
}

// A deferrable server, whose releases may be put off by all but its budget.
Demand deferrable(std::uint64_t budget, std::uint64_t period) {
    return {budget, period, period, period - budget};
}

struct Wish {
    Claim claim = Claim::none;
    Demand demand;
};

// Whether all are admitted one after the other, in any order the last one decides.
bool admitted(const std::vector<Wish>& wishes) {
    const auto register_of_all = std::make_unique<Reservations>();
    for (std::size_t i = 0; i < wishes.size(); ++i) {
        if (!register_of_all->admits(wishes[i].claim, wishes[i].demand)) {
            return false;
        }
        register_of_all->set(i, wishes[i].claim, wishes[i].demand, boot());
    }
    return true;
}

std::vector<Wish> all(Claim claim, const std::vector<Demand>& demands) {
    std::vector<Wish> wishes;
    wishes.reserve(demands.size());
    for (const Demand& demand : demands) {
        wishes.push_back({claim, demand});
    }
    return wishes;
}

std::uint64_t response(std::uint64_t work, const std::vector<Demand>& above, std::uint64_t limit) {
    kernel::Steps steps{kernel::kStepsMax};
    const auto found = kernel::response_time(work, above, limit, steps);
    return found.verdict == Verdict::fits ? found.time_ns : 0;
}

TEST(ResponseTime, FollowsTheTextbookExample) {
    // C 3, 3, 5 and T 7, 12, 20: the response times are 3, 6 and 20.
    const std::vector<Demand> set{implicit(3, 7), implicit(3, 12)};
    EXPECT_EQ(response(3, {set[0]}, 12), 6U);
    EXPECT_EQ(response(5, set, 20), 20U);
    EXPECT_EQ(response(5, set, 19), 0U);
}

TEST(ResponseTime, CountsADeferrableServersTwoBudgetsInARow) {
    // 2 of 5: at the end of one period and at the start of the next.
    EXPECT_EQ(response(1, {deferrable(2, 5)}, 10), 5U);
    EXPECT_EQ(response(1, {implicit(2, 5)}, 10), 3U);
}

TEST(HyperbolicBound, DecidesAtExactlyTwo) {
    // (1 + 1/2) * (1 + 1/3) = 2. One unit more is not decided by this bound.
    EXPECT_EQ(kernel::hyperbolic_bound(std::vector{implicit(1, 2), implicit(1, 3)}), Verdict::fits);
    EXPECT_EQ(kernel::hyperbolic_bound(std::vector{implicit(500'001, 1'000'000), implicit(1, 3)}), Verdict::unknown);
}

TEST(HyperbolicBound, DecidesNothingAboutAProductThatIsTooLarge) {
    // The product of the periods has 127 bits, that of the factors 128.
    constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
    EXPECT_EQ(kernel::hyperbolic_bound(std::vector{implicit(2, kHalf - 1), implicit(2, kHalf + 1)}), Verdict::unknown);
}

TEST(HyperbolicBound, KeepsTheProductInLowestTerms) {
    // Without the common factor 2^60 of the first two the third would not fit 127 bits.
    constexpr std::uint64_t kPeriod = std::uint64_t{1} << 60;
    EXPECT_EQ(
        kernel::hyperbolic_bound(std::vector{implicit(1, kPeriod - 1), implicit(1, kPeriod), implicit(1, kPeriod - 3)}),
        Verdict::fits);
}

TEST(Bandwidth, IsThePublishedUnitRoundedUp) {
    EXPECT_EQ(kernel::bandwidth_of(7, 7), kernel::kBandwidthMax);
    EXPECT_EQ(kernel::bandwidth_of(1, 2), 0x8000'0000U);
    EXPECT_EQ(kernel::bandwidth_of(1, ~std::uint64_t{0}), 1U);
}

TEST(Reservations, AdmitHarmonicPeriodsUpToTheWholeProcessor) {
    std::vector<Demand> set{implicit(1'000, 2'000), implicit(1'000, 4'000), implicit(2'000, 8'000)};
    EXPECT_TRUE(admitted(all(Claim::fixed, set)));
    for (Demand& demand : set) {
        ++demand.wcet_ns;
        EXPECT_FALSE(admitted(all(Claim::fixed, set))) << "one more in period " << demand.period_ns;
        --demand.wcet_ns;
    }
}

TEST(Reservations, DistinguishRateMonotonicFromEdf) {
    // 2/5 + 4/7 = 34/35: the textbook set that EDF keeps and RM does not.
    const std::vector<Demand> set{implicit(2, 5), implicit(4, 7)};
    EXPECT_FALSE(admitted(all(Claim::fixed, set)));
    EXPECT_TRUE(admitted(all(Claim::deadline, set)));
}

TEST(Reservations, DecideTheResponseTimeToTheUnit) {
    EXPECT_TRUE(admitted(all(Claim::fixed, {implicit(3, 7), implicit(3, 12), {5, 100, 20}})));
    EXPECT_FALSE(admitted(all(Claim::fixed, {implicit(3, 7), implicit(3, 12), {5, 100, 19}})));
}

TEST(Reservations, LetEqualDeadlinesWaitForEachOtherOnce) {
    // Were the equals above each other, each would be in the way of the other twice.
    EXPECT_TRUE(admitted(all(Claim::fixed, {{3, 6, 6}, {3, 6, 6}})));
    EXPECT_FALSE(admitted(all(Claim::fixed, {{3, 6, 6}, {3, 6, 6}, {1, 1'000, 6}})));
}

TEST(Reservations, SeeDeadlinesBelowFixedPriorities) {
    const Wish above{Claim::fixed, implicit(2, 5)};
    EXPECT_TRUE(admitted({above, {Claim::deadline, {3, 100, 5}}}));
    EXPECT_FALSE(admitted({above, {Claim::deadline, {4, 100, 5}}}));
    EXPECT_FALSE(admitted({above, {Claim::deadline, {4, 100, 7}}})) << "2 + 2 + 4 is done at 8";
    EXPECT_TRUE(admitted({above, {Claim::deadline, {4, 100, 8}}}));
    EXPECT_TRUE(admitted({above, {Claim::deadline, implicit(3, 5)}})) << "the whole processor";
    EXPECT_FALSE(admitted({above, {Claim::deadline, implicit(3'001, 5'000)}}));
}

TEST(Reservations, CountTheWorkAboveOnlyAsFarAsItComesBeforeTheEnd) {
    // At 6 the higher task comes again and takes all of 6..8: what is due at 7 was done at 6.
    EXPECT_TRUE(admitted({{Claim::fixed, implicit(2, 6)}, {Claim::deadline, {4, 100, 7}}}));
}

TEST(Reservations, SeeTheSecondBudgetOfADeferrableServer) {
    const Demand below{3, 10, 5};
    EXPECT_TRUE(admitted({{Claim::fixed, implicit(2, 5)}, {Claim::fixed, below}}));
    EXPECT_FALSE(admitted({{Claim::fixed, deferrable(2, 5)}, {Claim::fixed, below}}));
    EXPECT_FALSE(admitted({{Claim::fixed, deferrable(2, 5)}, {Claim::deadline, below}}));
}

TEST(Reservations, SeeTheSecondBudgetAmongEquals) {
    const Wish server{Claim::fixed, deferrable(2, 5)};
    const Wish task{Claim::fixed, implicit(2, 5)};
    EXPECT_FALSE(admitted({server, task}));
    EXPECT_FALSE(admitted({task, server}));
    EXPECT_TRUE(admitted({task, task}));
}

TEST(Reservations, HaveAPlaceForEachTaskBesideEachServer) {
    Reservations reservations;
    reservations.set(Reservations::slot_of_task(kernel::kTasksMax - 1), Claim::deadline, implicit(1, 2), boot());
    reservations.set(Reservations::slot_of_server(1), Claim::fixed, implicit(1, 4), boot());
    EXPECT_EQ(reservations.bandwidth(kernel::kTasksMax - 1), 0x8000'0000U);
    EXPECT_EQ(reservations.bandwidth(kernel::kTasksMax + 1), 0x4000'0000U);
}

TEST(Reservations, ChangeNothingByARefusal) {
    Reservations reservations;
    reservations.set(0, Claim::deadline, implicit(1, 2), boot());
    EXPECT_FALSE(reservations.admits(Claim::deadline, implicit(2, 3)));
    EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(1, 2)));
    EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(2, 2), 0)) << "in the place of the first";
}

TEST(Reservations, KeepWhatEndedUntilAnIdleInstant) {
    Reservations reservations;
    reservations.set(0, Claim::deadline, {5, 100, 5}, boot());
    reservations.work_came();
    reservations.work_came();
    reservations.work_left(boot());
    reservations.retire(0, boot());
    EXPECT_FALSE(reservations.admits(Claim::deadline, {5, 100, 6}));
    EXPECT_EQ(reservations.load(), kernel::kBandwidthMax);
    reservations.work_left(boot());
    EXPECT_TRUE(reservations.admits(Claim::deadline, {5, 100, 5}));
    EXPECT_EQ(reservations.load(), 0U);
}

TEST(Reservations, KeepEachOfSeveralThatEnded) {
    Reservations reservations;
    reservations.set(0, Claim::deadline, implicit(1, 2), boot());
    reservations.set(1, Claim::deadline, implicit(1, 4), boot());
    reservations.work_came();
    reservations.retire(0, boot());
    reservations.retire(1, boot());
    EXPECT_EQ(reservations.load(), 0x8000'0000U + 0x4000'0000U);
    EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(1, 4)));
    EXPECT_FALSE(reservations.admits(Claim::deadline, implicit(2, 4)));
    reservations.work_left(boot());
    EXPECT_EQ(reservations.load(), 0U);
}

TEST(Reservations, HaveTheWholeListAgainAfterAnIdleInstant) {
    Reservations reservations;
    for (std::size_t i = 0; i <= 2 * kernel::kTasksMax; ++i) {
        reservations.set(0, Claim::deadline, implicit(1, 1'000'000), boot());
        reservations.work_came();
        reservations.retire(0, boot());
        EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(1, 1'000'000))) << i;
        reservations.work_left(boot());
    }
}

TEST(Reservations, FreeAtOnceWhatEndsWhileNothingIsReady) {
    Reservations reservations;
    reservations.set(0, Claim::fixed, implicit(5, 5), boot());
    reservations.retire(0, boot());
    EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(5, 5)));
}

TEST(Reservations, AdmitNothingWhenMoreEndedThanTheyCanList) {
    Reservations reservations;
    reservations.work_came();
    for (std::size_t i = 0; i <= kernel::kTasksMax; ++i) {
        EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(1, 1'000'000))) << i;
        reservations.set(0, Claim::deadline, implicit(1, 1'000'000), boot());
        reservations.retire(0, boot());
    }
    EXPECT_FALSE(reservations.admits(Claim::deadline, implicit(1, 1'000'000)));
    reservations.work_left(boot());
    EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(1, 1'000'000)));
}

TEST(Reservations, LoadIsNoLessThanWhatReclaimingMayCountOn) {
    Reservations reservations;
    reservations.set(0, Claim::deadline, implicit(1, 4), boot());
    EXPECT_EQ(reservations.load(), 0x4000'0000U);
    reservations.set(1, Claim::deadline, {1, 8, 4}, boot()); // due within 4: counts as a quarter
    EXPECT_EQ(reservations.load(), 0x8000'0000U);
    reservations.set(2, Claim::fixed, implicit(1, 8), boot()); // an eighth, and once more within the shortest deadline
    EXPECT_EQ(reservations.load(), 0x8000'0000U + 0x2000'0000U + 0x4000'0000U);
    EXPECT_EQ(reservations.bandwidth(1), 0x2000'0000U);
}

struct CountingWatcher final : kernel::LoadWatcher {
    void load_changed(kernel::IrqOff /*off*/) override { ++changes; }

    int changes = 0;
};

TEST(Reservations, ReportTheLoadOnlyIfItHasChanged) {
    Reservations reservations;
    CountingWatcher watcher;
    reservations.watch(&watcher);
    reservations.set(0, Claim::deadline, implicit(1, 4), boot());
    EXPECT_EQ(watcher.changes, 1);
    reservations.set(0, Claim::deadline, implicit(2, 8), boot()); // a quarter, as before
    EXPECT_EQ(watcher.changes, 1);
    reservations.retire(0, boot());
    EXPECT_EQ(watcher.changes, 2);
    reservations.watch(nullptr);
    reservations.set(0, Claim::deadline, implicit(1, 4), boot());
    EXPECT_EQ(watcher.changes, 2);
}

TEST(Reservations, CountBothBudgetsOfADeferrableServer) {
    const Demand server = deferrable(10, 1'000); // a hundredth, and twice a tenth within the deadline of 100
    Reservations reservations;
    reservations.set(0, Claim::deadline, implicit(50, 100), boot());
    const std::uint64_t without = reservations.load();
    reservations.set(1, Claim::fixed, server, boot());
    EXPECT_EQ(reservations.load() - without, kernel::bandwidth_of(10, 1'000) + kernel::bandwidth_of(2 * 10, 100));
    const auto below = [&](std::uint64_t wcet) { // a constant bandwidth server: the line decides
        return admitted({{Claim::fixed, server}, {Claim::deadline, {wcet, 100, 100, 0, true}}});
    };
    EXPECT_TRUE(below(78));
    EXPECT_FALSE(below(80));
}

TEST(Reservations, AnswerFromATestThatWasMadeWithInterruptsOn) {
    // A busy period of some 600 steps: too many with interrupts off, where the rougher bound refuses.
    constexpr Demand kLast{33'362, 100'068, 100'064};
    Reservations reservations;
    reservations.set(0, Claim::deadline, {343, 1'030, 1'028}, boot());
    reservations.set(1, Claim::deadline, {3'345, 10'033, 10'031}, boot());
    reservations.prepare(Claim::deadline, kLast);
    EXPECT_FALSE(reservations.admits(Claim::deadline, kLast)) << "interrupts are off: nothing was prepared";
    arch::irq_enable();
    reservations.prepare(Claim::deadline, kLast);
    static_cast<void>(arch::irq_save());
    EXPECT_TRUE(reservations.admits(Claim::deadline, kLast));
    EXPECT_FALSE(reservations.admits(Claim::fixed, kLast)) << "not what was asked";
    EXPECT_FALSE(reservations.admits(Claim::deadline, kLast, 5)) << "not what was asked";
    reservations.set(2, Claim::fixed, implicit(1, 1'000'000'000), boot());
    EXPECT_FALSE(reservations.admits(Claim::deadline, kLast)) << "the set has changed";
}

TEST(Reservations, PrepareARefusalToo) {
    Reservations reservations;
    reservations.set(0, Claim::deadline, implicit(1, 2), boot());
    arch::irq_enable();
    reservations.prepare(Claim::deadline, implicit(2, 3));
    static_cast<void>(arch::irq_save());
    EXPECT_FALSE(reservations.admits(Claim::deadline, implicit(2, 3)));
    reservations.retire(0, boot());
    EXPECT_TRUE(reservations.admits(Claim::deadline, implicit(2, 3))) << "the set has changed";
}

// Of fixed priorities, one of them at half the processor: only all of them together are too much for the last one.
constexpr std::size_t kMany = 40;

void promise_many(Reservations& reservations) {
    for (std::size_t i = 0; i < kMany; ++i) {
        const std::uint64_t period = 100'000 + i;
        reservations.set(i, Claim::fixed, implicit(i == kMany - 1 ? 50'000 : 1'000, period), boot());
    }
}

TEST(Reservations, PrepareALargeSetInStepsAndLeaveOutNothing) {
    Reservations reservations;
    promise_many(reservations);
    constexpr Demand kTooMuch{12'000, 200'000, 100'000};
    constexpr Demand kEnough{10'000, 200'000, 100'000};
    for (const Demand& wanted : {kTooMuch, kEnough}) {
        const bool expected = reservations.admits(Claim::deadline, wanted);
        EXPECT_EQ(expected, wanted == kEnough);
        arch::irq_enable();
        reservations.prepare(Claim::deadline, wanted);
        static_cast<void>(arch::irq_save());
        EXPECT_EQ(reservations.admits(Claim::deadline, wanted), expected);
    }
}

Reservations* s_interrupted = nullptr;
int s_windows = 0;

// Interrupts are open between the steps of a copy: a promise that ends there makes the answer useless, not wrong.
TEST(Reservations, AnswerForThePromisesThereAreThoughOneEndedWhileTheyWereCopied) {
    const auto reservations = std::make_unique<Reservations>();
    promise_many(*reservations);
    constexpr Demand kTooMuchByOne{12'000, 200'000, 100'000};
    ASSERT_FALSE(reservations->admits(Claim::deadline, kTooMuchByOne));
    s_interrupted = reservations.get();
    s_windows = 0;
    arch::irq_enable();
    arch::fake_cpu.on_interrupts_enabled = [] {
        if (++s_windows == 2) {
            arch::fake_cpu.interrupts_on = false;
            s_interrupted->retire(0, boot()); // has been copied
            arch::fake_cpu.interrupts_on = true;
        }
    };
    reservations->prepare(Claim::deadline, kTooMuchByOne);
    arch::fake_cpu.on_interrupts_enabled = nullptr;
    static_cast<void>(arch::irq_save());
    EXPECT_GE(s_windows, 2);
    EXPECT_TRUE(reservations->admits(Claim::deadline, kTooMuchByOne));
}

TEST(Reservations, TestFixedPrioritiesAgainAfterOneWasRelaxed) {
    // By its longer deadline the task is below the server, of which two budgets may come in a row: 8 + 4 are not done
    // at
    // 11. Nothing is admitted beside that, even what would fit by the sums.
    const Demand small{1, 100, 100, 0, true};
    Reservations reservations;
    reservations.set(0, Claim::fixed, {8, 40, 8}, boot());
    reservations.set(1, Claim::fixed, deferrable(2, 10), boot());
    EXPECT_TRUE(reservations.admits(Claim::deadline, small));
    reservations.set(0, Claim::fixed, {8, 40, 11}, boot());
    EXPECT_FALSE(reservations.admits(Claim::deadline, small));
    reservations.retire(1, boot());
    EXPECT_TRUE(reservations.admits(Claim::deadline, small));
}

// --- against the schedule itself ------------------------------------------------------------------------------------

struct Job {
    const Wish* wish;
    std::uint64_t release;
    std::uint64_t left;

    [[nodiscard]] std::uint64_t due() const { return release + wish->demand.deadline_ns; }

    // Fixed priorities first, by deadline and then by release; the others by absolute deadline.
    [[nodiscard]] bool before(const Job& other) const {
        const bool fixed = wish->claim == Claim::fixed;
        if (wish->claim != other.wish->claim) {
            return fixed;
        }
        const std::uint64_t mine = fixed ? wish->demand.deadline_ns : due();
        const std::uint64_t theirs = fixed ? other.wish->demand.deadline_ns : other.due();
        return mine != theirs ? mine < theirs : release < other.release;
    }
};

// Releases at 0, T - J, 2T - J, ...: all at once, and as close together as the jitter allows.
bool released(const Demand& demand, std::uint64_t t) {
    return t == 0 || ((t + demand.jitter_ns) % demand.period_ns == 0 && t + demand.jitter_ns != 0);
}

bool simulated_feasible(const std::vector<Wish>& wishes) {
    std::uint64_t hyperperiod = 1;
    for (const Wish& wish : wishes) {
        hyperperiod = std::lcm(hyperperiod, wish.demand.period_ns);
    }
    std::vector<Job> jobs;
    for (std::uint64_t t = 0; t < 3 * hyperperiod; ++t) {
        for (const Wish& wish : wishes) {
            if (released(wish.demand, t)) {
                jobs.push_back({&wish, t, wish.demand.wcet_ns});
            }
        }
        std::erase_if(jobs, [](const Job& job) { return job.left == 0; });
        if (std::ranges::any_of(jobs, [t](const Job& job) { return job.due() <= t; })) {
            return false;
        }
        const auto first = std::ranges::min_element(jobs, [](const Job& a, const Job& b) { return a.before(b); });
        if (first != jobs.end()) {
            --first->left;
        }
    }
    return true;
}

// Exact both ways: what the simulation keeps is admitted, what it misses is refused.
void agree_on_random_sets(bool with_server) {
    std::mt19937 random(with_server ? 3 : 2); // NOLINT(cert-msc51-cpp): repeatable on purpose
    int feasible = 0;
    constexpr int kSets = 4'000;
    for (int set = 0; set < kSets; ++set) {
        std::vector<Wish> wishes;
        if (with_server) { // the highest priority: what it takes from itself is no question then
            const std::uint64_t period = 2 + random() % 2;
            wishes.push_back({Claim::fixed, deferrable(1, period)});
        }
        for (auto count = 2 + random() % 3; count > 0; --count) {
            const std::uint64_t period = 4 + random() % 9;
            const std::uint64_t deadline = 4 + random() % (period - 3);
            wishes.push_back({random() % 2 == 0 ? Claim::fixed : Claim::deadline,
                              {1 + random() % ((deadline + 1) / 2), period, deadline}});
        }
        const bool expected = simulated_feasible(wishes);
        feasible += expected ? 1 : 0;
        ASSERT_EQ(admitted(wishes), expected) << "set " << set;
    }
    EXPECT_GT(feasible, kSets / 20) << "the sets must try both answers";
    EXPECT_LT(feasible, kSets * 9 / 10);
}

TEST(Reservations, AgreeWithASimulationOnRandomSets) {
    agree_on_random_sets(false);
}

TEST(Reservations, AgreeWithASimulationBelowADeferrableServer) {
    agree_on_random_sets(true);
}

} // namespace reservations_test
