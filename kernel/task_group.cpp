// SPDX-License-Identifier: MIT
// See task_group.hpp. One section with interrupts off covers the whole group, so that nobody sees half of it.
#include "kernel/task_group.hpp"

#include "kernel/clock.hpp"
#include "kernel/irq_guard.hpp"
#include "kernel/level.hpp"
#include "kernel/scheduler.hpp"
#include "kernel/task_object.hpp"
#include "kernel/trace_points.hpp"

namespace kernel {

namespace {

lib::Result<void> check_group_irq_off(std::uint16_t group) {
    if (group == 0) {
        return lib::Error::invalid_argument;
    }
    return task_group_size(group) != 0 ? lib::Result<void>{} : lib::Error::not_found;
}

bool belongs(const Task& task, std::uint16_t group) {
    return task.state != TaskState::free && task.group == group;
}

} // namespace

lib::Result<void> task_group_create(std::span<const TaskOptions> options, std::span<Pid> pids) {
    if (pids.size() < options.size()) {
        return lib::Error::invalid_argument;
    }
    const IrqGuard guard;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const auto created = task_create(options[i]);
        if (!created.ok()) {
            while (i-- > 0) {
                end_task_irq_off(*find_task(pids[i]));
            }
            return created.error();
        }
        pids[i] = created.value();
    }
    return {};
}

lib::Result<std::size_t> task_group_activate(std::uint16_t group) {
    return task_group_activate_at(group, now());
}

lib::Result<std::size_t> task_group_activate_at(std::uint16_t group, lib::Ticks at) {
    const IrqGuard guard;
    if (const auto checked = check_group_irq_off(group); !checked.ok()) {
        return checked.error();
    }
    std::size_t count = 0;
    for (Task& task : task_table()) {
        if (belongs(task, group) && task.state == TaskState::sleeping) {
            trace_points::task_activated(task);
            count += task.level->activate(task, at).ok() ? 1U : 0U;
        }
    }
    schedule_irq_off();
    return count;
}

lib::Result<std::size_t> task_group_kill(std::uint16_t group) {
    const IrqGuard guard;
    if (const auto checked = check_group_irq_off(group); !checked.ok()) {
        return checked.error();
    }
    std::size_t count = 0;
    for (Task& task : task_table()) {
        if (belongs(task, group) && !task.immortal) {
            end_task_irq_off(task);
            ++count;
        }
    }
    schedule_irq_off();
    return count;
}

std::size_t task_group_size(std::uint16_t group) {
    const IrqGuard guard;
    std::size_t count = 0;
    for (const Task& task : task_table()) {
        count += group != 0 && belongs(task, group) ? 1U : 0U;
    }
    return count;
}

} // namespace kernel
