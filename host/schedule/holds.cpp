// SPDX-License-Identifier: MIT
#include "host/schedule/holds.hpp"

namespace host::schedule {

using trace::kCodeOf;

void Holds::end(Hold hold, const std::optional<Moment>& now, HoldEnd how) {
    hold.end = now;
    hold.how = how;
    m_sink(hold);
}

// The schedule knows who holds a mutex after the event.
void Holds::take_mutex(const trace::Event& event, const Schedule& schedule) {
    const std::uint32_t mutex = event.par2;
    const std::uint32_t holder = schedule.holder(mutex);
    const Moment now = Moment::of(event);
    const auto before = m_open.find(mutex);
    if (before != m_open.end()) {
        if (before->second.context == holder) {
            return;
        }
        end(before->second, now,
            holder != kUnknownContext                   ? HoldEnd::taken
            : event.is(kCodeOf<"set_mutex_owner_died">) ? HoldEnd::owner_died
                                                        : HoldEnd::unlocked);
        m_open.erase(before);
    }
    if (holder != kUnknownContext) {
        m_open[mutex] = {.mutex = mutex, .context = holder, .begin = now};
    }
}

void Holds::take(const trace::Event& event, const Schedule& schedule, const std::optional<Moment>& before) {
    if (event.is(kCodeOf<"set_mutex_acquire">) || event.is(kCodeOf<"set_mutex_unlock">) ||
        event.is(kCodeOf<"set_mutex_owner_died">)) {
        take_mutex(event, schedule);
    } else if (event.is(kCodeOf<"blackout_end">) || event.is(kCodeOf<"trace_start">)) {
        std::erase_if(m_open, [&](const auto& open) {
            const bool is_lost = schedule.holder(open.first) == kUnknownContext;
            if (is_lost) {
                end(open.second, before, HoldEnd::records_lost);
            }
            return is_lost;
        });
    }
    m_latest = m_latest ? later(*m_latest, Moment::of(event)) : Moment::of(event);
}

void Holds::finish() {
    for (const auto& [mutex, hold] : m_open) {
        end(hold, m_latest, HoldEnd::end_of_trace);
    }
    m_open.clear();
}

} // namespace host::schedule
