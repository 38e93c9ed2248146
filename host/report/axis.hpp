// SPDX-License-Identifier: MIT
// Times as the page has them: whole ticks since the start of the trace, and which of them are to be in it.
#pragma once

#include "host/schedule/moment.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace host::report {

// Greater ones are not exact in the page's numbers; a stamp of a damaged trace may be.
inline constexpr std::uint64_t kTicksMax = std::uint64_t{1} << 53;

class Axis {
  public:
    // The part of the trace that is wanted, in ns since its start; none: from its start, to its end.
    struct Window {
        std::optional<std::int64_t> from_ns{};
        std::optional<std::int64_t> to_ns{};
    };

    explicit Axis(const Window& window)
        : m_window(window) {}

    // Of each event, in time order. khz: the clock's rate as far as it is known, else 0.
    void saw(const trace::Event& event, std::uint32_t khz) {
        if (!m_origin || (event.timed && !m_origin_is_timed)) {
            const auto lead_ns = static_cast<std::uint64_t>(event.timed ? std::max<std::int64_t>(event.time_ns, 0) : 0);
            const lib::Ticks lead = khz != 0 ? lib::TickRate{khz}.to_ticks({lead_ns}) : lib::Ticks{};
            m_origin = {event.ticks.value - std::min(event.ticks.value, lead.value)};
            m_origin_is_timed = event.timed;
        }
        if (!event.metadata) {
            m_last = std::max(m_last, at(event.ticks));
        }
    }

    [[nodiscard]] std::uint64_t at(lib::Ticks ticks) const {
        const std::uint64_t origin = m_origin ? m_origin->value : 0;
        return std::min(ticks.value - std::min(ticks.value, origin), kTicksMax);
    }

    // Any of it is in the window. Without a known time only a page without a window has it.
    [[nodiscard]] bool wants(const schedule::Moment& begin, const schedule::Moment& end) const {
        return (!m_window.from_ns || (end.ns && *end.ns >= *m_window.from_ns)) &&
               (!m_window.to_ns || (begin.ns && *begin.ns < *m_window.to_ns));
    }

    [[nodiscard]] const Window& window() const { return m_window; }

    // The window ends here: the page is full.
    void close(const schedule::Moment& end) { m_window.to_ns = end.ns; }

    [[nodiscard]] std::uint64_t last() const { return m_last; }

    [[nodiscard]] lib::Ticks origin() const { return m_origin.value_or(lib::Ticks{}); }

  private:
    Window m_window;
    std::optional<lib::Ticks> m_origin;
    bool m_origin_is_timed = false;
    std::uint64_t m_last = 0;
};

} // namespace host::report
