// SPDX-License-Identifier: MIT
// A point in time: in ticks, which are always known, and in nanoseconds since the start of the trace, which are known
// once the clock's rate is known.
#pragma once

#include "host/trace/event.hpp"
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

    // As above, of a time that may be unknown.
    [[nodiscard]] static std::optional<Moment> at(std::optional<std::uint64_t> ticks, const trace::Event& event,
                                                  std::uint32_t khz) {
        return ticks ? std::optional(at(*ticks, event, khz)) : std::nullopt;
    }

    friend bool operator==(const Moment&, const Moment&) = default;
};

[[nodiscard]] inline Moment later(const Moment& a, const Moment& b) {
    return a.ticks < b.ticks ? b : a;
}

} // namespace host::schedule
