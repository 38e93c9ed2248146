// SPDX-License-Identifier: MIT
// The round-trip time of a flow and the timeout derived from it: RFC 6298, with bounds for a local network. Each packet
// carries the time at which it was sent and its answer repeats it, so a sample is never ambiguous (Karn's problem).
// Context: any.
#pragma once

#include "lib/units.hpp"

#include <algorithm>

namespace tracer::reliable {

class RoundTrip {
  public:
    static constexpr lib::Nanoseconds kTimeoutMin = lib::milliseconds(20);
    static constexpr lib::Nanoseconds kTimeoutMax = lib::milliseconds(2'000);
    static constexpr lib::Nanoseconds kTimeoutFirst = lib::milliseconds(200);

    // A sample also ends the backoff.
    constexpr void sample(lib::Nanoseconds time) {
        const std::uint64_t ns = std::min(time.value, kTimeoutMax.value);
        if (!m_known) {
            m_mean_ns = ns;
            m_deviation_ns = ns / 2;
            m_known = true;
        } else {
            const std::uint64_t distance = ns > m_mean_ns ? ns - m_mean_ns : m_mean_ns - ns;
            m_deviation_ns = (3 * m_deviation_ns + distance) / 4;
            m_mean_ns = (7 * m_mean_ns + ns) / 8;
        }
        m_timeout = std::clamp(late_after(), kTimeoutMin, kTimeoutMax);
    }

    constexpr void back_off() { m_timeout = std::min(lib::Nanoseconds{2 * m_timeout.value}, kTimeoutMax); }

    // An answer that has not come by then is unusual: mean and four deviations.
    [[nodiscard]] constexpr lib::Nanoseconds late_after() const {
        return m_known ? lib::Nanoseconds{m_mean_ns + 4 * m_deviation_ns} : kTimeoutFirst;
    }

    [[nodiscard]] constexpr lib::Nanoseconds timeout() const { return m_timeout; }

  private:
    bool m_known = false;
    std::uint64_t m_mean_ns = 0;
    std::uint64_t m_deviation_ns = 0;
    lib::Nanoseconds m_timeout = kTimeoutFirst;
};

} // namespace tracer::reliable
