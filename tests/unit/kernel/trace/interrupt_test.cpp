// SPDX-License-Identifier: MIT
// Tests what interrupts and sections with interrupts off leave in the trace, in each mode.
#include "kernel/trace/interrupt.hpp"

#include "tests/support/tracer/bridge.hpp"

namespace interrupt_test {

using namespace kernel;
using namespace kernel::trace_points;

constexpr arch::Vector kVector = 33;

class InterruptPoints : public tests::BridgeTest {
  protected:
    // The modes are static data of the bridge.
    InterruptPoints() { reset(); }

    ~InterruptPoints() override { reset(); }

    InterruptPoints(const InterruptPoints&) = delete;
    InterruptPoints& operator=(const InterruptPoints&) = delete;

    [[nodiscard]] std::string interrupted() {
        return by([] {
            interrupt_started(kVector);
            interrupt_ended(kVector);
        });
    }

  private:
    static void reset() {
        trace_points::detail::interrupts = {};
        interrupt_sections_set(false);
    }
};

TEST_F(InterruptPoints, RecordASpanAHitOrEachSoManyOfAVector) {
    EXPECT_EQ(by([] { interrupt_named(kVector, "clock"); }), "");
    EXPECT_EQ(last_name(), "interrupt 33 clock");
    EXPECT_EQ(interrupted(), "interrupt_start 33 0, interrupt_end 33 0");
    interrupt_detail_set(kVector, InterruptDetail::hit, kInterruptCountEvery);
    EXPECT_EQ(interrupted(), "interrupt_hit 33 0");
    interrupt_detail_set(kVector, InterruptDetail::count, 3);
    EXPECT_EQ(interrupted(), "");
    EXPECT_EQ(interrupted(), "");
    EXPECT_EQ(interrupted(), "interrupt_count 33 3");
    EXPECT_EQ(interrupted(), "") << "the count begins again";
}

TEST_F(InterruptPoints, RecordWhatWasCountedBeforeAnotherModeAndAtAFlush) {
    interrupt_detail_set(kVector, InterruptDetail::count, 3);
    EXPECT_EQ(interrupted(), "");
    EXPECT_EQ(by([] { interrupt_counts_flushed(); }), "interrupt_count 33 1");
    EXPECT_EQ(by([] { interrupt_counts_flushed(); }), "") << "there is nothing to record";
    EXPECT_EQ(interrupted(), "");
    EXPECT_EQ(by([] { interrupt_detail_set(kVector, InterruptDetail::span, 3); }), "interrupt_count 33 1");
    EXPECT_EQ(interrupted(), "interrupt_start 33 0, interrupt_end 33 0");
}

TEST_F(InterruptPoints, KeepACountWhileItsFamilyIsFiltered) {
    interrupt_detail_set(kVector, InterruptDetail::count, 2);
    ASSERT_TRUE(traced.tracer().control.set_filter(FTrace_filter_interrupt, true).ok());
    EXPECT_EQ(interrupted(), "");
    EXPECT_EQ(interrupted(), "");
    ASSERT_TRUE(traced.tracer().control.set_filter(FTrace_filter_interrupt, false).ok());
    EXPECT_EQ(interrupted(), "interrupt_count 33 3");
}

TEST_F(InterruptPoints, RecordWhenTheGovernorMasksALine) {
    EXPECT_EQ(by([] { interrupt_masked(kVector, 70'000); }), "interrupt_masked 33 70000");
    EXPECT_EQ(by([] { interrupt_unmasked(kVector); }), "interrupt_unmasked 33 0");
}

TEST_F(InterruptPoints, RecordTheOutermostSectionsIfTheyAreWanted) {
    const auto section = [](std::uint64_t former) {
        interrupts_off(former);
        interrupts_on(former);
    };
    EXPECT_EQ(by([&] { section(1); }), "");
    EXPECT_EQ(by([] { interrupts_enabled(); }), "");
    interrupt_sections_set(true);
    EXPECT_EQ(by([&] { section(1); }), "CLI 0 0, STI 0 0");
    EXPECT_EQ(by([&] { section(0); }), "") << "interrupts were off before";
    EXPECT_EQ(by([] { interrupts_enabled(); }), "STI 0 0");
}

} // namespace interrupt_test
