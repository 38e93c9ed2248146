// SPDX-License-Identifier: MIT
// The compensator on a machine whose clock moves only as the test says: each guard one below, at and one above its
// bound, and random sequences with the promises that hold whatever happens.
#include "kernel/compensation/compensator.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kernel::compensation {

namespace {

constexpr lib::Ticks kNone{~std::uint64_t{0}};

// Time passes on both counters at once; an interrupt that is due stays due until it is taken.
struct FakeMachine {
    lib::Ticks now;
    lib::Ticks left = kNone;
    std::uint64_t interrupts = 0;
    int writes = 0;

    void pass(std::uint64_t ticks) {
        now.value += ticks; // wraps, as a counter does
        if (left != kNone) {
            left.value -= std::min(left.value, ticks);
        }
    }

    // What the processor does between two instructions of the program.
    bool take_interrupt(std::uint64_t period) {
        if (left.value != 0) {
            return false;
        }
        ++interrupts;
        left.value = period;
        return true;
    }

    lib::Ticks clock() const { return now; }

    lib::Ticks decrementer() const { return left; }

    void set(lib::Ticks clock, lib::Ticks decrementer) {
        EXPECT_LT(clock, now) << "the clock is only ever set back";
        if (left != kNone) {
            EXPECT_EQ(clock.value + decrementer.value, now.value + left.value);
        }
        now = clock;
        left = decrementer;
        ++writes;
    }
};

constexpr Parameters kParameters{
    .trigger = 0, .step = {10}, .max_delta = {1000}, .near_zero = {200}, .near_overflow = {~std::uint64_t{0} - 5000}};
constexpr std::uint64_t kRecord = 50; // a record takes so long

class CompensatorTest : public testing::Test {
  protected:
    // A step `since` ticks after the last setting of the clock.
    Outcome step(std::uint64_t since) {
        machine.pass(since);
        return compensator.step(machine, [this] { machine.pass(kRecord); });
    }

    void start(const Parameters& parameters, std::uint64_t clock = 10'000) {
        machine.now = {clock};
        compensator.start(parameters, machine.now);
    }

