// SPDX-License-Identifier: MIT
// See round_robin.hpp.
#include "host/analyse/oracle/round_robin.hpp"

#include "host/text/format.hpp"

namespace host::analyse::oracle {

using trace::kCodeOf;

std::optional<std::uint64_t> RoundRobin::length(std::uint16_t context) const {
    const Task* const task = model().find(context);
    if (task == nullptr || task->policy != Policy::round_robin || task->parameters.budget_ns == 0 || !model().timed()) {
        return std::nullopt;
    }
    return task->slice_ticks;
}

void RoundRobin::event(const trace::Event& event) {
    switch (event.code) {
    case kCodeOf<"job_release">:
        if (length(event.par1)) {
            m_slices[event.par1] = Slice{.known = true};
        }
        break;
    case kCodeOf<"slice_end">:
        end_slice(event);
        break;
    case kCodeOf<"task_end">:
        m_slices.erase(event.par1);
        break;
    case kCodeOf<"task_schedule">:
        settle(event);
        break;
    default:
        break;
    }
}

void RoundRobin::ran(const Interval& interval) {
    if (length(interval.exec)) {
        Slice& slice = m_slices[interval.exec];
        const std::uint64_t begin = interval.begin > slice.from ? interval.begin : slice.from;
        slice.used += interval.end > begin ? interval.end - begin : 0;
        ++slice.intervals;
    }
}

void RoundRobin::end_slice(const trace::Event& event) {
    const auto slice_ticks = length(event.par1);
    Slice& slice = m_slices[event.par1];
    const std::uint64_t used = slice.used + so_far(event.par1, slice.from, event.ticks.value);
    const std::uint64_t slack = timing().tolerance * (slice.intervals + 1);
    if (!slice_ticks || !slice.known || !timing().judged) {
        verdicts().undecided(Rule::rr_slice);
    } else {
        verdicts().judge(Rule::rr_slice, used + slack >= *slice_ticks && used <= *slice_ticks + slack, event.par1, [&] {
            return fmt::format("the slice of {} ends after {} ticks, it has {}", model().name(event.par1), used,
                               *slice_ticks);
        });
    }
    // Whether it runs on is known only if a record has shown who runs.
    slice = Slice{.known = model().running().has_value(), .from = event.ticks.value};
}

void RoundRobin::settle(const trace::Event& event) {
    if (!model().jobs_recorded() || !timing().judged) {
        return; // no ends of slices were recorded
    }
    for (auto& [context, slice] : m_slices) {
        const std::uint64_t used = slice.used + so_far(context, slice.from, event.ticks.value);
        const std::uint64_t slack = timing().tolerance * (slice.intervals + 1);
        const auto slice_ticks = slice.known && used > slack ? length(context) : std::nullopt;
        if (slice_ticks && used > *slice_ticks + slack) {
            verdicts().fail(Rule::rr_slice, context,
                            fmt::format("the place of {} was used for {} ticks, its slice is {}, and has not ended",
                                        model().name(context), used, *slice_ticks));
            slice.known = false;
        }
    }
}

} // namespace host::analyse::oracle
