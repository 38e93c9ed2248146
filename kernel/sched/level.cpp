// SPDX-License-Identifier: MIT
// The table of registered levels.
#include "kernel/sched/level.hpp"

#include "kernel/trace/schedule.hpp"

namespace kernel {

lib::Result<void> register_level(Level& level, IrqOff) {
    detail::LevelRegistry& registry = detail::level_registry;
    if (registry.count == registry.levels.size()) {
        return lib::Error::no_space;
    }
    for (const Level* const other : levels()) {
        if (other->promises() != nullptr && level.promises() != nullptr && other->promises() != level.promises()) {
            return lib::Error::refused;
        }
    }
    level.set_index(static_cast<std::uint16_t>(registry.count));
    registry.levels[registry.count++] = &level;
    if (const ReadyQueue* const queue = level.ready_queue()) {
        registry.queues[registry.queue_count++] = queue;
    }
    trace_points::level_registered(level);
    return {};
}

} // namespace kernel
