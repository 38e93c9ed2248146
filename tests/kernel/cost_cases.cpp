// SPDX-License-Identifier: MIT
// The tracer's measurement of itself on the machine is exact where the clock counts instructions, and is in no count.
#include "arch/arch.hpp"
#include "tests/kernel/case.hpp"
#include "tests/support/attempts/attempts.hpp"
#include "tracer/chunk/cost_meter.hpp"
#include "tracer/ftrace.hpp"
#include "tracer/instance.hpp"

namespace {

using namespace guest;

// A constant event is test and branch, two loaded registers, call, and the path to its ret.
// tests/unit/tracer/log_test.cpp counts the same by single steps.
constexpr std::uint32_t kTestAndBranch = 2;
constexpr std::uint32_t kLoadAndCall = 3;
constexpr std::uint32_t kPath = 12 + tests::kCountingInstructions; // and what this kernel counts by the way

tracer::TraceCost measured_again() {
    tracer::Instance& tracer = tracer::instance();
    return tracer::measure_cost(tracer.cpu, tracer.store,
                                {.now = [] { return arch::timestamp(); },
                                 .exclusion = {.enter = &arch::irq_save, .leave = &arch::irq_restore},
                                 .budget_ticks = arch::tick_rate().khz});
}

int trace_cost(const kernel::AppArguments& arguments) {
    const tracer::TraceCost& cost = tracer::instance().exporter.setup().cost;
    check(tracer::totals(0) == tracer::Totals{}, "the measurement at boot is in no count");
    check(cost.rounds != 0 && cost.rounds <= tracer::kCostRoundsMax, "it was measured at boot");
    kernel::console().line("enabled ", cost.enabled_ticks_x256, ", filtered ", cost.filtered_ticks_x256, ", disabled ",
                           cost.disabled_ticks_x256, " ticks / 256, rounds ", cost.rounds);
    if (arguments.icount) {
        check(cost.enabled_ticks_x256 == (kTestAndBranch + kLoadAndCall + kPath) * 256, "instructions of a record");
        check(cost.filtered_ticks_x256 == kTestAndBranch * 256, "instructions of a filtered record");
        check(cost.disabled_ticks_x256 == kTestAndBranch * 256, "instructions of a disabled record");
        check(measured_again() == cost, "the same again");
    } else {
        check(cost.enabled_ticks_x256 > cost.filtered_ticks_x256, "a record takes longer than none");
    }
    check(tracer::totals(0) == tracer::Totals{}, "measuring again is in no count either");
    const int first = FTrace_chunk_create(1'000, 0, FTRACE_CHUNK_FLAG_FREE | FTRACE_CHUNK_FLAG_STOP);
    check(first == 0, "the scratch chunk is gone: the first chunk is number 0");
    return failures;
}

} // namespace

[[gnu::used, gnu::section(".apps")]] constinit const kernel::App kCostCases[] = {
    {"t_trace_cost", "the tracer knows what a record costs", &trace_cost, true},
};
