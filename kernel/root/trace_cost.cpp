// SPDX-License-Identifier: MIT
// Measures what tracing costs on this machine, before the first record, and chooses the layout of compact chunks by it.
#include "kernel/root/tracing_parts.hpp"

#include "arch/arch.hpp"
#include "kernel/panic/console.hpp"
#include "tracer/chunk/cost_meter.hpp"
#include "tracer/compact/layout.hpp"
#include "tracer/instance.hpp"

#include <algorithm>
#include <optional>

namespace kernel::root {

namespace {

using tracer::compact::Layout;

// Limits the measurement to half a millisecond; the rounds that are always run take far less.
constexpr std::uint32_t kBudgetPerMs = 2;

tracer::TraceCost measure_record(lib::TickRate rate, std::optional<Layout> layout) {
    tracer::Instance& tracer = tracer::instance();
    return tracer::measure_cost(tracer.cpu, tracer.store,
                                {.now = [] { return arch::timestamp(); },
                                 .exclusion = {.enter = &arch::irq_save, .leave = &arch::irq_restore},
                                 .budget_ticks = rate.khz / kBudgetPerMs},
                                layout);
}

// Measures how long it takes to arm, read and disarm the timer. The best round counts, as for a record.
lib::Ticks measure_timer() {
    constexpr lib::Ticks kFar{std::uint64_t{1} << 40};
    constexpr int kRounds = 4;
    lib::Ticks best{~std::uint64_t{0}};
    for (int round = 0; round < kRounds; ++round) {
        const lib::Ticks begin = arch::timestamp();
        arch::timer_arm(begin + kFar);
        static_cast<void>(arch::timer_left());
        arch::timer_disarm();
        best = std::min(best, arch::timestamp() - begin);
    }
    return best;
}

Layout layout_named(CompactChoice choice) {
    constexpr int kFirst = static_cast<int>(CompactChoice::a);
    static_assert(static_cast<int>(CompactChoice::large96) - kFirst == static_cast<int>(Layout::large96));
    return static_cast<Layout>(static_cast<int>(choice) - kFirst);
}

} // namespace

tracer::TraceCost measure_trace_cost(CompactChoice choice, lib::TickRate rate) {
    const tracer::TraceCost plain = measure_record(rate, std::nullopt);
    if (choice == CompactChoice::off) {
        return plain;
    }
    const bool given = choice != CompactChoice::automatic;
    const std::uint64_t probe = plain.enabled_ticks_x256 / 256;
    const std::uint64_t timer = measure_timer().value;
    const Layout layout =
        given ? layout_named(choice) : tracer::compact::choose_layout({.probe_ticks = probe, .timer_ticks = timer});
    tracer::TraceCost cost = measure_record(rate, layout);
    cost.choice = given ? tracer::LayoutChoice::given : tracer::LayoutChoice::measured;
    cost.layout = static_cast<std::uint8_t>(layout);
    cost.plain_ticks_x256 = plain.enabled_ticks_x256;
    cost.timer_ticks = static_cast<std::uint32_t>(std::min<std::uint64_t>(timer, ~std::uint32_t{0}));
    tracer::instance().compact_layout = layout;
    console().line("chunks are written compactly: layout ", tracer::compact::row_of(layout).name,
                   given ? " as asked" : " by AUTO", " (a plain record takes ", probe, " ticks, setting the timer ",
                   timer, "); triggers cannot watch them and are refused");
    return cost;
}

} // namespace kernel::root
