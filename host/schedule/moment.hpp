// SPDX-License-Identifier: MIT
// A point in time: in ticks, which are always known, and in nanoseconds since the start of the trace, which are known
// once the clock's rate is known.
#pragma once

#include "host/trace/event.hpp"
#include "host/trace/tick_scale.hpp"
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

    // Returns a time other than that of the event. khz: the clock's rate, 0 if it is not known. The nanoseconds
    // saturate.
    [[nodiscard]] static Moment at(std::uint64_t ticks, const trace::Event& event, std::uint32_t khz) {
        using Limits = std::numeric_limits<std::int64_t>;
        Moment moment{{ticks}};
        if (event.timed && khz != 0) {
            const bool is_before = ticks < event.ticks.value;
            const std::uint64_t length = is_before ? event.ticks.value - ticks : ticks - event.ticks.value;
            const auto most = static_cast<std::uint64_t>(Limits::max());
            const auto length_ns =
                static_cast<std::int64_t>(std::min(lib::TickRate{khz}.to_nanoseconds({length}).value, most));
            moment.ns = is_before ? std::max(event.time_ns, Limits::min() + length_ns) - length_ns
                                  : std::min(event.time_ns, Limits::max() - length_ns) + length_ns;
        }
        return moment;
    }

    // Returns the release that the event carries. Precondition: the event is a job_release.
    [[nodiscard]] static Moment release(const trace::Event& event, std::uint32_t khz) {
        return at(trace::release_time(event.par2, event.ticks.value), event, khz);
    }

    // Returns the deadline that the event carries. Precondition: the event is a job_deadline. The first deadline of a
    // job is computed from its release, which may be long ago; a later one is the deadline of a server, which has just
    // been postponed.
    [[nodiscard]] static Moment deadline(const trace::Event& event, std::optional<lib::Ticks> first_after,
                                         std::uint32_t khz) {
        return at(first_after ? trace::first_time(event.par2, first_after->value)
                              : trace::nearest_time(event.par2, event.ticks.value),
                  event, khz);
    }

    friend bool operator==(const Moment&, const Moment&) = default;
};

[[nodiscard]] inline Moment later(const Moment& a, const Moment& b) {
    return a.ticks < b.ticks ? b : a;
}

} // namespace host::schedule
