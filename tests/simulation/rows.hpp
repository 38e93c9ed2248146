// SPDX-License-Identifier: MIT
// The failure matrix: one row for each kind of failure, F1 to F18. A row builds a world from a seed, injects its
// failure and throws Failed if a promise is broken. docs/adr/0014-reliable-export.md has the table.
#pragma once

#include "tests/simulation/world.hpp"

#include <array>
#include <string_view>

namespace simulation {

// Sums over all seeds of a row, for promises about averages.
struct Sums {
    std::array<std::uint64_t, 5> packets{}; // by the class that the row chooses
    std::array<std::uint64_t, 5> sends{};
};

struct Row {
    std::string_view name;
    std::string_view title;
    void (*run)(World& world, Sums& sums);
    const char* (*judge)(const Sums& sums) = nullptr; // a broken promise about averages, or null
};

extern const std::array<Row, 18> rows;

} // namespace simulation
