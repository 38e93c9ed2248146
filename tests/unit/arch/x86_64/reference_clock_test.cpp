// SPDX-License-Identifier: MIT
// Tests the calibration of the TSC on a machine of which the true rate is known: its references count exactly, wrap,
// stop, and are read in the middle of disturbances.
#include "arch/x86_64/reference_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>

namespace arch::x86_64 {
namespace {

constexpr std::uint64_t kTscHz = 2'500'000'000;
constexpr std::uint32_t kTrueKhz = kTscHz / 1000;
constexpr std::uint64_t kReadsMax = 10'000;
constexpr std::uint64_t kReadTicks = 1000; // of a reference; the value is that of half of it

struct FakeMachine {
    std::uint64_t now = 1'000'000; // ticks of the TSC
    std::uint64_t paused = 0;      // of these, those in which no reference counted
    std::uint64_t read_ticks = kReadTicks;
    std::uint64_t reads = 0; // of the reference
    std::uint64_t waits = 0;
    int windows = 0;               // begun
    std::function<void()> at_read; // between the halves of a read of the reference
    std::function<void()> at_wait;
    std::optional<std::uint64_t> stops_at; // the reference counts until then
};

struct FakeTsc {
    FakeMachine& machine;

    [[nodiscard]] std::uint64_t read() const { return machine.now += 20; }

    void wait() const {
        ++machine.waits;
        machine.now += 2000;
        if (machine.at_wait) {
            machine.at_wait();
        }
    }
};

struct FakeReference {
    FakeMachine& machine;
    std::uint64_t hz;
    std::uint64_t wrap = 0xFFFF'FFFF;
    std::uint64_t begin = 0; // its value when the TSC was 0

    void start() const {
        ++machine.windows;
        machine.read_ticks = kReadTicks;
    }

    [[nodiscard]] std::uint64_t read() const {
        ++machine.reads;
        machine.now += machine.read_ticks / 2;
        const std::uint64_t counting = std::min(machine.now - machine.paused, machine.stops_at.value_or(~0ULL));
        const std::uint64_t value = begin + lib::multiply_divide(counting, hz, kTscHz);
        if (machine.at_read) {
            machine.at_read();
        }
        machine.now += machine.read_ticks / 2;
        return value & wrap;
    }

