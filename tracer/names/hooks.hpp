// SPDX-License-Identifier: MIT
// Which events a kernel records: what it has no hook for is not in its traces, whatever it does. Host-safe.
#pragma once

#include <array>
#include <cstdint>

namespace tracer {

// Has a bit for each code of an event, the lowest first. All zeros: not stated; then each event is recorded that the
// tracer's table had when the kernel was built.
struct Hooks {
    std::array<std::uint64_t, 4> words{};

    [[nodiscard]] constexpr bool stated() const { return *this != Hooks{}; }

    [[nodiscard]] constexpr bool has(std::uint8_t code) const { return (words[code / 64] >> (code % 64) & 1) != 0; }

    constexpr void add(std::uint8_t code) { words[code / 64] |= std::uint64_t{1} << (code % 64); }

    friend bool operator==(const Hooks&, const Hooks&) = default;
};

} // namespace tracer
