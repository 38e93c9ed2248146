// SPDX-License-Identifier: MIT
// Implements groups. One section with interrupts off covers the whole group, so that no task sees half of it.
#include "kernel/task/task_group.hpp"

#include "kernel/task/task.hpp"

#include "kernel/sched/level.hpp"
#include "kernel/sched/scheduler.hpp"
#include "kernel/sched/upcalls.hpp"
#include "kernel/state/task_table.hpp"
#include "kernel/time/clock.hpp"
#include "kernel/time/phase_shift.hpp"
#include "kernel/trace/task.hpp"

namespace kernel {

namespace {

struct GroupBefore {
    bool operator()(const Task& a, const Task& b) const {
        return a.group != b.group ? a.group < b.group : a.pid.value < b.pid.value;
    }
};

// Holds all tasks that have a group.
constinit lib::IntrusiveTree<Task, GroupTag, GroupBefore> s_members;

// Return the tasks of a group in ascending order of pids, and null if there is no further one.
Task* first_of(std::uint16_t group, IrqOff) {
    Task* const first = s_members.first_past([group](const Task& task) { return task.group >= group; });
    return first != nullptr && first->group == group ? first : nullptr;
}

Task* next_of(const Task& task, IrqOff) {
    Task* const next = s_members.next(task);
    return next != nullptr && next->group == task.group ? next : nullptr;
}

// Calls act(task) for each task of the group, then schedules. Returns for how many tasks it was true.
template <typename Act>
lib::Result<std::size_t> for_group(std::uint16_t group, Act act, SectionPlace place = {}) {
    return primitive(
        [&](IrqOff off) -> lib::Result<std::size_t> {
            Task* task = first_of(group, off);
            if (task == nullptr) {
                return group == 0 ? lib::Error::invalid_argument : lib::Error::not_found;
            }
            std::size_t count = 0;
            while (task != nullptr) {
                Task* const next = next_of(*task, off); // this one may end
                count += act(*task, off) ? 1U : 0U;
                task = next;
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
    for (const Task* task = first_of(group, off); task != nullptr; task = next_of(*task, off)) {
        ++count;
    }
    return count;
}

void join_group(Task& task, IrqOff) {
    if (task.group != 0) {
        s_members.insert(task);
    }
}

void leave_group(Task& task, IrqOff) {
    if (task.group != 0) {
        s_members.remove(task);
    }
}

} // namespace kernel
