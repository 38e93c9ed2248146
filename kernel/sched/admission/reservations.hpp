// SPDX-License-Identifier: MIT
// The one register of all that was promised: tasks and servers of every level that guarantees. Nothing is admitted
// unless every promise holds beside all others, whatever level made it. Fixed priorities run above deadlines, so the
// fixed set is tested alone, and the deadlines below it.
//
// What a task that ended was promised has kept others waiting already, so its share is not free at once: it stays
// *retired* in the register until the guaranteed levels have nothing to do for an instant. From an idle instant on the
// past does not matter, and the tests, which take all releases to coincide, hold for whatever set there is then.
//
//   set --> promised --retire--> retired --idle instant--> free
//
// Everything in static storage: a test's copy of the set would be too large for a stack. All functions irq-off but one.
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/sched/admission/demand.hpp"
#include "kernel/state/task_object.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernel {

enum class Claim : std::uint8_t {
    none,
    fixed,    // priority by relative deadline
    deadline, // EDF
};

// Called after load() has changed. irq-off.
class LoadWatcher {
  public:
    virtual void load_changed(IrqOff) = 0;

  protected:
    constexpr LoadWatcher() = default;
    ~LoadWatcher() = default;
};

class Reservations {
  public:
    using Slot = std::size_t;
    static constexpr Slot kNoSlot = ~std::size_t{0};

    constexpr Reservations() = default;
    Reservations(const Reservations&) = delete;
    Reservations& operator=(const Reservations&) = delete;

    [[nodiscard]] static constexpr Slot slot_of_task(std::uint16_t pid) { return pid; }

    [[nodiscard]] static constexpr Slot slot_of_server(std::size_t index) { return kTasksMax + index; }

    // Tests with interrupts on, on a copy, what admits() is going to be asked with interrupts off: if nothing has
    // changed until then, the answer is there, and a longer search was possible. A saving, no more: does nothing with
    // interrupts off, or while another task is at it. Context: any.
    void prepare(Claim claim, const Demand& wanted);

    // Whether everything holds with `wanted` instead of what is in `replaced` (kNoSlot: beside all). O(steps
    // times reservations), the steps bounded by kStepsMax. Precondition: `wanted` within the ranges of Demand.
    [[nodiscard]] bool admits(Claim claim, const Demand& wanted, Slot replaced = kNoSlot);

    // Precondition: admits() said yes, or the new demand asks for no more than what is there.
    void set(Slot slot, Claim claim, const Demand& demand, IrqOff);

    // The promise ends, now or at the next idle instant. Does nothing if there is none.
    void retire(Slot slot, IrqOff);

    // Work entered a guaranteed queue, or left it: the instant at which there is none left is the idle instant.
    void work_came() { ++m_ready; }

    void work_left(IrqOff);

    // What GRUB has to count as always active: a share for every promise, retired ones included, such that nothing is
    // late as long as the sum is at most one. kBandwidthMax is the whole processor; may be more. O(1).
    [[nodiscard]] std::uint64_t load() const { return m_load; }

    // At most one; null: none.
    void watch(LoadWatcher* watcher) { m_watcher = watcher; }

    // Of one slot, in the published unit; 0 without a promise.
    [[nodiscard]] std::uint32_t bandwidth(Slot slot) const;

  private:
    struct Entry {
        Demand demand;
        Claim claim = Claim::none;
    };

    // One test's copy of all demands: those of fixed priority first.
    struct Set {
        std::array<Demand, 2 * kTasksMax + kServersMax + 1> demands{};
        std::size_t count = 0;
        std::size_t fixed = 0;
    };

    struct Prepared {
        std::uint64_t version = 0; // 0: nothing
        Claim claim = Claim::none;
        Demand demand;
        bool admitted = false;
        Set set;
        const Task* owner = nullptr; // the task that prepares; null: none
        std::uint16_t owner_context = 0;
        std::uint64_t owner_aborted = 0; // its jobs.aborted then
    };

    static constexpr std::size_t kRetiredMax = kTasksMax;
    static constexpr std::size_t kEntriesMax = kTasksMax + kServersMax + kRetiredMax;

    void collect(Set& set, Claim claim, const Demand& wanted, Slot replaced) const;
    [[nodiscard]] static bool holds(Set& set, std::uint32_t steps_max);
    [[nodiscard]] bool begin_preparing(Claim claim, const Demand& wanted);
    void changed(IrqOff);

    std::array<Entry, kEntriesMax> m_entries{};
    Set m_set;
    Prepared m_prepared;
    std::uint64_t m_version = 1;
    std::size_t m_retired = 0; // entries after those of tasks and servers
    std::uint64_t m_load = 0;
    LoadWatcher* m_watcher = nullptr;
    std::uint64_t m_ready = 0; // places in guaranteed queues
    bool m_unlisted = false;   // more ended than can be listed: nothing is admitted until the idle instant
};

} // namespace kernel
