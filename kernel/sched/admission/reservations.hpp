// SPDX-License-Identifier: MIT
// Declares the register of all promises of processor time, and the sums over them.
#pragma once

#include "kernel/config.hpp"
#include "kernel/irq_off.hpp"
#include "kernel/sched/admission/utilisation.hpp"
#include "kernel/state/task_object.hpp"
#include "lib/intrusive_list.hpp"
#include "lib/intrusive_tree.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace kernel {

// PromiseSums keeps the sums of all promises while promises come and go. Most questions of admission control are
// answered by the sums alone, in constant time, and as the tests would answer them (utilisation.hpp, exact_tests.hpp).
// Each share is rounded up at 2^-63, so the sums know how far they are off; where that is too much they answer
// `unknown`, and the tests decide. Context: any.
//
//                       fits          unknown        exceeds
//   sum, rounded up  ...........|..................|..........      one = 2^63
//                              one          one + a unit for each promise

class PromiseSums {
  public:
    constexpr PromiseSums() = default;

    // Makes the sums of one promise. Precondition: the demand is within its ranges, and the claim is not none.
    PromiseSums(Claim claim, const Demand& demand);

    PromiseSums& operator+=(const PromiseSums& more);

    // Precondition: `less` has been added.
    PromiseSums& operator-=(const PromiseSums& less);

    // Answers as utilisation_at_most_one() does for all promises.
    [[nodiscard, gnu::noinline]] Verdict utilisation() const;

    // Answers as edf_feasible() does for the promises with deadlines below those of fixed priority; `shortest` is the
    // shortest deadline of the former. Precondition: utilisation() fits.
    [[nodiscard]] Verdict deadlines(std::uint64_t shortest) const;

    // Returns the line of density_rounded_up() in the published unit: a deadline below its period counts as one, and
    // what runs above counts once more in the shortest interval that can matter.
    [[nodiscard, gnu::noinline]] std::uint64_t load(std::uint64_t shortest) const;

  private:
    Wide m_utilisation = 0; // C / T of all
    Wide m_density = 0;     // C / D of those with deadlines, C / T of what runs above
    Wide m_once = 0;        // C of what runs above, twice with jitter
    std::uint64_t m_load = 0;
    std::uint32_t m_count = 0;
    std::uint32_t m_above = 0;
    std::uint32_t m_servers = 0;
    std::uint32_t m_constrained = 0; // deadlines shorter than their periods
};

// Is called after load() has changed. Context: irq-off.
class LoadWatcher {
  public:
    virtual void load_changed(IrqOff) = 0;

  protected:
    constexpr LoadWatcher() = default;
    ~LoadWatcher() = default;
};

// This is the one register of all promises, those of tasks and of servers, on every level that guarantees. Nothing is
// admitted unless every promise holds beside all others, whatever level made it. Fixed priorities run above deadlines,
// so the fixed set is tested alone, and the deadlines below it.
//
// What was promised to a task that has ended has kept others waiting already, so its share is not free at once: it
// stays *retired* in the register until the guaranteed levels have nothing to do for an instant. From an idle instant
// on the past does not matter, and the tests, which take all releases to coincide, hold for whatever set there is then.
//
//   set --> promised --retire--> retired --idle instant--> free
//
// A question that the sums of all promises decide (PromiseSums) costs O(log n), whatever was promised. A server,
// or a deadline that equals its period, beside others of these kinds is such a question. All others need the exact
// tests, each step of which visits every promise: fixed priorities, and deadlines shorter than their periods or below
// fixed priorities where the line above all work does not fit. These tests run with interrupts on (prepare), on a copy.
//
// Everything is in static storage, because a test's copy of the set would be too large for a stack. All functions but
// prepare() need interrupts off.
class Reservations {
  public:
    using Slot = std::size_t;
    static constexpr Slot kNoSlot = ~std::size_t{0};

    constexpr Reservations() = default;
    Reservations(const Reservations&) = delete;
    Reservations& operator=(const Reservations&) = delete;

    [[nodiscard]] static constexpr Slot slot_of_task(std::uint16_t pid) { return pid; }

    [[nodiscard]] static constexpr Slot slot_of_server(std::size_t index) { return kTasksMax + index; }

    // Tests with interrupts on, on a copy, what admits() will be asked with interrupts off. If nothing changes until
    // then, the answer is there, and a longer search was possible. It only saves time: it does nothing with interrupts
    // off, while another task prepares, or where the sums decide. Context: any.
    void prepare(Claim claim, const Demand& wanted);

