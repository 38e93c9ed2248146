// SPDX-License-Identifier: MIT
// Decides which session gives up its place when a table of sessions is full, so that no machine keeps another one out
// by holding places. What a machine sends earns it time: a session is owed a second of silence for each kBytesPerSecond
// that came of it, five minutes at most. It keeps its place as long as it makes progress or is owed time. A session
// that gives up its place loses nothing: what is durable stays, and its machine continues with HELLO.
//
//   1  a session that has ended, or made no progress for five minutes     the one that is silent for the longest time
//   2  a session that is silent for longer than it is owed                the one that is overdue for the longest time;
//      an address with a quarter of the places takes one of its own first, and of another address only one that is
//      overdue for longer than a sender waits before it repeats
//   3  a session of the address that has the most places, if that are     the one that is owed the least time
//      at least two more than the newcomer's address has
//   4  none: the newcomer is refused
#pragma once

#include "lib/units.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace host::collector::reliable {

struct Occupant {
    std::uint32_t ipv4 = 0;
    std::uint64_t bytes = 0;  // that came
    lib::Nanoseconds silence; // since the last of them
    bool over = false;        // it has ended
};

class Admission {
  public:
    static constexpr std::uint64_t kBytesPerSecond = 16 * 1024;
    static constexpr lib::Nanoseconds kSilentMax = lib::milliseconds(300'000);
    static constexpr lib::Nanoseconds kRepeated = lib::milliseconds(2'500); // a sender repeats every 2 s at least

    // Returns the time for which a session may be silent.
    [[nodiscard]] static constexpr lib::Nanoseconds owed(std::uint64_t bytes) {
        constexpr std::uint64_t kSecond = lib::milliseconds(1'000).value;
        const std::uint64_t most = kSilentMax.value / kSecond * kBytesPerSecond;
        return {std::min(bytes, most) * kSecond / kBytesPerSecond};
    }

    // Returns the number of the occupant that a newcomer of this address replaces; none: it is refused.
    [[nodiscard]] static std::optional<std::size_t> replaced(std::span<const Occupant> occupants,
                                                             std::uint32_t newcomer) {
        std::map<std::uint32_t, std::size_t> places;
        for (const Occupant& each : occupants) {
            ++places[each.ipv4];
        }
        const std::size_t own = places[newcomer];
        const auto most = std::ranges::max_element(places, {}, [](const auto& place) { return place.second; });
        const bool takes_own = own * 4 >= occupants.size();
        using Rank = std::pair<int, std::int64_t>; // the rule, then what it compares
        const auto rank = [&](const Occupant& each) {
            const auto silence = static_cast<std::int64_t>(each.silence.value);
            const std::int64_t overdue = silence - static_cast<std::int64_t>(owed(each.bytes).value);
            if (each.over || each.silence >= kSilentMax) {
                return Rank{4, silence};
            }
            const bool is_own = each.ipv4 == newcomer;
            if (overdue >= (takes_own && !is_own ? static_cast<std::int64_t>(kRepeated.value) : 0)) {
                return Rank{takes_own && is_own ? 3 : 2, overdue};
            }
            return Rank{each.ipv4 == most->first && most->second >= own + 2 ? 1 : 0, overdue};
        };
        const auto chosen = std::ranges::max_element(occupants, {}, rank);
        if (chosen == occupants.end() || rank(*chosen).first == 0) {
            return std::nullopt;
        }
        return static_cast<std::size_t>(chosen - occupants.begin());
    }
};

} // namespace host::collector::reliable
