// SPDX-License-Identifier: MIT
// Tests admission at its edges, and against a simulation of EDF on small sets.
#include "kernel/config.hpp"
#include "kernel/sched/admission/exact_tests.hpp"
#include "kernel/sched/admission/utilisation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

namespace processor_demand_test {

using kernel::Demand;
using kernel::utilisation_at_most_one;

bool edf_feasible(const std::vector<Demand>& tasks) {
    kernel::Steps steps{kernel::kStepsMax};
    return kernel::edf_feasible(tasks, {}, steps);
}

// Deadline equal to the period.
Demand implicit(std::uint64_t wcet, std::uint64_t period) {
    return {wcet, period, period};
}

TEST(Utilisation, AcceptsSevenSevenths) {
    std::vector<Demand> tasks(7, implicit(1'000'000, 7'000'000));
    EXPECT_TRUE(utilisation_at_most_one(tasks));
    tasks.back().wcet_ns += 1;
    EXPECT_FALSE(utilisation_at_most_one(tasks));
}

TEST(Utilisation, AcceptsAHalfAThirdAndASixth) {
    std::vector<Demand> tasks{implicit(1'000'000, 2'000'000), implicit(1'000'000, 3'000'000),
                              implicit(1'000'000, 6'000'000)};
    EXPECT_TRUE(utilisation_at_most_one(tasks));
    for (Demand& task : tasks) {
        ++task.wcet_ns;
        EXPECT_FALSE(utilisation_at_most_one(tasks)) << "one nanosecond over in period " << task.period_ns;
        --task.wcet_ns;
    }
}

TEST(Utilisation, AcceptsAFullProcessorOfOneTask) {
    EXPECT_TRUE(utilisation_at_most_one(std::vector{implicit(5, 5)}));
    EXPECT_FALSE(utilisation_at_most_one(std::vector{implicit(5, 5), implicit(1, 1'000'000'000'000)}));
}

TEST(Utilisation, IsExactWhileTheCommonMultipleFits127Bits) {
    // 2^61 - 1 and 2^31 - 1 are prime: their product has 92 bits.
    constexpr std::uint64_t kBig = (std::uint64_t{1} << 61) - 1;
    constexpr std::uint64_t kSmall = (std::uint64_t{1} << 31) - 1;
    EXPECT_TRUE(utilisation_at_most_one(std::vector{implicit(kBig - 1, kBig), implicit(1, kBig)}));
    EXPECT_FALSE(utilisation_at_most_one(std::vector{implicit(kBig - 1, kBig), implicit(1, kSmall)}));
    EXPECT_TRUE(utilisation_at_most_one(std::vector{implicit(kSmall - 1, kSmall), implicit(1, kBig)}));
}

TEST(Utilisation, RoundsUpWhereTheCommonMultipleIsTooLarge) {
    // Three 61-bit periods without a common factor.
    constexpr std::uint64_t kPeriod = (std::uint64_t{1} << 61) - 1;
    EXPECT_TRUE(utilisation_at_most_one(
        std::vector{implicit(1'000, kPeriod), implicit(1'000, kPeriod - 2), implicit(1'000, kPeriod - 4)}));
    EXPECT_FALSE(utilisation_at_most_one(std::vector{implicit(kPeriod / 2, kPeriod), implicit(kPeriod / 2, kPeriod - 2),
                                                     implicit(kPeriod / 2, kPeriod - 4)}));
}

TEST(Utilisation, RefusesAnExcessThatRoundingDownWouldHide) {
    // 1 - 2/P + 1/(P-2) + 1/(P-4) exceeds one by less than 2^-118, and the common multiple has 183 bits.
    constexpr std::uint64_t kPeriod = (std::uint64_t{1} << 61) - 1;
    EXPECT_FALSE(utilisation_at_most_one(
        std::vector{implicit(kPeriod - 2, kPeriod), implicit(1, kPeriod - 2), implicit(1, kPeriod - 4)}));
}

TEST(ProcessorDemand, AcceptsDemandThatExactlyFillsAnInterval) {
    // Both due at 5: 2 + 3. One nanosecond more is refused though the utilisation is far below one.
    std::vector<Demand> tasks{{2, 100, 5}, {3, 100, 5}};
    EXPECT_TRUE(edf_feasible(tasks));
    tasks[0].wcet_ns = 3;
    EXPECT_FALSE(edf_feasible(tasks));
}

TEST(ProcessorDemand, FindsAMissAfterTheFirstDeadlines) {
    // h(12) = 3*2 + 6 = 12 fits; with C2 = 7 demand at 12 is 13.
    EXPECT_TRUE(edf_feasible(std::vector<Demand>{{2, 4, 4}, {6, 20, 12}}));
    EXPECT_FALSE(edf_feasible(std::vector<Demand>{{2, 4, 4}, {7, 20, 12}}));
}

TEST(ProcessorDemand, DecidesByDensityWhereTheBusyPeriodIsTooLong) {
    // Full utilisation and periods without a common factor: the busy period is their product, far beyond kStepsMax.
    constexpr std::uint64_t kA = 1'000'003;
    constexpr std::uint64_t kB = 1'000'033;
    const std::vector<Demand> nearly{{kA / 2, kA, kA}, {kB / 2, kB, kB - 1}};
    EXPECT_TRUE(edf_feasible(nearly));
    EXPECT_TRUE(edf_feasible(std::vector<Demand>{{1, kA, kA}, {1, kB, kB - 1}}));
}

TEST(ProcessorDemand, JumpsOverWhatADemandProves) {
    // The density is above one, so the exact test alone accepts. The busy period has 500 deadlines: one step for each
    // would be too many.
    const std::vector<Demand> tasks{{4, 10, 9}, {3'000, 10'000, 5'200}};
    kernel::Steps steps{40};
    EXPECT_TRUE(kernel::edf_feasible(tasks, {}, steps));
    EXPECT_GT(kernel::density_rounded_up(tasks, {}), kernel::kDensityOne);
}

TEST(Steps, AreAsManyAsWereGiven) {
    kernel::Steps steps{2};
    EXPECT_TRUE(steps.take());
    EXPECT_TRUE(steps.take());
    EXPECT_FALSE(steps.take());
    EXPECT_FALSE(steps.take());
}

TEST(ProcessorDemand, SurvivesTheLargestTimes) {
    constexpr std::uint64_t kMax = ~std::uint64_t{0};
    EXPECT_TRUE(edf_feasible(std::vector<Demand>{{1, kMax, kMax - 1}}));
    EXPECT_TRUE(edf_feasible(std::vector<Demand>{{kMax - 1, kMax, kMax - 1}}));
    EXPECT_FALSE(edf_feasible(std::vector<Demand>{{kMax - 1, kMax, kMax - 1}, {2, kMax, kMax - 1}}));
}

// EDF in unit steps from a simultaneous release over two hyperperiods.
bool simulated_feasible(const std::vector<Demand>& tasks) {
    std::uint64_t hyperperiod = 1;
    for (const Demand& task : tasks) {
        hyperperiod = std::lcm(hyperperiod, task.period_ns);
    }

    struct Job {
        std::uint64_t deadline;
        std::uint64_t left;
    };

    std::vector<Job> jobs;
    for (std::uint64_t t = 0; t < 2 * hyperperiod; ++t) {
        for (const Demand& task : tasks) {
            if (t % task.period_ns == 0) {
                jobs.push_back({t + task.deadline_ns, task.wcet_ns});
            }
        }
        std::erase_if(jobs, [](const Job& job) { return job.left == 0; });
        if (jobs.empty()) {
            continue;
        }
        auto& job = *std::ranges::min_element(jobs, {}, &Job::deadline);
        if (job.deadline <= t) {
            return false;
        }
        --job.left;
    }
    return true;
}

TEST(ProcessorDemand, AgreesWithASimulationOnRandomSets) {
    std::mt19937 random(1); // NOLINT(cert-msc51-cpp): repeatable on purpose
    int feasible = 0;
    constexpr int kSets = 3'000;
    for (int set = 0; set < kSets; ++set) {
        std::vector<Demand> tasks;
        for (auto count = 2 + random() % 3; count > 0; --count) {
            const std::uint64_t period = 2 + random() % 11;
            const std::uint64_t deadline = 1 + random() % period;
            tasks.push_back({1 + random() % ((deadline + 1) / 2), period, deadline});
        }
        const bool expected = simulated_feasible(tasks);
        feasible += expected ? 1 : 0;
        ASSERT_EQ(edf_feasible(tasks), expected) << "set " << set;
    }
    EXPECT_GT(feasible, kSets / 10) << "the sets must try both answers";
    EXPECT_LT(feasible, kSets * 9 / 10);
}

} // namespace processor_demand_test
