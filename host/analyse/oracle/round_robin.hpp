// SPDX-License-Identifier: MIT
// Slices of the round robin: a place is used for so long, by its task or by whoever runs on its behalf, and then goes
// to the end of the queue with a new slice. A task that waits keeps the rest of its slice; an activation brings a new
// one.
#pragma once

#include "host/analyse/oracle/theory.hpp"
#include "host/trace/event.hpp"

#include <map>

namespace host::analyse::oracle {

class RoundRobin : public Theory {
  public:
    using Theory::Theory;

    // The others do nothing.
    static constexpr const auto& kConcerns = trace::kAnyOf<"job_release", "slice_end", "task_end", "task_schedule">;

    void event(const trace::Event& event);
    void ran(const Interval& interval);

    void forget() { m_slices.clear(); }

  private:
    struct Slice {
        bool known = false; // its beginning was seen
        std::uint64_t used = 0;
        std::uint64_t intervals = 0;
        std::uint64_t from = 0; // when it began, if within a stay on the processor
    };

    // The length of the task's slice in ticks; none: it has no slice.
    [[nodiscard]] std::optional<std::uint64_t> length(std::uint16_t context) const;
    void end_slice(const trace::Event& event);
    void settle(const trace::Event& event);

    std::map<std::uint16_t, Slice> m_slices;
};

} // namespace host::analyse::oracle
