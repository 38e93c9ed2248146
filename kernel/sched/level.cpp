// SPDX-License-Identifier: MIT
// The table of registered levels.
#include "kernel/sched/level.hpp"

#include "kernel/config.hpp"
#include "kernel/trace/schedule.hpp"

#include <array>

namespace kernel {

namespace {

struct Registry {
    std::array<Level*, kLevelsMax> levels{};
    std::size_t count = 0;
};

constinit Registry s_registry;

} // namespace

lib::Result<void> register_level(Level& level, IrqOff) {
    if (s_registry.count == s_registry.levels.size()) {
        return lib::Error::no_space;
    }
    for (const Level* const other : levels()) {
        if (other->promises() != nullptr && level.promises() != nullptr && other->promises() != level.promises()) {
            return lib::Error::refused;
        }
    }
    level.set_index(static_cast<std::uint16_t>(s_registry.count));
    s_registry.levels[s_registry.count++] = &level;
    trace_points::level_registered(level);
    return {};
}

std::span<Level* const> levels() {
    return std::span(s_registry.levels).first(s_registry.count);
}

} // namespace kernel
