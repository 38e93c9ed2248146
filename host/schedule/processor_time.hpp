// SPDX-License-Identifier: MIT
// How the time of one processor is divided: stretch by stretch it belongs to a task, to interrupt handlers, or to
// nothing that is known: before the first switch, and where records are missing. The stretches follow each other
// without gap or overlap from the first event of the processor to its last. Time inside a handler belongs to handlers,
// whatever task was interrupted.
#pragma once

#include "host/trace/event.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace host::schedule {

class ProcessorTime {
  public:
    struct Stretch {
        std::optional<std::uint16_t> task; // that runs, or is interrupted
        bool in_handler = false;
        lib::Ticks begin;
        lib::Ticks end;

        [[nodiscard]] lib::Ticks length() const { return end - begin; }

        friend bool operator==(const Stretch&, const Stretch&) = default;
    };

    // An event of this processor. A stamp that falls takes no time away: the latest one so far counts.
    void saw(lib::Ticks stamp) {
        m_before = m_begun ? m_last : stamp;
        m_last = std::max(m_last, stamp);
        m_mark = m_begun ? m_mark : stamp;
        m_begun = true;
    }

    // Whether take() has something to do at an event of this code.
    [[nodiscard]] static constexpr bool concerns(std::uint8_t code) {
        return code == trace::kCodeOf<"context_switch"> || code == trace::kCodeOf<"blackout_start"> ||
               code == trace::kCodeOf<"blackout_end"> || code == trace::kCodeOf<"trace_start">;
    }

    // The following functions refer to the event given to saw(). Each returns the stretch that ends there.
    [[nodiscard]] Stretch take(std::uint8_t code, std::uint16_t context) {
        if (code == trace::kCodeOf<"context_switch">) {
            const Stretch ended = end_stretch(m_last);
            m_task = context;
            return ended;
        }
        if (!concerns(code)) {
            return {};
        }
        // Records are missing after this event, or between it and the one before.
        const Stretch ended = end_stretch(code == trace::kCodeOf<"blackout_start"> ? m_last : m_before);
        m_task.reset();
        m_depth = 0;
        return ended;
    }

    [[nodiscard]] Stretch enter_handler() {
        const Stretch ended = end_stretch(m_last);
        ++m_depth;
        return ended;
    }

    // Without a begin the trace starts inside the handler: it is unknown what ran until now.
    [[nodiscard]] Stretch leave_handler() {
        const Stretch ended = m_depth != 0 ? end_stretch(m_last) : unknown_stretch();
        m_depth -= m_depth != 0 ? 1U : 0U;
        return ended;
    }

    // At the end of the trace.
    [[nodiscard]] Stretch finish() { return end_stretch(m_last); }

    [[nodiscard]] lib::Ticks last() const { return m_last; }

    friend bool operator==(const ProcessorTime&, const ProcessorTime&) = default;

  private:
    [[nodiscard]] Stretch end_stretch(lib::Ticks end) {
        const Stretch ended{.task = m_task, .in_handler = m_depth != 0, .begin = m_mark, .end = std::max(m_mark, end)};
        m_mark = ended.end;
        return ended;
    }

    [[nodiscard]] Stretch unknown_stretch() {
        Stretch ended = end_stretch(m_last);
        ended.task.reset();
        return ended;
    }

    std::optional<std::uint16_t> m_task;
    std::uint32_t m_depth = 0; // of handlers, those of timers included
    lib::Ticks m_mark;         // up to here all stretches have ended
    lib::Ticks m_before;       // the event before the latest one
    lib::Ticks m_last;
    bool m_begun = false;
};

} // namespace host::schedule
