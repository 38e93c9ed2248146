// SPDX-License-Identifier: MIT
// Stores all tasks and their stacks.
#include "kernel/state/task_table.hpp"

#include "kernel/state/processor.hpp"
#include "lib/assert.hpp"

#include <array>
#include <bit>

namespace kernel {

namespace {

constexpr std::size_t kWordBits = 64;

// Keeps the free slots: a bit for each slot, and a bit for each word of these bits that has one.
class FreeSlots {
  public:
    constexpr FreeSlots() {
        for (std::size_t slot = 0; slot < kTasksMax; ++slot) {
            insert(slot);
        }
    }

    constexpr void insert(std::size_t slot) {
        m_words[slot / kWordBits] |= bit(slot);
        m_any |= bit(slot / kWordBits);
    }

    constexpr void erase(std::size_t slot) {
        m_words[slot / kWordBits] &= ~bit(slot);
        m_any &= m_words[slot / kWordBits] != 0 ? ~std::uint64_t{0} : ~bit(slot / kWordBits);
    }

    // Returns the lowest free slot, or kTasksMax if there is none.
    [[nodiscard]] std::size_t lowest() const {
        if (m_any == 0) {
            return kTasksMax;
        }
        const auto word = static_cast<std::size_t>(std::countr_zero(m_any));
        return word * kWordBits + static_cast<std::size_t>(std::countr_zero(m_words[word]));
    }

  private:
    static constexpr std::uint64_t bit(std::size_t number) { return std::uint64_t{1} << (number % kWordBits); }

    static constexpr std::size_t kWords = (kTasksMax + kWordBits - 1) / kWordBits;
    static_assert(kWords <= kWordBits);

    std::array<std::uint64_t, kWords> m_words{};
    std::uint64_t m_any = 0;
};

struct Table {
    std::array<Task, kTasksMax> tasks{};
    FreeSlots free;
    std::array<std::uint64_t, 0x10000 / kWordBits> contexts{1}; // bit n: in use; 0 is the boot context
    std::uint16_t last_context = 0;
};

constinit Table s_table;

// Returns the next number of 1 to 65535, in a circle, that no live task has. It reads few words, because no more than
// kTasksMax bits are set.
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
    const bool on_its_stack = loaded != nullptr && loaded->state == TaskState::free;
    if (on_its_stack) {
        s_table.free.erase(loaded->pid.value);
    }
    const std::size_t slot = s_table.free.lowest();
    if (on_its_stack) {
        s_table.free.insert(loaded->pid.value);
    }
    return slot < kTasksMax ? &s_table.tasks[slot] : nullptr;
}

void take_slot(Task& slot, IrqOff off) {
    const auto index = static_cast<std::uint16_t>(&slot - s_table.tasks.data());
    ASSERT(!lib::kChecked || (index < kTasksMax && slot.state == TaskState::free));
    s_table.free.erase(index);
    slot.pid = Pid{index};
    slot.context = fresh_context(off);
}

void give_slot_back(const Task& task, IrqOff) {
    s_table.free.insert(task.pid.value);
    s_table.contexts[task.context / kWordBits] &= ~(std::uint64_t{1} << (task.context % kWordBits));
}

// --- the task stacks ---

namespace {

struct alignas(kGuardBytes) GuardedStack {
    std::array<std::byte, kGuardBytes> guard;
    std::array<std::byte, kStackBytes> stack;
};

static_assert(sizeof(GuardedStack) == kGuardBytes + kStackBytes, "no padding: guard pages must be whole pages");

// The stacks are beside the trace chunks, where there is room for many and nothing is cleared: a stack is written
// before it is read.
[[gnu::section(".arena,\"aw\",@nobits#")]] constinit std::array<GuardedStack, kTasksMax> s_stacks{};

} // namespace

std::span<std::byte> task_stack(std::size_t index) {
    ASSERT(index < kTasksMax);
    return s_stacks[index].stack;
}

std::span<std::byte> guard_page(std::size_t index) {
    ASSERT(index < kTasksMax);
    return s_stacks[index].guard;
}

} // namespace kernel
