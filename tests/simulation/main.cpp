// SPDX-License-Identifier: MIT
// Runs rows of the failure matrix, each with many seeds. One seed is one run, and the same run every time.
//
//   export SEEDS [ROW [FIRST [trace|figures]]]   the seeds FIRST (1) to FIRST + SEEDS - 1 of one row (F1..F20), or of
//   all;
//                                                trace: prints every packet; figures: what the rows measured, as rows
//                                                of a table
//
// A failing seed is printed with the command that repeats it. The counts go to the file $RESULTS, if there is one.
#include "tests/simulation/rows.hpp"

#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <fstream>
#include <string>

namespace {

using simulation::Row;

constexpr int kShownMax = 5; // failing seeds of a row

bool run_row(const char* program, const Row& row, std::uint64_t first, std::uint64_t seeds, std::string_view print) {
    simulation::Sums sums;
    int failed = 0;
    const std::clock_t begin = std::clock();
    for (std::uint64_t seed = first; seed < first + seeds; ++seed) {
        try {
            simulation::World world(seed);
            world.trace = print == "trace";
            row.run(world, sums);
        } catch (const simulation::Failed& failure) {
            if (++failed <= kShownMax) {
                fmt::print("FAIL simulation_{} seed {}: {}; again: {} 1 {} {}\n", row.name, seed, failure.what(),
                           program, row.name, seed);
            }
        }
    }
    if (const char* const broken = row.judge != nullptr ? row.judge(sums) : nullptr; broken != nullptr) {
        ++failed;
        fmt::print("FAIL simulation_{}: {}\n", row.name, broken);
    }
    for (const auto& [name, figure] : print == "figures" ? sums.figures : decltype(sums.figures){}) {
        fmt::print("| {} | {} | {:.2f} | {:.2f} |\n", row.name, name, figure.sum / static_cast<double>(figure.count),
                   figure.worst);
    }
    if (failed == 0) {
        std::string averages;
        for (std::size_t i = 0; i < sums.packets.size(); ++i) {
            if (sums.packets[i] != 0) {
                averages +=
                    fmt::format(" {:.3f}", static_cast<double>(sums.sends[i]) / static_cast<double>(sums.packets[i]));
            }
        }
        fmt::print("PASS simulation_{} {} seeds, {:.1f} s: {}{}{}\n", row.name, seeds,
                   static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC, row.title,
                   averages.empty() ? "" : "; sends for each packet:", averages);
    }
    return failed == 0;
}

} // namespace

int main(int argc, char** argv) {
    const std::uint64_t seeds = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
    const std::string chosen = argc > 2 ? argv[2] : "all";
    const std::uint64_t first = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 1;
    const std::string_view print = argc > 4 ? argv[4] : "";
    int passed = 0;
    int failed = 0;
    for (const Row& row : simulation::rows) {
        if (chosen == "all" || chosen == row.name) {
            ++(run_row(argv[0], row, first, seeds, print) ? passed : failed);
        }
    }
    if (seeds == 0 || passed + failed == 0) {
        fmt::print(stderr, "usage: {} SEEDS [F1..F20|all [FIRST [trace|figures]]]\n", argv[0]);
        return 2;
    }
    if (const char* const results = std::getenv("RESULTS"); results != nullptr) {
        std::ofstream(results, std::ios::app) << passed << ' ' << failed << " simulation\n";
    }
    return failed == 0 ? 0 : 1;
}
