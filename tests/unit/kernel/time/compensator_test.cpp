// SPDX-License-Identifier: MIT
// Tests the compensator on a machine whose clock moves only as the test says: each guard one below, at and one above
// its bound, before and after the record, and random sequences with the promises that hold whatever happens.
#include "kernel/time/compensator.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>

namespace kernel::compensation {

namespace compensator_test {

constexpr lib::Ticks kNone{~std::uint64_t{0}};

// Time passes on both counters at once. A decrementer that reaches zero latches the timer's interrupt, which is pending
// until it is delivered. What is armed is kept apart from the decrementer, as the time of the compensated clock when it
// is due, so an interrupt that comes early, twice or not at all is seen whatever was written.
class FakeMachine {
  public:
    lib::Ticks now;
    lib::Ticks left = kNone;
    std::uint64_t write_ticks = 0; // pass between the last reading and the new values
    std::uint64_t delivered = 0;
    int writes = 0;

    void arm(lib::Ticks due) {
        EXPECT_FALSE(m_due) << "lost: the last one has not come yet";
        m_due = due;
        left = due > now ? due - now : lib::Ticks{};
        m_pending = m_pending || left.value == 0;
    }

    void pass(std::uint64_t ticks) {
        now.value += ticks; // wraps, as a counter does
        if (left != kNone && left.value != 0) {
            left.value -= std::min(left.value, ticks);
            m_pending = m_pending || left.value == 0;
        }
        EXPECT_TRUE(!m_due || *m_due > now || m_pending) << "lost: it is due at " << m_due->value;
    }

    // What the processor does between two instructions of the program.
    bool deliver() {
        if (!m_pending) {
            return false;
        }
        m_pending = false;
        ++delivered;
        if (left.value == 0) {
            left = kNone; // one shot
        }
        EXPECT_TRUE(m_due) << "doubled: nothing is due";
        EXPECT_GE(now.value, m_due.value_or(lib::Ticks{}).value) << "early";
        m_due.reset();
        return true;
    }

    lib::Ticks clock() const { return now; }

    lib::Ticks decrementer() const { return left; }

    void set(lib::Ticks clock, lib::Ticks decrementer) {
        EXPECT_LT(clock, now) << "the clock is only ever set back";
        if (left != kNone) {
            EXPECT_EQ(clock.value + decrementer.value, now.value + left.value);
        }
        pass(write_ticks);
        EXPECT_FALSE(m_pending) << "doubled: it is pending, and armed again";
        now = clock;
        left = decrementer;
        ++writes;
    }

  private:
    std::optional<lib::Ticks> m_due; // until it is delivered
    bool m_pending = false;
};

constexpr Parameters kParameters{
    .trigger = 0, .step = {10}, .max_delta = {1000}, .near_zero = {200}, .near_overflow = {~std::uint64_t{0} - 5000}};
constexpr std::uint64_t kRecord = 50; // a record takes so long

class CompensatorTest : public testing::Test {
  protected:
    // A step `since` ticks after the last setting of the clock.
    Outcome step(std::uint64_t since, std::uint64_t record = kRecord) {
        machine.pass(since);
        return compensator.step(machine, [&] { machine.pass(record); });
    }

    void start(const Parameters& parameters, std::uint64_t clock = 10'000) {
        machine.now = {clock};
        compensator.start(parameters, machine.now);
    }

