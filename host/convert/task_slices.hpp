// SPDX-License-Identifier: MIT
// What a task does over time, as slices that viewers can draw: its jobs, from release to completion, and its waits. A
// task has at most one of each at a time, so each kind has a track of its own per task, and slices there never overlap.
// Where the end of one is missing, the next one ends it.
#pragma once

#include "host/convert/schedule_view.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace host::convert {

struct SliceChange {
    enum class Kind : std::uint8_t { job_began, job_ended, wait_began, wait_ended };

    Kind kind;
    TaskState state = TaskState::unknown; // wait_began: for what
    std::uint32_t context = 0;
    std::uint32_t object = 0; // wait_began: for which one
};

class TaskSlices {
  public:
    TaskSlices();

    // changes: what ScheduleView made of the event. Valid until the next call.
    [[nodiscard]] std::span<const SliceChange> take(const trace::Event& event, std::span<const Change> changes);

    // The ends of all that are open.
    [[nodiscard]] std::span<const SliceChange> finish();

  private:
    void begin(std::vector<bool>& open, const SliceChange& change, SliceChange::Kind end);
    void end(std::vector<bool>& open, std::uint32_t context, SliceChange::Kind kind);

    std::vector<bool> m_jobs; // open, by context
    std::vector<bool> m_waits;
    std::vector<SliceChange> m_changes;
};

// What a task waits for: "mutex bus", "delay". Escaped.
[[nodiscard]] std::string wait_label(const trace::Names& names, TaskState state, std::uint32_t object);

// The task to which an event belongs: the one that it names, else the one that runs. kUnknownContext: none, or an
// interrupt.
[[nodiscard]] std::uint32_t task_of(const trace::Event& event, const ScheduleView& view);

} // namespace host::convert
