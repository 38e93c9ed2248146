// SPDX-License-Identifier: MIT
// The time of events as viewers need it: nanoseconds since the start of the trace, never negative and never falling.
// Where the stamps of a damaged trace fall, the greatest time so far is used. Without a clock rate a tick counts as a
// nanosecond.
#pragma once

#include "convert/writer/writer.hpp"

#include <algorithm>
#include <cstdint>

namespace host::convert {

class TimeAxis {
  public:
    explicit TimeAxis(const Survey& survey)
        : m_first(survey.first)
        , m_khz(survey.facts.clock.khz) {}

    [[nodiscard]] std::uint64_t of(const trace::Event& event) {
        const std::int64_t time_ns = event.timed ? event.time_ns : static_cast<std::int64_t>(untimed(event.ticks));
        m_last_ns = std::max(m_last_ns, static_cast<std::uint64_t>(std::max<std::int64_t>(time_ns, 0)));
        return m_last_ns;
    }

    // Of the last event.
    [[nodiscard]] std::uint64_t last_ns() const { return m_last_ns; }

    // False: the times are ticks.
    [[nodiscard]] bool has_rate() const { return m_khz != 0; }

    // A duration.
    [[nodiscard]] std::uint64_t nanoseconds(std::uint64_t ticks) const {
        return m_khz == 0 ? ticks : lib::TickRate{m_khz}.to_nanoseconds({ticks}).value;
    }

  private:
    // Before the trace has stated its rate, or without one.
    [[nodiscard]] std::uint64_t untimed(lib::Ticks ticks) const {
        constexpr std::uint64_t kMax = ~std::uint64_t{0} >> 1;
        return ticks < m_first ? 0 : std::min(nanoseconds((ticks - m_first).value), kMax);
    }

    lib::Ticks m_first;
    std::uint32_t m_khz;
    std::uint64_t m_last_ns = 0;
};

} // namespace host::convert
