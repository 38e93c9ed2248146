// SPDX-License-Identifier: MIT
// Knows for what each task waits and which mutexes it holds or has just unlocked: what the accounting needs to name the
// mutex of a blocking (docs/metrics.md, rules 4, 9 and 10). It is used as Accounting is.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/trace/event.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace host::schedule {

constexpr std::uint32_t kChainMax = 64; // a longer chain of holders is a circle

class MutexWaits {
  public:
    // Must be called in time order. changes: what Schedule::take() returned for the event. schedule: its state after
    // it.
    void take(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule) {
        if (kConcerns[event.code]) {
            follow(event, changes, schedule);
        }
    }

    // Must be called for a change that begins a wait, before another event is taken.
    void note_wait(const trace::Event& event, const Change& change);

    // Records are missing: forgets the holders.
    void forget();

    // Returns for what the task waits or has waited last: the number of a mutex, else the parameter of task_block.
    [[nodiscard]] std::uint32_t wait_of(std::uint32_t context) const {
        return context < m_tasks.size() ? m_tasks[context].wait : 0;
    }

    // Returns the mutex that the task waits for. None while that mutex is free between two holders: under the protocol
    // `none` an unlock hands it to no task.
    [[nodiscard]] std::optional<std::uint32_t> blocked_by(std::uint32_t context, const Schedule& schedule) const;

    // Returns the mutex of `who` for which the task waits, directly or through a chain of holders. A holder that no
    // record names may be `who`.
    [[nodiscard]] std::optional<std::uint32_t> link_to(std::uint32_t who, std::uint32_t context,
                                                       const Schedule& schedule) const;

    // Returns the mutex for which the task runs in the place of one that waits for none: the one that it has unlocked,
    // if the other one waited for it and the scheduler has not decided since; else the one that it acquired last, which
    // is the first that it releases; if it holds none, the one that it unlocked last. 0: none since it got the
    // processor.
    [[nodiscard]] std::uint32_t mutex_of(std::uint32_t context) const;

  private:
    struct Task {
        std::uint32_t wait = 0;
        std::uint32_t released = 0; // the mutex that it has unlocked, until it leaves the processor; 0: none
        // The task in whose place it runs has waited for `released`, and the scheduler has not decided since.
        bool was_wanted = false;
    };

    struct Held {
        std::uint32_t context = 0;
        std::uint64_t order = 0;
    };

    static constexpr std::uint64_t kFree = 0; // the order of a mutex that has been unlocked and not acquired again

    static constexpr const auto& kConcerns = trace::kAnyOf<"trace_start", "set_mutex_acquire", "set_mutex_unlock",
                                                           "set_mutex_owner_died", "task_schedule", "task_epilogue">;

    void follow(const trace::Event& event, std::span<const Change> changes, const Schedule& schedule);
    [[nodiscard]] bool has_waited_for(std::uint32_t context, std::uint32_t mutex, std::span<const Change> changes,
                                      const Schedule& schedule) const;
    [[nodiscard]] Task& task(std::uint32_t context);

    std::vector<Task> m_tasks;            // by context
    std::map<std::uint32_t, Held> m_held; // by mutex
    std::uint64_t m_acquisitions = 0;
    bool m_lost = true; // forget() was called, or the trace began after the machine did
};

} // namespace host::schedule
