// SPDX-License-Identifier: MIT
// Divides the time of one processor into stretches. A stretch belongs to a task, to the innermost interrupt handler, or
// to neither: before the first switch, where records are missing and while a filter hides them (Filters::kExecution),
// what ran is not known. The stretches follow each
// other without gap or overlap from the first event of the processor to its last. Time inside a handler belongs to the
// handler, whatever task was interrupted; the timer's handler counts only where interrupts are not recorded.
#pragma once

#include "host/schedule/schedule.hpp"
#include "host/schedule/share.hpp"
#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace host::schedule {

class ProcessorTime {
  public:
    struct Stretch {
        std::optional<std::uint16_t> task;    // the task that runs or is interrupted
        std::optional<std::uint32_t> handler; // its vector, or kTimerHandler
        lib::Ticks begin;
        lib::Ticks end;

        [[nodiscard]] lib::Ticks length() const { return end - begin; }

        friend bool operator==(const Stretch&, const Stretch&) = default;
    };

    // Must be called for the events of this processor. A stamp that decreases takes no time away: the latest stamp so
    // far counts.
    void saw(lib::Ticks stamp) {
        m_before = m_begun ? m_last : stamp;
        m_last = std::max(m_last, stamp);
        m_mark = m_begun ? m_mark : stamp;
        m_begun = true;
    }

    // Must be called before the others for an event before which records are missing. Returns the stretch that ended
    // with the latest event; what ran from then on is not known.
    [[nodiscard]] Stretch lose() {
        const Stretch ended = end_stretch(m_last);
        m_task.reset();
        m_depth = 0;
        return ended;
    }

    // Must be called where a filter of Filters::kExecution begins or ends, of each processor, and does what lose()
    // does. hidden: one is set from there on.
    [[nodiscard]] Stretch hide(bool hidden) {
        const Stretch ended = lose();
        m_hidden = hidden;
        return ended;
    }

    // Returns whether take(code, context) does something at an event of this code.
    [[nodiscard]] static constexpr bool concerns(std::uint8_t code) {
        return code == trace::kCodeOf<"context_switch"> || code == trace::kCodeOf<"blackout_start"> ||
               code == trace::kCodeOf<"blackout_end"> || code == trace::kCodeOf<"trace_start">;
    }

    // For events of other codes a call of saw() is enough.
    static constexpr const auto& kEndsStretch =
        trace::kAnyOf<"context_switch", "blackout_start", "blackout_end", "trace_start", "interrupt_start",
                      "interrupt_end", "timer_wakeup_start", "timer_wakeup_end">;

    // Takes an event of our table, including those of handlers, and returns the stretch that ends there.
    [[nodiscard]] Stretch take(const trace::Event& event) {
        saw(event.ticks);
        switch (event.code) {
        case trace::kCodeOf<"interrupt_start">:
            return enter_handler(event.par1);
        case trace::kCodeOf<"interrupt_end">:
            return leave_handler(event.par1);
        case trace::kCodeOf<"timer_wakeup_start">:
            return enter_handler(kTimerHandler);
        case trace::kCodeOf<"timer_wakeup_end">:
            return leave_handler(kTimerHandler);
        default:
            return take(event.code, event.par1);
        }
    }

    // The following functions refer to the latest event given to saw(). Each returns the stretch that ends there.
    [[nodiscard]] Stretch take(std::uint8_t code, std::uint16_t context) {
        if (code == trace::kCodeOf<"context_switch">) {
            const Stretch ended = end_stretch(m_last);
            m_task = context;
            return ended;
        }
        if (!concerns(code)) {
            return {};
        }
        // Records are missing after this event, or between it and the previous one.
        const Stretch ended = end_stretch(code == trace::kCodeOf<"blackout_start"> ? m_last : m_before);
        m_task.reset();
        m_depth = 0;
        return ended;
    }

    [[nodiscard]] Stretch enter_handler(std::uint32_t vector) {
        const Stretch ended = end_stretch(m_last);
        if (m_depth < m_handlers.size()) {
            m_handlers[m_depth++] = vector;
        }
        return ended;
    }

    // Leaves the handler and all that are nested in it. If no handler is open, the trace started inside this one, and
    // what ran until now is not known.
    [[nodiscard]] Stretch leave_handler(std::uint32_t vector) {
        const Stretch ended = m_depth != 0 ? end_stretch(m_last) : unknown_stretch();
        std::size_t position = m_depth;
        while (position > 0 && m_handlers[position - 1] != vector) {
            --position;
        }
        m_depth = position != 0 ? position - 1 : m_depth;
        return ended;
    }

    // Must be called at the end of the trace; returns the last stretch.
    [[nodiscard]] Stretch finish() { return end_stretch(m_last); }

    [[nodiscard]] lib::Ticks last() const { return m_last; }

    friend bool operator==(const ProcessorTime&, const ProcessorTime&) = default;

  private:
    [[nodiscard]] Stretch end_stretch(lib::Ticks end) {
        const Stretch ended{.task = m_hidden ? std::nullopt : m_task,
                            .handler = m_hidden ? std::nullopt : handler(),
                            .begin = m_mark,
                            .end = std::max(m_mark, end)};
        m_mark = ended.end;
        return ended;
    }

    [[nodiscard]] std::optional<std::uint32_t> handler() const {
        for (std::size_t position = m_depth; position > 0; --position) {
            if (m_handlers[position - 1] != kTimerHandler) {
                return m_handlers[position - 1];
            }
        }
        return m_depth != 0 ? std::optional(kTimerHandler) : std::nullopt;
    }

    [[nodiscard]] Stretch unknown_stretch() {
        Stretch ended = end_stretch(m_last);
        ended.task.reset();
        return ended;
    }

    std::optional<std::uint16_t> m_task;
    std::array<std::uint32_t, Schedule::Processor::kNestedMax> m_handlers{}; // the open handlers, outermost first
    std::size_t m_depth = 0;
    lib::Ticks m_mark;   // all stretches up to this time have ended
    lib::Ticks m_before; // the stamp before the latest event
    lib::Ticks m_last;
    bool m_begun = false;
    bool m_hidden = false; // a filter hides what executes
};

} // namespace host::schedule
