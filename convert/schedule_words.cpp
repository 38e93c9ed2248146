// SPDX-License-Identifier: MIT
#include "convert/schedule_words.hpp"

#include "host/text/escape.hpp"
#include "host/text/format.hpp"

#include <algorithm>

namespace host::convert {

namespace {

using trace::kCodeOf;

tracer::Unit unit_of(TaskState state) {
    switch (state) {
    case TaskState::semaphore:
        return tracer::Unit::semaphore;
    case TaskState::condition:
        return tracer::Unit::condition;
    case TaskState::receive:
    case TaskState::send:
        return tracer::Unit::port;
    case TaskState::mutex:
        return tracer::Unit::mutex;
    case TaskState::unknown:
    case TaskState::ready:
    case TaskState::job:
    case TaskState::delay:
    case TaskState::suspended:
    case TaskState::signal:
    case TaskState::ended:
        break;
    }
    return tracer::Unit::none;
}

// Returns the name of a number, else the prefix and the number.
std::string name_or(const trace::Names& names, tracer::Unit unit, std::uint32_t number, std::string_view prefix) {
    const std::string_view name = names.find(unit, number);
    return name.empty() ? fmt::format("{}-{}", prefix, number) : std::string(name);
}

} // namespace

bool is_idle(const trace::Names& names, std::uint32_t context) {
    return context < kContexts && names.find(tracer::Unit::context, context) == "idle";
}

std::uint32_t tid_of(const trace::Names& names, std::uint32_t context) {
    if (context >= kContexts) {
        return kUnknownTid;
    }
    if (is_idle(names, context)) {
        return 0;
    }
    return context == 0 ? kContextZeroTid : context;
}

std::string task_label(const trace::Names& names, std::uint32_t context) {
    return context >= kContexts ? "unknown" : name_or(names, tracer::Unit::context, context, "context");
}

std::uint16_t level_of(const trace::Names& names, std::uint32_t context) {
    const trace::TaskNames* const task =
        context < kContexts ? names.task(static_cast<std::uint16_t>(context)) : nullptr;
    return task != nullptr && task->parameters ? task->parameters->level : std::uint16_t{0xFFFF};
}

std::string vector_label(const trace::Names& names, std::uint32_t vector) {
    return name_or(names, tracer::Unit::vector, vector, "vector");
}

std::string wait_label(const trace::Names& names, TaskState state, std::uint32_t object) {
    const std::string_view what = schedule::state_name(state);
    const tracer::Unit unit = unit_of(state);
    if (unit == tracer::Unit::none) {
        return std::string(what);
    }
    const std::string_view name = names.find(unit, object);
    return name.empty() ? fmt::format("{} {}", what, object) : fmt::format("{} {}", what, text::escaped(name));
}

std::uint8_t linux_state(TaskState state, std::uint8_t dead) {
    if (state == TaskState::mutex) {
        return 2;
    }
    return state == TaskState::ended ? dead : std::uint8_t{is_waiting(state)};
}

bool is_shown(const trace::Event& event, std::span<const Change> changes) {
    const auto has = [&](Change::Kind kind) {
        return std::ranges::find(changes, kind, &Change::kind) != changes.end();
    };
    return (event.is(kCodeOf<"context_switch">) && has(Change::Kind::switched)) ||
           (event.is(kCodeOf<"interrupt_start">) && has(Change::Kind::interrupt_began)) ||
           (event.is(kCodeOf<"interrupt_end">) && has(Change::Kind::interrupt_ended));
}

std::uint32_t task_of(const trace::Event& event, const Schedule& schedule) {
    if (event.row != nullptr && event.is_sound()) {
        if (event.row->par1.unit == tracer::Unit::context) {
            return event.par1;
        }
        const tracer::Family family = event.row->family();
        if (family == tracer::Family::interrupt || family == tracer::Family::timer) {
            return kUnknownContext;
        }
    }
    const Schedule::Processor& here = schedule.processor(event.cpu);
    return here.depth == 0 ? here.running : kUnknownContext;
}

} // namespace host::convert
