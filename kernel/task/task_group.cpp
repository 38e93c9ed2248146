// SPDX-License-Identifier: MIT
// See task_group.hpp. One section with interrupts off covers the whole group, so that no task sees half of it.
#include "kernel/task/task_group.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/task/life.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

lib::Result<void> check_group(std::uint16_t group, IrqOff) {
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
    const IrqGuard off;
    for (std::size_t i = 0; i < options.size(); ++i) {
        const auto created = task_create(options[i]);
        if (!created.ok()) {
            while (i-- > 0) {
                end_task(*find_task(pids[i], off), off);
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
    return primitive([&](IrqOff off) -> lib::Result<std::size_t> {
        if (const auto checked = check_group(group, off); !checked.ok()) {
            return checked.error();
        }
        std::size_t count = 0;
        for (Task& task : task_table(off)) {
            if (belongs(task, group) && task.state == TaskState::sleeping) {
                trace_points::task_activated(task);
                count += task.level->activate(task, at, off).ok() ? 1U : 0U;
            }
        }
        schedule(off);
        return count;
    });
}

lib::Result<std::size_t> task_group_kill(std::uint16_t group) {
    return primitive([&](IrqOff off) -> lib::Result<std::size_t> {
        if (const auto checked = check_group(group, off); !checked.ok()) {
            return checked.error();
        }
        std::size_t count = 0;
        for (Task& task : task_table(off)) {
            if (belongs(task, group) && !task.immortal) {
                end_task(task, off);
                ++count;
            }
        }
        schedule(off);
        return count;
    });
}

std::size_t task_group_size(std::uint16_t group) {
    const IrqGuard off;
    std::size_t count = 0;
    for (const Task& task : task_table(off)) {
        count += group != 0 && belongs(task, group) ? 1U : 0U;
    }
    return count;
}

} // namespace kernel
