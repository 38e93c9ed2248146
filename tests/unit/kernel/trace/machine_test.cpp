// SPDX-License-Identifier: MIT
// Tests what faults, a panic and single steps leave in the trace. It has the processor of these tests: its clock has
// two ticks in a nanosecond, and it knows whether it steps.
#include "kernel/trace/machine.hpp"

#include "tests/support/tracer/bridge.hpp"

namespace machine_test {

using namespace kernel;
using namespace kernel::trace_points;

constinit bool g_steps = false;

class MachinePoints : public tests::BridgeTest {
  protected:
    MachinePoints() {
        this_processor() = {};
        g_steps = false;
    }

    ~MachinePoints() override { this_processor() = {}; }

    MachinePoints(const MachinePoints&) = delete;
    MachinePoints& operator=(const MachinePoints&) = delete;

    [[nodiscard]] auto untraced() {
        return [this](IrqOff) { ++genuine; };
    }

    // The task runs in steps from here on.
    void trace_steps(std::uint16_t context) {
        EXPECT_TRUE(traced.tracer().instructions.add(context, tracer::Grain::instructions));
    }

    int genuine = 0; // how often the clock was informed that time was genuine
};

TEST_F(MachinePoints, RecordTheBios) {
    EXPECT_EQ(by([] { real_mode_entered(); }), "to_real_mode 0 0");
    EXPECT_EQ(by([] { real_mode_left(); }), "to_protected_mode 0 0");
}

TEST_F(MachinePoints, RecordWhoFailedAndWhere) {
    arch::Exception fault{};
    fault.vector = 14;
    fault.instruction_address = 0x2'0000'0003;
    fault.fault_address = 0x4'0000'0005;
    EXPECT_EQ(by([&] { faulted(&task, fault); }), "task_fault 7 14, fault_instruction 2 3, fault_address 4 5");
    EXPECT_EQ(by([&] { faulted(nullptr, fault); }), "task_fault 0 14, fault_instruction 2 3, fault_address 4 5");
}

TEST_F(MachinePoints, RecordAPanicWithItsTextAndTheWayToIt) {
    static constexpr std::string_view kText = "why";
    this_processor().loaded = &task;
    const auto address = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(kText.data()));
    const std::string recorded = by([] { panicked(6, kText); });
    EXPECT_TRUE(recorded.starts_with(fmt::format("panic 7 6, data_pointer 2 {}, typed_event ", address))) << recorded;
    EXPECT_EQ(by([] { panicked_at(0x2'0000'0003); }), "fault_instruction 2 3");
}

TEST_F(MachinePoints, LeaveStepsWithTheProcessorOnlyIfATaskIsInSteps) {
    g_steps = true;
    context_leaves(IrqOff::from_boot());
    EXPECT_TRUE(g_steps) << "the debugger of another steps";
    trace_steps(7);
    context_leaves(IrqOff::from_boot());
    EXPECT_FALSE(g_steps);
}

TEST_F(MachinePoints, ContinueInStepsInACallOfTheTaskThatWantsThem) {
    const auto returns = [this](const Task& loaded, bool in_call) {
        g_steps = false;
        this_processor().loaded = const_cast<Task*>(&loaded);
        context_returns(in_call, untraced(), IrqOff::from_boot());
        return g_steps;
    };
    EXPECT_FALSE(returns(task, true)) << "no task is in steps";
    EXPECT_EQ(genuine, 0);
    trace_steps(7);
    EXPECT_TRUE(returns(task, true));
    EXPECT_FALSE(returns(task, false)) << "an interrupt took the processor";
    EXPECT_FALSE(returns(other, true)) << "another task";
    EXPECT_EQ(genuine, 3);
}

TEST_F(MachinePoints, BeginInStepsIfTheTaskWantsThem) {
    const auto begins = [this](const Task& begun) {
        g_steps = &begun == &other;
        context_begins(begun, untraced(), IrqOff::from_boot());
        return g_steps;
    };
    EXPECT_FALSE(begins(task)) << "no task is in steps";
    EXPECT_EQ(genuine, 0);
    trace_steps(7);
    EXPECT_TRUE(begins(task));
    EXPECT_FALSE(begins(other)) << "the steps of the task before end";
    EXPECT_EQ(genuine, 2);
}

TEST_F(MachinePoints, RecordTheClockWhateverIsFiltered) {
    EXPECT_EQ(by([] { clock_compensated({0x3'0000'0004}); }), "clock_compensated* 3 4");
}

TEST_F(MachinePoints, CountTheRecordsThatWereWritten) {
    const std::uint64_t before = records_written(IrqOff::from_boot());
    real_mode_entered();
    EXPECT_EQ(records_written(IrqOff::from_boot()), before + 1);
}

} // namespace machine_test

namespace arch {

const lib::TickConversion& tick_conversion() {
    static constexpr lib::TickConversion kConversion({2'000'000});
    return kConversion;
}

void single_step(bool on) {
    machine_test::g_steps = on;
}

bool single_stepping() {
    return machine_test::g_steps;
}

} // namespace arch
