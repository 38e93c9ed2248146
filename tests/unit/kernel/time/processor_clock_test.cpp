// SPDX-License-Identifier: MIT
// Tests a processor's clock over its counter: what it reads, and that several of them know nothing of each other.
#include "kernel/time/compensator.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace kernel::compensation {

namespace processor_clock_test {

// A counter that never stops, and a timer that is armed for a time of the clock.
struct FakeProcessor {
    ProcessorClock clock;
    lib::Ticks now;
    lib::Ticks due;      // on the clock
    lib::Ticks timer_at; // on the counter
    std::uint64_t writes = 0;
    std::uint64_t interrupts = 0;

    void arm(lib::Ticks time) {
        due = time;
        timer_at = clock.counter_at(due);
    }

    [[nodiscard]] lib::Ticks counter() const { return now; }

    [[nodiscard]] lib::Ticks left() const { return timer_at > now ? timer_at - now : lib::Ticks{}; }

    [[nodiscard]] lib::Ticks time() const { return now - clock.removed(); }

    void arm_again() {
        timer_at = clock.counter_at(due);
        ++writes;
        EXPECT_EQ(time() + left(), due) << "clock + decrementer never changes";
    }
};

// Records of a known cost among genuine work: the timer, which no record sets, comes too early, is set again, and is
// due at the time that it was armed for, by the clock; which has advanced by the genuine work alone.
TEST(ProcessorClock, RecordsTakeNoTimeAndTheTimerKeepsItsPace) {
    constexpr std::uint64_t kRecord = 19;
    constexpr std::uint64_t kSetting = 252;
    constexpr std::uint64_t kPeriod = 50'000;
    FakeProcessor processor;
    std::mt19937 random(1);
    processor.now = {1'000};
    std::uint64_t records = 7;
    std::uint64_t genuine = 0;
    std::uint64_t early = 0;
    processor.clock.start({.record_x256 = kRecord * 256}, processor.now, records);
    processor.arm(processor.now + lib::Ticks{kPeriod});
    while (processor.interrupts < 50) {
        const std::uint64_t work = random() % 40;
        const std::uint64_t written = random() % 3;
        genuine += work;
        records += written;
        processor.now.value += work + written * kRecord;
        if (processor.left().value != 0) {
            continue;
        }
        processor.clock.settle(records);
        const lib::Ticks entered = processor.now;
        if (processor.time() < processor.due) {
            processor.clock.early(processor, entered, [&] {
                processor.now.value += kSetting;
                return processor.now;
            });
            ++early;
            continue;
        }
        EXPECT_LE((processor.time() - processor.due).value, 40 + 2 * kRecord + kSetting);
        ++processor.interrupts;
        processor.arm(processor.due + lib::Ticks{kPeriod});
    }
    EXPECT_NEAR(static_cast<double>(processor.time().value - 1'000), static_cast<double>(genuine), kSetting);
    EXPECT_GT(early, processor.interrupts) << "several records share one setting";
    EXPECT_LT(early, 12 * processor.interrupts);
}

// A processor with a load of its own: steps, stretches that are not traced, timer interrupts, readers.
class Load {
  public:
    explicit Load(std::uint32_t seed)
        : m_random(seed)
        , m_period{4'000 + up_to(4'000)} {
        processor.now = {1'000 + up_to(1'000'000)};
        processor.arm(processor.now + m_period);
        const Parameters parameters{.trigger = static_cast<std::uint32_t>(up_to(4)),
                                    .step = {1 + up_to(20)},
                                    .max_delta = {1'000 + up_to(2'000)},
                                    .near_zero = {200 + up_to(200)},
                                    .near_overflow = {~std::uint64_t{0} - 1'000'000}};
        processor.clock.start(parameters, processor.now);
    }

    void step() {
        processor.now.value += up_to(random() % 40 == 0 ? 3'000 : 120);
        if (processor.left().value == 0) {
            ++processor.interrupts;
            processor.now.value += up_to(300); // the handler
            processor.arm(processor.time() + m_period);
            processor.clock.untraced(processor.now);
        }
        const lib::Ticks real = processor.time() + processor.clock.removed();
        outcomes.push_back(processor.clock.step(processor, [this] { processor.now.value += up_to(100); }));
        EXPECT_GE((processor.time() + processor.clock.removed()).value, real.value);
        const lib::Ticks read = processor.clock.read(processor.now, random() % 2 == 0);
        EXPECT_GE(read, m_last) << "the clock never falls";
        m_last = read;
        reads.push_back(read.value);
    }

    FakeProcessor processor;
    std::vector<Outcome> outcomes;
    std::vector<std::uint64_t> reads;

  private:
    std::uint32_t random() { return static_cast<std::uint32_t>(m_random()); }

    std::uint64_t up_to(std::uint32_t limit) { return random() % (limit + 1); }

    std::mt19937 m_random;
    lib::Ticks m_period;
    lib::Ticks m_last;
};

TEST(ProcessorClock, IsTheCounterLessWhatWasRemoved) {
    FakeProcessor processor;
    processor.now = {10'000};
    processor.arm({50'000});
    processor.clock.start({.step = {10}}, processor.now);
    processor.now = {10'100};
    EXPECT_EQ(processor.clock.step(processor, [&] { processor.now = {10'150}; }), Outcome::compensated);
    EXPECT_EQ(processor.clock.removed().value, 140U);
    EXPECT_EQ(processor.clock.read(processor.now, false).value, 10'010U);
    EXPECT_EQ(processor.timer_at.value, 50'140U);
    EXPECT_EQ(processor.clock.counter_at({10'010}).value, 10'150U);
}

TEST(ProcessorClock, AReaderInStepsSeesTheTimeOfItsStep) {
    FakeProcessor processor;
    processor.now = {10'000};
    processor.clock.start({.step = {10}}, processor.now);
    EXPECT_EQ(processor.clock.read({10'300}, true).value, 10'010U);
    EXPECT_EQ(processor.clock.read({10'300}, false).value, 10'300U);
    processor.clock.stop();
    EXPECT_EQ(processor.clock.read({10'400}, true).value, 10'400U);
}

TEST(ProcessorClock, StopsUntilWhatWasReadIsReached) {
    FakeProcessor processor;
    processor.now = {10'000};
    processor.arm({50'000});
    processor.clock.start({.step = {10}}, processor.now);
    EXPECT_EQ(processor.clock.read({10'300}, false).value, 10'300U);
    processor.now = {10'300};
    EXPECT_EQ(processor.clock.step(processor, [] {}), Outcome::compensated);
    EXPECT_EQ(processor.clock.read({10'300}, false).value, 10'300U) << "10 010, had it not been read";
    EXPECT_EQ(processor.clock.read({10'600}, false).value, 10'310U);
}

TEST(ProcessorClock, WhatWasRemovedStaysRemovedOverAnotherStart) {
    FakeProcessor processor;
    processor.now = {10'000};
    processor.arm({50'000});
    processor.clock.start({.step = {10}}, processor.now);
    processor.now = {10'110};
    EXPECT_EQ(processor.clock.step(processor, [] {}), Outcome::compensated);
    processor.clock.stop();
    processor.now = {11'110};
    processor.clock.start({.step = {10}}, processor.now);
    EXPECT_EQ(processor.clock.compensator().removed().value, 100U) << "since boot";
    EXPECT_EQ(processor.clock.compensator().count(Outcome::compensated), 1U) << "likewise";
    EXPECT_EQ(processor.clock.removed().value, 100U);
    EXPECT_EQ(processor.clock.read(processor.now, false).value, 11'010U);
}

TEST(ProcessorClock, TakesOffWhatRecordsCostAndKeepsTheRestOfATick) {
    ProcessorClock clock;
    clock.start({.record_x256 = 640}, {10'000}, 100); // two and a half ticks each, from the next record on
    clock.settle(110);
    EXPECT_EQ(clock.removed().value, 25U);
    clock.settle(111);
    EXPECT_EQ(clock.removed().value, 27U);
    clock.settle(112);
    EXPECT_EQ(clock.removed().value, 30U);
}

TEST(ProcessorClock, TakesOffWithAnEarlyInterruptWhatTheLastOneTook) {
    FakeProcessor processor;
    processor.now = {10'000};
    processor.clock.start({.record_x256 = 256}, processor.now);
    processor.arm({20'000});
    const auto early = [&](std::uint64_t takes) {
        const lib::Ticks entered = processor.now;
        processor.clock.early(processor, entered, [&] {
            processor.now.value += takes;
            return processor.now;
        });
        return processor.clock.removed().value;
    };
    EXPECT_EQ(early(252), 0U);
    EXPECT_EQ(early(300), 252U);
    EXPECT_EQ(early(1), 552U);
}

// Setting the timer takes time.
struct SlowProcessor : FakeProcessor {
    void arm_again() {
        FakeProcessor::arm_again();
        now.value += 30;
    }
};

TEST(ProcessorClock, BeginsTheNextStepWhereTheLastOneShouldHaveEnded) {
    SlowProcessor processor;
    processor.now = {10'000};
    processor.arm({50'000});
    processor.clock.start({.step = {10}}, processor.now);
    processor.now = {10'100};
    EXPECT_EQ(processor.clock.step(processor, [] {}), Outcome::compensated);
    EXPECT_EQ(processor.clock.removed().value, 90U);
    processor.now = {10'200};
    EXPECT_EQ(processor.clock.step(processor, [] {}), Outcome::compensated);
    EXPECT_EQ(processor.clock.removed().value, 180U) << "the clock is at 10 020 after two steps";
}

TEST(ProcessorClock, BeginsANewIntervalWhereCodeRanThatIsNotTraced) {
    FakeProcessor processor;
    processor.now = {10'000};
    processor.arm({50'000});
    processor.clock.start({.step = {10}}, processor.now);
    processor.now = {10'500};
    processor.clock.untraced(processor.now);
    processor.now = {10'600};
    EXPECT_EQ(processor.clock.step(processor, [] {}), Outcome::compensated);
    EXPECT_EQ(processor.clock.removed().value, 90U);
}

// Three processors by turns, each with its own counter, timer, parameters and load: each keeps its promises (Load,
// FakeProcessor), and comes out as if it had been alone.
TEST(ProcessorClocks, DoNotDisturbEachOther) {
    constexpr int kSteps = 3'000;
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::array<Load, 3> together = {Load(3 * seed), Load(3 * seed + 1), Load(3 * seed + 2)};
        std::mt19937 turns(seed);
        std::array<int, 3> left = {kSteps, kSteps, kSteps};
        while (left[0] + left[1] + left[2] > 0) {
            const std::size_t turn = turns() % together.size();
            if (left.at(turn) > 0) {
                --left.at(turn);
                together.at(turn).step();
            }
        }
        for (std::uint32_t i = 0; i < together.size(); ++i) {
            Load alone(3 * seed + i);
            for (int step = 0; step < kSteps; ++step) {
                alone.step();
            }
            const Load& one = together.at(i);
            ASSERT_EQ(one.outcomes, alone.outcomes) << seed << " processor " << i;
            ASSERT_EQ(one.reads, alone.reads) << seed << " processor " << i;
            EXPECT_EQ(one.processor.clock.removed(), alone.processor.clock.removed());
            EXPECT_EQ(one.processor.interrupts, alone.processor.interrupts);
            EXPECT_GT(one.processor.writes, 100U);
            EXPECT_GT(one.processor.interrupts, 2U);
        }
    }
}

} // namespace processor_clock_test

} // namespace kernel::compensation
