// SPDX-License-Identifier: MIT
// kernel/trace/ is the bridge from the kernel to the tracer, and the only room that sees both. It has one function for
// each thing that happens, which takes the kernel's objects and records an event with small numbers:
//
//   task.hpp  schedule.hpp  interrupt.hpp  machine.hpp  sync.hpp
//
// A call is a line of its own and its arguments have no side effects, so that a kernel built with TRACER=OFF does
// nothing for these lines. Context: any, unless a function states another one; those that register a name are irq-off.
// This file has what the parts share.
#pragma once

#include "kernel/state/task_object.hpp"
#include "tracer/instance.hpp"
#include "tracer/log.hpp"

#include <cstdint>
#include <string_view>

namespace kernel::trace_points {

namespace detail {

inline constexpr bool kOn = tracer::kTracerBuilt;

// Returns the context number of the task; 0 is the boot context.
[[nodiscard]] inline std::uint16_t context_of(const Task* task) {
    return task != nullptr ? task->context : std::uint16_t{0};
}

// Returns the low 32 bits of a time, which are recorded; a reader finds the rest near the record's stamp.
[[nodiscard]] inline std::uint32_t low_half(lib::Ticks time) {
    return static_cast<std::uint32_t>(time.value);
}

[[nodiscard]] inline std::uint16_t saturated(std::uint32_t value) {
    return static_cast<std::uint16_t>(value < 0xFFFF ? value : 0xFFFF);
}

[[nodiscard]] inline std::uint32_t saturated_32(std::uint64_t value) {
    return value < 0xFFFF'FFFF ? static_cast<std::uint32_t>(value) : 0xFFFF'FFFF;
}

[[gnu::always_inline]] inline void add_name(tracer::NameKind kind, std::uint16_t id, std::string_view name) {
    if constexpr (kOn) {
        tracer::instance().names.add_name(kind, id, name);
    }
}

} // namespace detail

} // namespace kernel::trace_points
