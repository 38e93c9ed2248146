// SPDX-License-Identifier: MIT
// Tests what the sums of all promises decide, against the tests that they replace.
#include "kernel/sched/admission/exact_tests.hpp"
#include "kernel/sched/admission/reservations.hpp"
#include "kernel/sched/admission/utilisation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <vector>

namespace promise_sums_test {

using kernel::Claim;
using kernel::Demand;
using kernel::PromiseSums;
using kernel::Verdict;

struct Set {
    std::vector<Demand> above;
    std::vector<Demand> below;

    [[nodiscard]] std::vector<Demand> all() const {
        std::vector<Demand> both = above;
        both.insert(both.end(), below.begin(), below.end());
        return both;
    }

    [[nodiscard]] PromiseSums sums() const {
        PromiseSums sums;
        for (const Demand& demand : above) {
            sums += PromiseSums(Claim::fixed, demand);
        }
        for (const Demand& demand : below) {
            sums += PromiseSums(Claim::deadline, demand);
        }
        return sums;
    }

    [[nodiscard]] std::uint64_t shortest() const {
        std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
        for (const Demand& demand : below) {
            shortest = std::min(shortest, demand.deadline_ns);
        }
        return shortest;
    }
};

Demand implicit(std::uint64_t wcet, std::uint64_t period) {
    return {wcet, period, period};
}

Demand server(std::uint64_t budget, std::uint64_t period) {
    return {budget, period, period, 0, true};
}

TEST(PromiseSums, LeaveTheLastUnitsOfTheProcessorToTheExactTest) {
    // Three thirds are one, and rounded up they are three units more: only the exact sum can say that they fit.
    const Set thirds{{}, {implicit(1, 3), implicit(1, 3), implicit(1, 3)}};
    EXPECT_EQ(thirds.sums().utilisation(), Verdict::unknown);
    const Set halves{{}, {implicit(1, 2), implicit(1, 2)}};
    EXPECT_EQ(halves.sums().utilisation(), Verdict::fits);
    const Set more{{}, {implicit(1, 2), implicit(1'000'001, 2'000'000)}};
    EXPECT_EQ(more.sums().utilisation(), Verdict::exceeds);
}

TEST(PromiseSums, DecideServersAndPeriodsAloneByTheUtilisation) {
    const Set set{{}, {server(1, 2), implicit(1, 2)}};
    EXPECT_EQ(set.sums().deadlines(set.shortest()), Verdict::fits);
}

TEST(PromiseSums, DecideAServerBelowFixedPrioritiesByTheLine) {
    // 1/4 + 1/8 of the shortest deadline + the server: 5/8 is the most that fits, and the sums leave two units open.
    const auto with = [](std::uint64_t budget) { return Set{{implicit(1, 4)}, {server(budget, 8'000'000)}}; };
    EXPECT_EQ(with(5'999'998).sums().deadlines(8'000'000), Verdict::fits);
    EXPECT_EQ(with(6'000'001).sums().deadlines(8'000'000), Verdict::exceeds);
}

TEST(PromiseSums, LeaveDeadlinesBeyondTheLineToTheExactTest) {
    const Set set{{implicit(2, 5)}, {{3, 100, 5}}};
    EXPECT_EQ(set.sums().deadlines(5), Verdict::unknown);
}

TEST(PromiseSums, ForgetWhatIsTakenAway) {
    Set set{{implicit(1, 7)}, {server(2, 9), {1, 5, 4}}};
    PromiseSums sums = set.sums();
    sums += PromiseSums(Claim::fixed, {3, 11, 10, 8});
    sums += PromiseSums(Claim::deadline, {3, 13, 12, 0, true});
    sums -= PromiseSums(Claim::fixed, {3, 11, 10, 8});
    sums -= PromiseSums(Claim::deadline, {3, 13, 12, 0, true});
    EXPECT_EQ(sums.load(4), set.sums().load(4));
    EXPECT_EQ(sums.deadlines(4), set.sums().deadlines(4));
    sums -= set.sums();
    EXPECT_EQ(sums.load(4), 0U);
}

// Never another answer than the tests, and seldom none.
TEST(PromiseSums, AgreeWithTheTestsOnRandomSets) {
    std::mt19937_64 random(7); // NOLINT(cert-msc51-cpp): repeatable on purpose
    int decided = 0;
    int fitted = 0;
    constexpr int kSets = 20'000;
    for (int round = 0; round < kSets; ++round) {
        Set set;
        const auto count = 1 + random() % 6;
        const std::uint64_t scale = random() % 2 == 0 ? 1 : 1'000'000'007;
        for (std::uint64_t i = 0; i < count; ++i) {
            const std::uint64_t period = (2 + random() % 30) * scale + random() % scale;
            const std::uint64_t wcet = std::min(period, 1 + random() % (1 + 2 * period / (count + 1)));
            const std::uint64_t deadline = random() % 3 == 0 ? wcet + random() % (period - wcet + 1) : period;
            switch (random() % 4) {
            case 0:
                set.above.push_back({wcet, period, period, random() % 2 == 0 ? period - wcet : 0});
                break;
            case 1:
                set.below.push_back(server(wcet, period));
                break;
            default:
                set.below.push_back({wcet, period, deadline});
                break;
            }
        }
        const PromiseSums sums = set.sums();
        const Verdict whole = sums.utilisation();
        const bool at_most_one = kernel::utilisation_at_most_one(set.all());
        if (whole != Verdict::unknown) {
            ASSERT_EQ(whole == Verdict::fits, at_most_one) << "set " << round;
        }
        if (whole != Verdict::fits) {
            decided += whole == Verdict::exceeds ? 1 : 0;
            continue;
        }
        kernel::Steps steps{20'000};
        const Verdict by_line = sums.deadlines(set.shortest());
        if (by_line != Verdict::unknown) {
            const bool feasible = kernel::edf_feasible(set.below, set.above, steps);
            ASSERT_EQ(by_line == Verdict::fits, feasible) << "set " << round;
            ++decided;
            fitted += feasible ? 1 : 0;
        }
    }
    EXPECT_GT(decided, kSets / 2);
    EXPECT_GT(fitted, kSets / 20) << "the sets must try both answers";
    EXPECT_LT(fitted, decided * 9 / 10);
}

} // namespace promise_sums_test
