// SPDX-License-Identifier: MIT
// Tests which slots and context numbers the table of tasks hands out. The table is static, so each test gives back what
// it has taken.
#include "kernel/state/task_table.hpp"

#include "kernel/state/processor.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace kernel {

namespace {

Task& taken(Task& slot) {
    take_slot(slot, IrqOff::from_boot());
    return slot;
}

Task& next_taken() {
    return taken(*free_slot(IrqOff::from_boot()));
}

std::vector<Task*> take_all() {
    std::vector<Task*> tasks;
    while (tasks.size() <= kTasksMax) {
        Task* const slot = free_slot(IrqOff::from_boot());
        if (slot == nullptr) {
            break;
        }
        tasks.push_back(&taken(*slot));
    }
    return tasks;
}

void give_back(const Task& task) {
    give_slot_back(task, IrqOff::from_boot());
}

} // namespace

TEST(TaskTable, FillsItsSlotsFromTheLowestOn) {
    const auto tasks = take_all();
    ASSERT_EQ(tasks.size(), kTasksMax);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        EXPECT_EQ(tasks[i]->pid.value, i);
        EXPECT_EQ(tasks[i], &task_table(IrqOff::from_boot())[i]);
    }
    for (const Task* const task : tasks) {
        give_back(*task);
    }
}

TEST(TaskTable, FindsTheLastFreeSlotWhichEverItIs) {
    const auto tasks = take_all();
    for (const std::size_t last : {std::size_t{0}, std::size_t{1}, kTasksMax - 1}) {
        const std::size_t other = last == 2 ? 3 : 2;
        give_back(*tasks[last]);
        give_back(*tasks[other]);
        taken(*tasks[other]);
        EXPECT_EQ(free_slot(IrqOff::from_boot()), tasks[last]) << last;
        taken(*tasks[last]);
        EXPECT_EQ(free_slot(IrqOff::from_boot()), nullptr) << last;
    }
    for (const Task* const task : tasks) {
        give_back(*task);
    }
}

TEST(TaskTable, SparesTheSlotWhoseStackIsInUse) {
    Task& dead = next_taken();
    give_back(dead);
    this_processor().loaded = &dead;
    EXPECT_NE(free_slot(IrqOff::from_boot()), &dead);
    this_processor().loaded = nullptr;
    EXPECT_EQ(free_slot(IrqOff::from_boot()), &dead) << "it is free once another task runs";
}

TEST(TaskTable, UsesAContextAgainAfterAllOthersExceptThoseOfLiveTasks) {
    constexpr std::uint16_t kLast = 0xFFFF;
    std::uint32_t tries = 0;
    for (std::uint16_t context = 0; context != kLast && tries <= kLast; ++tries) { // the first ones come next
        const Task& task = next_taken();
        context = task.context;
        give_back(task);
    }
    ASSERT_LE(tries, kLast);
    const auto tasks = take_all();
    for (std::size_t i = 0; i < tasks.size(); ++i) {
        ASSERT_EQ(tasks[i]->context, i + 1);
    }
    constexpr std::uint16_t kOnlyFree = 5; // among the first ones
    give_back(*tasks[kOnlyFree - 1]);
    for (int lap = 0; lap < 2; ++lap) {
        for (std::uint32_t expected = kTasksMax + 1; expected <= kLast + 1U; ++expected) {
            const Task& task = next_taken();
            ASSERT_EQ(task.context, expected <= kLast ? expected : kOnlyFree);
            give_back(task);
        }
    }
    for (const Task* const task : tasks) {
        give_back(*task);
    }
}

} // namespace kernel