    FakeMachine machine;
    Compensator compensator;
};

TEST_F(CompensatorTest, SetsTheClockToOneStepBehindItsLastSetting) {
    start(kParameters);
    machine.left = {5000};
    EXPECT_EQ(step(100), Outcome::compensated);
    EXPECT_EQ(machine.now.value, 10'010U);
    EXPECT_EQ(machine.left.value, 4'990U); // one step has passed of it
    EXPECT_EQ(compensator.removed().value, 140U);
    EXPECT_EQ(step(30), Outcome::compensated);
    EXPECT_EQ(machine.now.value, 10'020U);
}

TEST_F(CompensatorTest, WithoutATimerNothingIsArmed) {
    start(kParameters);
    EXPECT_EQ(step(100), Outcome::compensated);
    EXPECT_EQ(machine.left, kNone);
}

TEST_F(CompensatorTest, UntracedTimeStays) {
    for (const std::uint64_t since : {999U, 1000U, 1001U}) {
        start(kParameters);
        EXPECT_EQ(step(since), since <= 1000 ? Outcome::compensated : Outcome::untraced) << since;
        EXPECT_EQ(machine.now.value, since <= 1000 ? 10'010 : 10'000 + since + kRecord) << since;
    }
    EXPECT_EQ(compensator.count(Outcome::untraced), 1U);
    EXPECT_EQ(step(100), Outcome::compensated) << "a new interval has begun";
}

TEST_F(CompensatorTest, AnInterruptThatIsNearStaysWhereItIs) {
    for (const std::uint64_t left : {199U, 200U, 201U}) {
        start(kParameters);
        machine.left = {left + 100};
        EXPECT_EQ(step(100), left >= 200 ? Outcome::compensated : Outcome::near_zero) << left;
        EXPECT_EQ(machine.left.value, left >= 200 ? left + 90 : left - kRecord) << left;
    }
}

TEST_F(CompensatorTest, NearItsEndTheClockStays) {
    const std::uint64_t bound = kParameters.near_overflow.value;
    for (const std::uint64_t clock : {bound - 1, bound, bound + 1}) {
        start(kParameters, clock - 100);
        EXPECT_EQ(step(100), clock <= bound ? Outcome::compensated : Outcome::near_overflow) << clock - bound;
        EXPECT_EQ(machine.now.value, clock <= bound ? clock - 90 : clock + kRecord) << clock - bound;
    }
}

TEST_F(CompensatorTest, AClockThatRolledOverBeginsANewInterval) {
    Parameters parameters = kParameters;
    parameters.near_overflow = {~std::uint64_t{0}};
    start(parameters, ~std::uint64_t{0} - 20);
    EXPECT_EQ(step(100), Outcome::rollover);
    EXPECT_EQ(machine.now.value, 79U + kRecord);
    EXPECT_EQ(step(100), Outcome::compensated);
    EXPECT_EQ(machine.now.value, 79U + kRecord + 10);
    start(parameters, 500);
    EXPECT_EQ(step(0), Outcome::compensated) << "equal is no rollover";
}

TEST_F(CompensatorTest, TheTriggerCountsSteps) {
    Parameters parameters = kParameters;
    parameters.trigger = 2;
    start(parameters);
    for (int round = 1; round <= 3; ++round) {
        EXPECT_EQ(step(100), Outcome::below_trigger);
        EXPECT_EQ(step(100), Outcome::below_trigger);
        EXPECT_EQ(machine.writes, round - 1);
        EXPECT_EQ(step(100), Outcome::compensated);
        EXPECT_EQ(machine.now.value, 10'000U + 10U * static_cast<unsigned>(round));
    }
    EXPECT_EQ(compensator.count(Outcome::below_trigger), 6U);
}

TEST_F(CompensatorTest, AGuardBeginsTheCountAnew) {
    Parameters parameters = kParameters;
    parameters.trigger = 1;
    start(parameters);
    EXPECT_EQ(step(100), Outcome::below_trigger);
    EXPECT_EQ(step(2000), Outcome::untraced);
    EXPECT_EQ(step(100), Outcome::below_trigger);
    EXPECT_EQ(step(100), Outcome::compensated);
}

TEST_F(CompensatorTest, NeverForward) {
    for (const std::uint64_t step_ticks : {149U, 150U, 151U}) { // 100 + a record have passed
        Parameters parameters = kParameters;
        parameters.step = {step_ticks};
        start(parameters);
        EXPECT_EQ(step(100), step_ticks < 150 ? Outcome::compensated : Outcome::not_ahead) << step_ticks;
        EXPECT_EQ(machine.now.value, step_ticks < 150 ? 10'149U : 10'150U) << step_ticks;
    }
}

TEST_F(CompensatorTest, AnInterruptsTimeIsGenuine) {
    start(kParameters);
    EXPECT_EQ(step(100), Outcome::compensated);
    machine.pass(400); // a handler
    compensator.restart(machine.now);
    EXPECT_EQ(step(20), Outcome::compensated);
    EXPECT_EQ(machine.now.value, 10'010U + 400U + 10U);
}

// Whatever comes: clock + decrementer is kept by every write (FakeMachine), the clock is set back only (likewise), what
// is removed is what real time and compensated time differ by, and each period of the timer on the compensated clock
// has one interrupt.
TEST(CompensatorProperty, KeepsItsPromisesOverRandomSequences) {
    for (std::uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        const auto up_to = [&](std::uint32_t limit) { return std::uint64_t{random() % (limit + 1)}; };
        const Parameters parameters{.trigger = static_cast<std::uint32_t>(up_to(5)),
                                    .step = {up_to(60) + 1},
                                    .max_delta = {up_to(3000)},
                                    .near_zero = {200 + up_to(300)},
                                    .near_overflow = {~std::uint64_t{0} - 1'000'000}};
        constexpr std::uint64_t kPeriod = 5'000;
        FakeMachine machine;
        machine.now = {1'000'000};
        machine.left = {kPeriod};
        Compensator compensator;
        compensator.start(parameters, machine.now);
        std::uint64_t real = machine.now.value;
        std::uint64_t steps = 0;
        const auto pass = [&](std::uint64_t ticks) {
            machine.pass(ticks);
            real += ticks;
        };
        for (int i = 0; i < 2'000; ++i) {
            pass(up_to(random() % 50 == 0 ? 4'000 : 150));
            if (machine.take_interrupt(kPeriod)) {
                pass(up_to(100));
                compensator.restart(machine.now);
            }
            compensator.step(machine, [&] { pass(up_to(100)); });
            ++steps;
            ASSERT_EQ(machine.now.value + compensator.removed().value, real) << seed;
        }
        std::uint64_t counted = 0;
        for (std::size_t outcome = 0; outcome < kOutcomeNames.size(); ++outcome) {
            counted += compensator.count(static_cast<Outcome>(outcome));
        }
        EXPECT_EQ(counted, steps) << "each step has one outcome";
        // Time passes in pieces of up to 4000 ticks, so an interrupt may be late; it is never early, and none is lost.
        const std::uint64_t compensated = machine.now.value - 1'000'000;
        EXPECT_LE(machine.interrupts, compensated / kPeriod) << seed;
        EXPECT_GT(machine.interrupts + 1, compensated / (kPeriod + 4'200)) << seed;
    }
}

// 10^5 steps with the interrupt as near as can be.
TEST(CompensatorProperty, LosesAndDoublesNoInterruptThatIsNear) {
    Parameters parameters = kParameters;
    FakeMachine machine;
    machine.now = {0};
    Compensator compensator;
    compensator.start(parameters, machine.now);
    std::mt19937 random(7);
    std::uint64_t expected = 0;
    for (int i = 0; i < 100'000; ++i) {
        machine.left = {150 + random() % 100}; // around near_zero
        const lib::Ticks due = machine.now + machine.left;
        while (machine.left.value != 0) {
            machine.pass(1 + random() % 30);
            compensator.step(machine, [&] { machine.pass(1 + random() % 40); });
        }
        ++expected;
        EXPECT_TRUE(machine.take_interrupt(1'000'000));
        ASSERT_GE(machine.now, due) << "not before its time";
        compensator.restart(machine.now);
    }
    EXPECT_EQ(machine.interrupts, expected);
    EXPECT_GT(compensator.count(Outcome::near_zero), 100'000U);
    EXPECT_GT(compensator.count(Outcome::compensated), 10'000U);
}

} // namespace

} // namespace kernel::compensation
