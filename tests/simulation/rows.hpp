// SPDX-License-Identifier: MIT
// The failure matrix: one row for each kind of failure, F1 to F20. A row builds a world from a seed, injects its
// failure and throws Failed if a promise is broken. docs/adr/0014-reliable-export.md has the table.
#pragma once

#include "tests/simulation/world.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace simulation {

// A number that a row measures: over all of its seeds.
struct Figure {
    double sum = 0;
    double worst = 0;
    std::uint64_t count = 0;
};

// Sums over all seeds of a row, for promises about averages.
struct Sums {
    void note(std::string_view name, double value) {
        Figure& figure = figures[name];
        figure.sum += value;
        figure.worst = std::max(figure.worst, value);
        ++figure.count;
    }

    std::map<std::string_view, Figure> figures;
    std::array<std::uint64_t, 5> packets{}; // by the class that the row chooses
    std::array<std::uint64_t, 5> sends{};
};

struct Row {
    std::string_view name;
    std::string_view title;
    void (*run)(World& world, Sums& sums);
    const char* (*judge)(const Sums& sums) = nullptr; // a broken promise about averages, or null
};

// The rows, by file: rows_network.cpp, rows_absence.cpp, rows_strangers.cpp, rows_ends.cpp.
void loss(World& world, Sums& sums);
void burst(World& world, Sums& sums);
void duplicates(World& world, Sums& sums);
void reordering(World& world, Sums& sums);
void short_path(World& world, Sums& sums);
void damage(World& world, Sums& sums);
void silence(World& world, Sums& sums);
void restarts(World& world, Sums& sums);
void lost_tail(World& world, Sums& sums);
void absent(World& world, Sums& sums);
void guest_resets(World& world, Sums& sums);
void two_guests(World& world, Sums& sums);
void nonsense_answers(World& world, Sums& sums);
void disk_full(World& world, Sums& sums);
void replay(World& world, Sums& sums);
void flood(World& world, Sums& sums);
void lost_ends(World& world, Sums& sums);
void no_address(World& world, Sums& sums);
void card_stops(World& world, Sums& sums);
void liveness(World& world, Sums& sums);
[[nodiscard]] const char* judge_loss(const Sums& sums);
[[nodiscard]] const char* judge_reordering(const Sums& sums);

extern const std::array<Row, 20> rows;

} // namespace simulation