    [[nodiscard]] std::uint64_t mask() const { return wrap; }
};

static_assert(Reference<FakeReference> && TimeStampCounter<FakeTsc>);

std::uint32_t measured(FakeMachine& machine, const FakeReference& reference) {
    return measure_khz(FakeTsc{machine}, reference, kReadsMax);
}

// A count of the reference in a window.
std::uint32_t precision(std::uint64_t hz) {
    return static_cast<std::uint32_t>(kTrueKhz / (hz / 500)) + 1;
}

TEST(TscByAReference, IsTheTrueRateToACountOfTheReference) {
    for (const std::uint64_t hz : {100'000'000U, 14'318'180U, 3'579'545U, 1'193'182U}) {
        FakeMachine machine;
        EXPECT_NEAR(measured(machine, {machine, hz}), kTrueKhz, precision(hz)) << hz;
    }
}

// Also of a reference that counts ten times in a window, and not once more.
TEST(TscByAReference, TakesFiveWindowsOf2Milliseconds) {
    for (const std::uint64_t hz : {100'000'000U, 5'000U}) {
        FakeMachine machine;
        const std::uint64_t begin = machine.now;
        EXPECT_NE(measured(machine, {machine, hz}), 0U);
        EXPECT_EQ(machine.windows, 5);
        EXPECT_GE(machine.now - begin, kTscHz / 100 - 5 * 20 * kReadTicks);
        EXPECT_LE(machine.now - begin, kTscHz / 100 + 5 * 20 * kReadTicks);
    }
}

// Of four reads, each between two of the TSC. Of equal ones it is the first.
TEST(TscByAReference, SamplesTheMiddleOfTheTightestBracket) {
    for (const std::uint64_t tightest : {1U, 2U, 3U, 4U}) {
        FakeMachine machine;
        const FakeReference hpet{machine, 100'000'000};
        std::uint64_t middle = 0;
        machine.at_read = [&] {
            if (machine.reads == tightest) {
                middle = machine.now;
            } else {
                machine.now += 2 * kReadTicks;
            }
        };
        const ClockSample sample = tightest_sample(FakeTsc{machine}, hpet);
        EXPECT_EQ(machine.reads, 4U);
        EXPECT_EQ(sample.tsc, middle + 10) << "half of what reading the TSC takes";
        EXPECT_EQ(sample.reference, middle / 25);
    }
    FakeMachine machine;
    const std::uint64_t begin = machine.now;
    EXPECT_EQ(tightest_sample(FakeTsc{machine}, FakeReference{machine, 100'000'000}).tsc,
              begin + 20 + (kReadTicks + 20) / 2);
}

TEST(TscByAReference, CountsThroughAWrapWhereverItIs) {
    for (const std::uint64_t before : {1U, 1'000U, 7'159U, 10'000U, 30'000U}) {
        FakeMachine machine;
        const FakeReference timer{machine, 3'579'545, pm_timer_mask(false), 0x100'0000 - before};
        const std::uint64_t begin = machine.now;
        EXPECT_NEAR(measured(machine, timer), kTrueKhz, precision(timer.hz)) << before;
        EXPECT_GE(machine.now - begin, kTscHz / 100 * 99 / 100) << "no window is cut short by it";
    }
}

// A management interrupt in the middle of three of four reads, each one longer than before: the tightest bracket is the
// one without.
TEST(TscByAReference, IsThatOfReadsWithoutAnInterruption) {
    FakeMachine machine;
    std::uint64_t seen = 0;
    machine.at_read = [&] { machine.now += ++seen % 4 == 3 ? 0 : 100'000 + 1'000 * seen; };
    const FakeReference hpet{machine, 100'000'000};
    EXPECT_NEAR(measured(machine, hpet), kTrueKhz, precision(hpet.hz));
}

// An emulated reference pauses while the host does something else, and the TSC counts on. Four of five windows.
TEST(TscByAReference, IsThatOfTheWindowWithoutADisturbance) {
    for (int whole = 1; whole <= 5; ++whole) {
        FakeMachine machine;
        machine.at_wait = [&machine, whole] {
            if (machine.windows != whole) {
                machine.now += 500;
                machine.paused += 500;
            }
        };
        const FakeReference hpet{machine, 100'000'000};
        EXPECT_NEAR(measured(machine, hpet), kTrueKhz, precision(hpet.hz)) << whole;
    }
}

// Reads at the ends of the windows take longer than those at their begins: a value is that of the middle of its read.
TEST(TscByAReference, IsTheTrueRateHoweverLongAReadTakes) {
    FakeMachine machine;
    machine.at_wait = [&machine] { machine.read_ticks = 100 * kReadTicks; };
    const FakeReference hpet{machine, 100'000'000};
    EXPECT_NEAR(measured(machine, hpet), kTrueKhz, precision(hpet.hz));
}

TEST(TscByAReference, IsNoneOfAReferenceThatDoesNotCount) {
    FakeMachine machine;
    machine.stops_at = 0;
    EXPECT_EQ(measured(machine, {machine, 3'579'545}), 0U);
    EXPECT_EQ(machine.reads, 4 + kReadsMax) << "those of the sample at the begin, then the wait";
    EXPECT_EQ(machine.waits, kReadsMax - 1) << "between two reads";
}

TEST(TscByAReference, IsNoneOfAReferenceThatStopsMeanwhile) {
    FakeMachine machine;
    machine.stops_at = machine.now + kTscHz / 1000 * 5; // in the third window
    EXPECT_EQ(measured(machine, {machine, 100'000'000}), 0U);
    EXPECT_EQ(machine.windows, 3);
}

TEST(ChosenClocks, AreTheFirstTwoThatCount) {
    struct Row {
        std::uint32_t hpet, pm_timer, pit;
        std::optional<TscCalibration> expected;
    };

    constexpr auto kHpet = ReferenceClock::hpet;
    constexpr auto kPmTimer = ReferenceClock::pm_timer;
    constexpr auto kPit = ReferenceClock::pit;
    const std::array<Row, 7> rows{{{3'000, 3'003, 9'000, TscCalibration{{3'000}, kHpet, kPmTimer, 1'000}},
                                   {2'000'000, 4'000'000, 0, TscCalibration{{2'000'000}, kHpet, kPmTimer, 1'000'000}},
                                   {3'000, 0, 2'997, TscCalibration{{3'000}, kHpet, kPit, 1'000}},
                                   {0, 4'000, 4'000, TscCalibration{{4'000}, kPmTimer, kPit, 0}},
                                   {0, 0, 5'000, TscCalibration{{5'000}, kPit, ReferenceClock::none, 0}},
                                   {5'000, 0, 0, TscCalibration{{5'000}, kHpet, ReferenceClock::none, 0}},
                                   {0, 0, 0, std::nullopt}}};
    for (const Row& row : rows) {
        ChosenClocks chosen;
        chosen.consider(row.hpet, kHpet);
        chosen.consider(row.pm_timer, kPmTimer);
        if (chosen.needs_more()) {
            chosen.consider(row.pit, kPit);
        }
        const auto result = chosen.result();
        ASSERT_EQ(result.ok(), row.expected.has_value());
        if (row.expected) {
            EXPECT_EQ(result.value().rate.khz, row.expected->rate.khz);
            EXPECT_EQ(result.value().source, row.expected->source);
            EXPECT_EQ(result.value().checked_by, row.expected->checked_by);
            EXPECT_EQ(result.value().error_ppm, row.expected->error_ppm);
        } else {
            EXPECT_EQ(result.error(), lib::Error::not_found);
        }
    }
}

} // namespace
} // namespace arch::x86_64