    // Returns whether everything holds with `wanted` instead of what is in `replaced` (kNoSlot: beside all). It takes
    // O(log n) if the sums decide or the answer was prepared, else O(steps times reservations), the steps bounded by
    // kStepsMax. Precondition: `wanted` is within the ranges of Demand.
    [[nodiscard]] bool admits(Claim claim, const Demand& wanted, Slot replaced = kNoSlot);

    // Stores a promise, in O(log n). Precondition: admits() returned true, or the new demand asks for no more than the
    // old one.
    void set(Slot slot, Claim claim, const Demand& demand, IrqOff);

    // Ends the promise, now or at the next idle instant, in O(log n). It does nothing if there is none.
    void retire(Slot slot, IrqOff);

    // Must be called when work has entered a guaranteed queue, or has left it. The instant at which there is none left
    // is the idle instant. O(1).
    void work_came() { ++m_ready; }

    void work_left(IrqOff);

    // Returns what GRUB has to count as always active: a share for every promise, retired ones included, such that
    // nothing is late as long as the sum is at most one. kBandwidthMax is the whole processor; the sum may be more.
    // O(1).
    [[nodiscard]] std::uint64_t load() const { return m_load; }

    // Sets the only watcher; null removes it.
    void watch(LoadWatcher* watcher) { m_watcher = watcher; }

    // Returns the bandwidth of one slot in the published unit, or 0 without a promise.
    [[nodiscard]] std::uint32_t bandwidth(Slot slot) const;

  private:
    struct Promise {
        Demand demand;
        Claim claim = Claim::none;
    };

    struct LiveTag {};

    struct DeadlineTag {};

    struct Entry : Promise, lib::ListLink<LiveTag>, lib::TreeLink<DeadlineTag> {
        PromiseSums sums; // its part of the sums
    };

    struct ShorterDeadline {
        bool operator()(const Entry& a, const Entry& b) const { return a.demand.deadline_ns < b.demand.deadline_ns; }
    };

    // Holds one test's copy of all demands, those of fixed priority first.
    struct Set {
        std::array<Demand, 2 * kTasksMax + kServersMax + 1> demands{};
        std::size_t count = 0;
        std::size_t fixed = 0;
        bool fixed_hold = false; // those of fixed priority need no test

        void add(const Promise& promise);
    };

    struct Copied {
        const Entry* next = nullptr;
        std::size_t retired = 0;
    };

    struct Prepared {
        std::uint64_t version = 0; // 0: nothing
        Claim claim = Claim::none;
        Demand demand;
        bool admitted = false;
        Set set;
        Copied copied;
        const Task* owner = nullptr; // the task that prepares; null: none
        std::uint16_t owner_context = 0;
        std::uint64_t owner_aborted = 0; // its jobs.aborted at that time
    };

    static constexpr std::size_t kRetiredMax = kTasksMax;
    static constexpr std::uint64_t kNoDeadline = ~std::uint64_t{0};

    [[nodiscard]] std::uint64_t shortest_deadline(const Entry* but = nullptr) const;
    [[nodiscard]] Verdict by_sums(Claim claim, const Demand& wanted, const Entry* replaced) const;
    [[nodiscard]] Copied begin_copy(Set& set, Claim claim, const Demand& wanted, bool fixed_replaced) const;
    [[nodiscard]] bool copy(Set& set, Copied& copied, std::size_t most, const Entry* but = nullptr) const;
    [[nodiscard]] static bool holds(Set& set, std::uint32_t steps_max);
    [[nodiscard]] std::uint64_t begin_preparing(Claim claim, const Demand& wanted);
    [[nodiscard]] bool copy_in_steps(std::uint64_t version);
    void withdraw(Entry& entry);
    void changed(IrqOff);

    std::array<Entry, kTasksMax + kServersMax> m_entries{};
    lib::IntrusiveList<Entry, LiveTag> m_live;
    lib::IntrusiveTree<Entry, DeadlineTag, ShorterDeadline> m_deadlines; // those of the claim `deadline`
    std::array<Promise, kRetiredMax> m_retired{};
    std::size_t m_retired_count = 0;
    PromiseSums m_retired_sums;
    std::uint64_t m_retired_shortest = kNoDeadline; // the shortest deadline among them
    PromiseSums m_sums;                             // of all, retired ones included
    bool m_fixed_hold = true;                       // those of fixed priority have passed their test as they are
    Set m_set;
    Prepared m_prepared;
    std::uint64_t m_version = 1;
    std::uint64_t m_load = 0;
    LoadWatcher* m_watcher = nullptr;
    std::uint64_t m_ready = 0; // places in guaranteed queues
    bool m_unlisted = false;   // more ended than can be listed: nothing is admitted until the idle instant
};

} // namespace kernel
