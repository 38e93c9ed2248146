// SPDX-License-Identifier: MIT
// See task_group.hpp. One section with interrupts off covers the whole group, so that no task sees half of it.
#include "kernel/task/task_group.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/task/life.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/phase_shift.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

bool belongs(const Task& task, std::uint16_t group) {
    return task.state != TaskState::free && task.group == group;
}

// Calls act(task) for each task of the group, then schedules. Returns for how many it was true.
template <typename Act>
lib::Result<std::size_t> for_group(std::uint16_t group, Act act, SectionPlace place = {}) {
    return primitive(
        [&](IrqOff off) -> lib::Result<std::size_t> {
            if (task_group_size(group) == 0) {
                return group == 0 ? lib::Error::invalid_argument : lib::Error::not_found;
            }
            std::size_t count = 0;
            for (Task& task : task_table(off)) {
                count += belongs(task, group) && act(task, off) ? 1U : 0U;
            }
            schedule(off);
            return count;
        },
        place);
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
    return for_group(group, [at](Task& task, IrqOff off) {
        if (task.state != TaskState::sleeping) {
            return false;
        }
        trace_points::task_activated(task);
        return task.level->activate(task, at + release_shift(task.name.view(), off), off).ok();
    });
}

lib::Result<std::size_t> task_group_kill(std::uint16_t group) {
    return for_group(group, [](Task& task, IrqOff off) {
        if (task.immortal) {
            return false;
        }
        end_task(task, off);
        return true;
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
