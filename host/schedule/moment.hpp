// SPDX-License-Identifier: MIT
// A point in time: in ticks, always known, and in nanoseconds since the start of the trace, known once the clock's rate
// is.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/nearest_time.hpp"
#include "lib/units.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

namespace host::schedule {

struct Moment {
    lib::Ticks ticks;
    std::optional<std::int64_t> ns{};

    [[nodiscard]] static Moment of(const trace::Event& event) {
        return {event.ticks, event.timed ? std::optional(event.time_ns) : std::nullopt};
    }

    // The time nearest to the event whose low 32 bits the event carries. khz: the clock's rate, 0 if it is not known.
    // The nanoseconds saturate.
    [[nodiscard]] static Moment nearest(const trace::Event& event, std::uint32_t low, std::uint32_t khz) {
        using Limits = std::numeric_limits<std::int64_t>;
        Moment moment{{trace::nearest_time(low, event.ticks.value)}};
        if (event.timed && khz != 0) {
            const std::int64_t distance = trace::distance_to_nearest(low, event.ticks.value);
            const auto length = static_cast<std::uint64_t>(distance < 0 ? -distance : distance);
            const auto length_ns = static_cast<std::int64_t>(lib::TickRate{khz}.to_nanoseconds({length}).value);
            moment.ns = distance < 0 ? std::max(event.time_ns, Limits::min() + length_ns) - length_ns
                                     : std::min(event.time_ns, Limits::max() - length_ns) + length_ns;
        }
        return moment;
    }

    friend bool operator==(const Moment&, const Moment&) = default;
};

[[nodiscard]] inline Moment later(const Moment& a, const Moment& b) {
    return a.ticks < b.ticks ? b : a;
}

} // namespace host::schedule
