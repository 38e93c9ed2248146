// SPDX-License-Identifier: MIT
// Tests the kernel's clock by the records that set it back: the time of each event, and what is counted.
#include "host/formats/dat/record_stream.hpp"

#include <gtest/gtest.h>

namespace host::formats::dat::kernel_clock_test {

namespace {

class KernelClockTest : public testing::Test {
  protected:
    // The time that the event has by the kernel's clock.
    std::uint64_t take(std::uint64_t stamp, std::uint8_t code = trace::kCodeOf<"ipoint">, std::uint64_t parameters = 0,
                       std::uint16_t cpu = 0) {
        trace::Event event;
        event.ticks = {stamp};
        event.cpu = cpu;
        event.code = code;
        event.par1 = static_cast<std::uint16_t>(parameters >> 32);
        event.par2 = static_cast<std::uint32_t>(parameters);
        m_clock.take(event, {1000}, m_facts);
        return event.ticks.value;
    }

    std::uint64_t set_back(std::uint64_t stamp, std::uint64_t removed, std::uint16_t cpu = 0) {
        return take(stamp, trace::kCodeOf<"clock_compensated">, removed, cpu);
    }

    trace::TraceFacts m_facts;
    KernelClock m_clock;
};

TEST_F(KernelClockTest, IsThatOfTheMachineUntilItIsSetBack) {
    EXPECT_EQ(take(1000), 1000U);
    EXPECT_EQ(take(1500), 1500U);
    EXPECT_FALSE(m_clock.in_use());
    EXPECT_TRUE(m_clock.knows(0));
    EXPECT_FALSE(m_clock.knows(1));
    EXPECT_FALSE(m_facts.compensation.has_value());
}

TEST_F(KernelClockTest, StopsUntilTheTimeThatItHadReached) {
    take(2000);
    EXPECT_EQ(set_back(2100, 300), 2000U);
    EXPECT_TRUE(m_clock.in_use());
    EXPECT_EQ(take(2250), 2000U);
    EXPECT_EQ(take(2300), 2000U);
    EXPECT_EQ(take(2301), 2001U);
    EXPECT_EQ(set_back(2500, 400), 2100U);
    EXPECT_EQ(m_facts.compensation->removed.value, 400U);
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 400U);
    EXPECT_EQ(m_facts.compensation->settings, 2U);
}

TEST_F(KernelClockTest, HasTheUpperHalfOfWhatWasRemoved) {
    constexpr std::uint64_t kRemoved = (std::uint64_t{3} << 32) + 5;
    take(kRemoved + 2000);
    EXPECT_EQ(set_back(2 * kRemoved + 3000, kRemoved), kRemoved + 3000);
    EXPECT_EQ(m_facts.compensation->removed.value, kRemoved);
}

TEST_F(KernelClockTest, CountsARepetitionOnce) {
    take(2000);
    set_back(2400, 300);
    set_back(2500, 300);
    EXPECT_EQ(m_facts.compensation->settings, 1U);
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 300U);
}

TEST_F(KernelClockTest, IsOfEachProcessorAlone) {
    take(2000);
    take(2000, trace::kCodeOf<"ipoint">, 0, 1);
    set_back(2400, 300);
    EXPECT_EQ(take(2500, trace::kCodeOf<"ipoint">, 0, 1), 2500U);
    EXPECT_EQ(set_back(2600, 100, 1), 2500U);
    EXPECT_EQ(m_facts.compensation->removed.value, 300U) << "of the processor with most";
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 400U) << "of all";
    EXPECT_EQ(take(2700), 2400U);
}

// More than the trace has lasted: it was removed before the trace began, and the clock falls to where it is.
TEST_F(KernelClockTest, FallsOnceIfItWasSetBackBeforeTheTraceBegan) {
    take(1200);
    EXPECT_EQ(set_back(1300, 301), 999U);
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 0U);
    EXPECT_EQ(m_facts.compensation->settings, 1U);
    EXPECT_EQ(set_back(1400, 900), 999U) << "not again";
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 599U);
}

TEST_F(KernelClockTest, DoesNotFallIfTheTraceHasLastedAsLong) {
    take(1200);
    EXPECT_EQ(set_back(1300, 300), 1200U);
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 300U);
}

TEST_F(KernelClockTest, IsNeverBelowZero) {
    EXPECT_EQ(set_back(1100, 5000), 0U);
    EXPECT_EQ(take(1200), 0U);
}

// Settings may be missing in the gap.
TEST_F(KernelClockTest, StopsAfterAGapUntilItsNextRecord) {
    for (const std::uint8_t gap : {trace::kCodeOf<"trace_start">, trace::kCodeOf<"blackout_end">}) {
        m_clock = {};
        take(2000);
        set_back(2400, 300);
        EXPECT_EQ(take(2500, gap), 2100U);
        EXPECT_EQ(take(2600), 2100U);
        EXPECT_EQ(set_back(2700, 350), 2350U);
        EXPECT_EQ(take(2800), 2450U);
    }
}

TEST_F(KernelClockTest, ContinuesAfterAGapIfItWasNeverSetBack) {
    take(2000);
    set_back(2400, 300, 1);
    EXPECT_EQ(take(2500, trace::kCodeOf<"blackout_end">), 2500U);
    EXPECT_EQ(take(2600), 2600U);
}

TEST_F(KernelClockTest, KnowsWhatWasRemovedBeforeItsFirstEvent) {
    m_clock.begin(0, 400);
    EXPECT_TRUE(m_clock.in_use());
    EXPECT_TRUE(m_clock.knows(0));
    EXPECT_EQ(take(1500), 1100U);
    EXPECT_EQ(set_back(1600, 450), 1150U);
    EXPECT_EQ(m_facts.compensation->removed_meanwhile.value, 50U);
}

TEST_F(KernelClockTest, HasSeenTheStampsThatItWasGivenAtOnce) {
    m_clock.saw(0, {2000});
    m_clock.saw(1, {3000});
    m_clock.saw(0, {1900});
    EXPECT_EQ(set_back(2100, 500), 2000U);
    EXPECT_EQ(set_back(3100, 500, 1), 3000U);
}

TEST_F(KernelClockTest, CountsTheStepsByTheirOutcome) {
    constexpr std::uint64_t kOutcomes = lib::kWords<lib::StepOutcome>.size();
    const auto count = [&](std::uint64_t outcome, std::uint32_t steps) {
        EXPECT_EQ(take(1100, trace::kCodeOf<"compensation_count">, outcome << 32 | steps), 1100U);
    };
    count(kOutcomes, 9);
    EXPECT_FALSE(m_facts.compensation.has_value()) << "no such outcome";
    count(0, 3);
    count(0, 4);
    count(kOutcomes - 1, 5);
    EXPECT_EQ(m_facts.compensation->steps.front(), 7U);
    EXPECT_EQ(m_facts.compensation->steps.back(), 5U);
    EXPECT_EQ(m_facts.compensation->settings, 0U);
}

} // namespace

} // namespace host::formats::dat::kernel_clock_test
