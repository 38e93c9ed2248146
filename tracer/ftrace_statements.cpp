// SPDX-License-Identifier: MIT
// Implements the statements about pauses and filters.
#include "tracer/ftrace_statements.hpp"

#include "tracer/log.hpp"

namespace tracer::detail {

namespace {

constexpr std::uint16_t kFilterCodes = 0xF0;

template <typename Write>
void pass_trigger(Write write) {
    Control& control = instance().control;
    control.hold();
    const bool armed = control.trigger_state() == TriggerState::armed;
    if (armed) {
        control.unwatch();
    }
    write();
    if (armed) {
        control.watch();
    }
    control.admit();
}

void record_context(std::uint16_t code) {
    const StepHooks& hooks = instance().instructions.hooks();
    record(code, hooks.context != nullptr ? hooks.context() : std::uint16_t{0}, instance().exporter.setup().tsc_khz);
}

[[nodiscard]] std::uint16_t filtered(unsigned family) {
    return static_cast<std::uint16_t>(instance().cpu.filter >> family & 1);
}

// Marks what the records state of this family, unless none of them was recorded.
void mark_stated(unsigned family) {
    Instance& tracer = instance();
    if (!tracer.control.has_stopped()) {
        const std::uint32_t bit = 1U << family;
        tracer.statements.filters = (tracer.statements.filters & ~bit) | (tracer.cpu.filter & bit);
    }
}

// States the filters that are in force, and the end of those that no longer are.
void state_filters() {
    for (unsigned family = 0; family < 16; ++family) {
        if (filtered(family) != 0 || (instance().statements.filters >> family & 1) != 0) {
            record(static_cast<std::uint16_t>(kFilterCodes | family), filtered(family), 0);
            mark_stated(family);
        }
    }
}

} // namespace

void state_enabled() {
    if (instance().statements.begun) {
        state_gap();
        return;
    }
    instance().statements.begun = true;
    pass_trigger(&state_filters);
    instance().instructions.report_gap();
}

void state_gap() {
    const bool waits = instance().control.awaits_start();
    pass_trigger([waits] {
        record_context(waits ? event_code("trace_stop") : event_code("trace_start"));
        state_filters();
    });
    if (!waits) {
        instance().instructions.report_gap();
    }
}

void state_stop() {
    instance().control.hold();
    record_context(event_code("trace_stop"));
}

void state_stopped() {
    pass_trigger(&state_filters);
}

void state_filter(std::uint8_t filter_code) {
    const Control& control = instance().control;
    if (!control.enabled()) {
        return; // state_enabled() does it
    }
    const unsigned family = filter_code & 0x0FU;
    record(filter_code, filtered(family), 0);
    if (control.awaits_start()) { // it was not the event that the trigger waits for
        pass_trigger([&] { record(filter_code, filtered(family), 0); });
    }
    mark_stated(family);
}

} // namespace tracer::detail
