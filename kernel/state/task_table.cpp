// SPDX-License-Identifier: MIT
// See task_table.hpp.
#include "kernel/state/task_table.hpp"

#include "kernel/state/processor.hpp"

#include <array>
#include <bit>

namespace kernel {

namespace {

constexpr std::size_t kWordBits = 64;

struct Table {
    std::array<Task, kTasksMax> tasks{};
    std::array<std::uint64_t, (kTasksMax + kWordBits - 1) / kWordBits> used{}; // bit n: slot n
    std::array<std::uint64_t, 0x10000 / kWordBits> contexts{1};                // bit n: in use; 0 is the boot context
    std::uint16_t last_context = 0;
};

constinit Table s_table;

// 1..65535, going round; never 0, never one that a live task has. Looks at a few words at most: no more than kTasksMax
// bits are set.
std::uint16_t fresh_context(IrqOff) {
    const std::size_t begin = (s_table.last_context + std::size_t{1}) % 0x10000;
    std::uint64_t free = ~s_table.contexts[begin / kWordBits] & (~std::uint64_t{0} << (begin % kWordBits));
    std::size_t word = begin / kWordBits;
    while (free == 0) {
        word = (word + 1) % s_table.contexts.size();
        free = ~s_table.contexts[word];
    }
    const auto bit = static_cast<std::size_t>(std::countr_zero(free));
    s_table.contexts[word] |= std::uint64_t{1} << bit;
    s_table.last_context = static_cast<std::uint16_t>(word * kWordBits + bit);
    return s_table.last_context;
}

} // namespace

std::span<Task, kTasksMax> task_table(IrqOff) {
    return s_table.tasks;
}

Task* find_task(Pid pid, IrqOff) {
    if (pid.value >= kTasksMax || s_table.tasks[pid.value].state == TaskState::free) {
        return nullptr;
    }
    return &s_table.tasks[pid.value];
}

Task* free_slot(IrqOff) {
    const Task* const loaded = this_processor().loaded;
    for (std::size_t word = 0; word < s_table.used.size(); ++word) {
        std::uint64_t taken = s_table.used[word];
        if (loaded != nullptr && loaded->pid.value / kWordBits == word) {
            taken |= std::uint64_t{1} << (loaded->pid.value % kWordBits);
        }
        const std::size_t slot = word * kWordBits + static_cast<std::size_t>(std::countr_one(taken));
        if (slot < (word + 1) * kWordBits) {
            return slot < kTasksMax ? &s_table.tasks[slot] : nullptr;
        }
    }
    return nullptr;
}

void take_slot(Task& slot, IrqOff off) {
    const auto index = static_cast<std::uint16_t>(&slot - s_table.tasks.data());
    ASSERT(!lib::kChecked || (index < kTasksMax && slot.state == TaskState::free));
    s_table.used[index / kWordBits] |= std::uint64_t{1} << (index % kWordBits);
    slot.pid = Pid{index};
    slot.context = fresh_context(off);
}

void give_slot_back(const Task& task, IrqOff) {
    s_table.used[task.pid.value / kWordBits] &= ~(std::uint64_t{1} << (task.pid.value % kWordBits));
    s_table.contexts[task.context / kWordBits] &= ~(std::uint64_t{1} << (task.context % kWordBits));
}

} // namespace kernel