    FakeMachine machine;
    Compensator compensator;
};

TEST_F(CompensatorTest, SetsTheClockToOneStepAfterItsLastSetting) {
    start(kParameters);
    machine.arm({15'000});
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
    for (const std::uint64_t record : {std::uint64_t{0}, kRecord, std::uint64_t{900}}) {
        for (const std::uint64_t all : {999U, 1000U, 1001U}) {
            start(kParameters);
            EXPECT_EQ(step(all - record, record), all <= 1000 ? Outcome::compensated : Outcome::untraced) << all;
            EXPECT_EQ(machine.now.value, all <= 1000 ? 10'010 : 10'000 + all) << all;
        }
    }
    EXPECT_EQ(compensator.count(Outcome::untraced), 3U);
    EXPECT_EQ(step(100), Outcome::compensated) << "a new interval has begun";
}

TEST_F(CompensatorTest, AnInterruptThatIsNearStaysWhereItIs) {
    for (const std::uint64_t record : {std::uint64_t{0}, kRecord, std::uint64_t{500}}) {
        for (const std::uint64_t left : {199U, 200U, 201U}) { // after the record
            machine = {};
            start(kParameters);
            machine.arm({10'000 + 100 + record + left});
            EXPECT_EQ(step(100, record), left >= 200 ? Outcome::compensated : Outcome::near_zero) << left;
            EXPECT_EQ(machine.left.value, left >= 200 ? left + record + 90 : left) << left;
        }
    }
    EXPECT_EQ(compensator.count(Outcome::near_zero), 3U);
}

// A record that takes long: a stalled processor, an NMI.
TEST_F(CompensatorTest, AnInterruptThatComesDueInTheRecordComesOnce) {
    start(kParameters);
    machine.arm({10'500});
    EXPECT_EQ(step(100, 800), Outcome::near_zero);
    EXPECT_EQ(machine.writes, 0);
    EXPECT_TRUE(machine.deliver());
    machine.pass(5'000);
    EXPECT_FALSE(machine.deliver());
}

TEST_F(CompensatorTest, NearItsEndTheClockStays) {
    const std::uint64_t bound = kParameters.near_overflow.value;
    for (const std::uint64_t record : {std::uint64_t{0}, kRecord}) {
        for (const std::uint64_t clock : {bound - 1, bound, bound + 1}) { // after the record
            start(kParameters, clock - record - 100);
            EXPECT_EQ(step(100, record), clock <= bound ? Outcome::compensated : Outcome::near_overflow)
                << clock - bound;
            EXPECT_EQ(machine.now.value, clock <= bound ? clock - record - 90 : clock) << clock - bound;
        }
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
    start(parameters, ~std::uint64_t{0} - 20);
    EXPECT_EQ(step(10), Outcome::rollover) << "while the record was written";
    EXPECT_EQ(compensator.count(Outcome::rollover), 2U);
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

TEST_F(CompensatorTest, CountsContinueOverAnotherStart) {
    start(kParameters);
    EXPECT_EQ(step(100), Outcome::compensated);
    compensator.stop();
    start(kParameters, 20'000);
    EXPECT_EQ(compensator.removed().value, 140U);
    EXPECT_EQ(step(100), Outcome::compensated);
    EXPECT_EQ(compensator.count(Outcome::compensated), 2U);
    EXPECT_EQ(compensator.removed().value, 280U);
}

TEST_F(CompensatorTest, AStartBeginsTheCountToTheTriggerAnew) {
    Parameters parameters = kParameters;
    parameters.trigger = 1;
    start(parameters);
    EXPECT_EQ(step(100), Outcome::below_trigger);
    start(parameters);
    EXPECT_EQ(step(100), Outcome::below_trigger);
    EXPECT_EQ(step(100), Outcome::compensated);
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
// is removed is what real time and compensated time differ by, and each time that the timer is armed for on the
// compensated clock has one interrupt, not before it (likewise).
TEST(CompensatorProperty, KeepsItsPromisesOverRandomSequences) {
    for (std::uint32_t seed = 0; seed < 200 && !testing::Test::HasFailure(); ++seed) {
        std::mt19937 random(seed);
        const auto up_to = [&](std::uint32_t limit) { return std::uint64_t{random() % (limit + 1)}; };
        const Parameters parameters{.trigger = static_cast<std::uint32_t>(up_to(5)),
                                    .step = {up_to(60) + 1},
                                    .max_delta = {up_to(3000)},
                                    .near_zero = {200 + up_to(300)},
                                    .near_overflow = {~std::uint64_t{0} - 1'000'000}};
        constexpr std::uint64_t kBegin = 1'000'000;
        constexpr std::uint64_t kPeriod = 5'000;
        FakeMachine machine;
        machine.write_ticks = up_to(190);
        machine.now = {kBegin};
        lib::Ticks due{kBegin + kPeriod};
        machine.arm(due);
        Compensator compensator;
        compensator.start(parameters, machine.now);
        std::uint64_t real = machine.now.value;
        std::uint64_t steps = 0;
        const auto pass = [&](std::uint64_t ticks) {
            machine.pass(ticks);
            real += ticks;
        };
        const auto interrupt = [&] {
            while (machine.deliver()) {
                due.value += kPeriod;
                machine.arm(due);
                pass(up_to(100));
                compensator.restart(machine.now);
            }
        };
        for (int i = 0; i < 2'000 && !testing::Test::HasFailure(); ++i) {
            pass(up_to(random() % 50 == 0 ? 4'000 : 150));
            interrupt();
            compensator.step(machine, [&] { pass(up_to(random() % 20 == 0 ? 1'500 : 100)); });
            ++steps;
            interrupt();
            ASSERT_EQ(machine.now.value + compensator.removed().value, real) << seed;
        }
        std::uint64_t counted = 0;
        for (std::size_t outcome = 0; outcome < lib::kWords<Outcome>.size(); ++outcome) {
            counted += compensator.count(static_cast<Outcome>(outcome));
        }
        EXPECT_EQ(counted, steps) << "each step has one outcome";
        EXPECT_EQ(machine.delivered, (machine.now.value - kBegin) / kPeriod) << "seed " << seed;
    }
}

// 10^5 interrupts, each as near as can be: it comes once.
TEST(CompensatorProperty, LosesAndDoublesNoInterruptThatIsNear) {
    FakeMachine machine;
    machine.write_ticks = 20;
    machine.now = {0};
    Compensator compensator;
    compensator.start(kParameters, machine.now);
    std::mt19937 random(7);
    std::uint64_t expected = 0;
    while (expected < 100'000 && !testing::Test::HasFailure()) {
        machine.arm(machine.now + lib::Ticks{150 + random() % 100}); // around near_zero
        ++expected;
        do {
            machine.pass(1 + random() % 30);
            compensator.step(machine, [&] { machine.pass(1 + random() % (random() % 8 == 0 ? 400 : 40)); });
        } while (!machine.deliver());
        machine.pass(2'000); // whatever is still armed comes now
        EXPECT_FALSE(machine.deliver());
        compensator.restart(machine.now);
    }
    EXPECT_EQ(machine.delivered, expected);
    EXPECT_GT(compensator.count(Outcome::near_zero), 100'000U) << "it was near";
    EXPECT_GT(compensator.count(Outcome::compensated), 10'000U);
}

} // namespace compensator_test

} // namespace kernel::compensation
