// SPDX-License-Identifier: MIT
// The cost of one record on the host. Google Benchmark runs the rounds of all variants in random order, so that a
// disturbance of the machine affects all alike; the best of many rounds counts.
//
//   record_cost            prints FIGURE, PEER and GOAL lines; LTTNG_PEER=library: measures LTTng-UST as well
//   record_cost VARIANT N  runs N iterations of one variant and nothing else: to count instructions with another tool
#include "tests/bench/goals.hpp"
#include "tests/bench/lttng_peer.hpp"
#include "tests/bench/variants.hpp"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kRounds = 1'500;

// Keeps the minimum time of each variant, and prints nothing itself.
class BestOf final : public benchmark::BenchmarkReporter {
  public:
    bool ReportContext(const Context&) override { return true; }

    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs) {
            if (run.run_type != Run::RT_Iteration || run.error_occurred) {
                continue;
            }
            const double ns = run.GetAdjustedRealTime();
            const auto place = m_best.try_emplace(run.run_name.function_name, ns).first;
            place->second = std::min(place->second, ns);
        }
    }

    [[nodiscard]] const bench::Times& best() const { return m_best; }

  private:
    bench::Times m_best;
};

void run_one(benchmark::State& state, const bench::Variant& variant) {
    bench::Machine::prepare(variant);
    const auto batch = static_cast<benchmark::IterationCount>(variant.iterations);
    while (state.KeepRunningBatch(batch)) {
        variant.run(variant.iterations);
    }
}

void measure() {
    std::vector<bench::Variant> all(bench::variants().begin(), bench::variants().end());
    if (const char* const library = std::getenv("LTTNG_PEER"); library != nullptr && bench::load_lttng_peer(library)) {
        all.push_back({.name = "lttng_ust", .run = &bench::run_lttng_peer, .iterations = 5'000});
    }
    for (const bench::Variant& variant : all) {
        benchmark::RegisterBenchmark(std::string(variant.name).c_str(),
                                     [variant](benchmark::State& state) { run_one(state, variant); })
            ->Iterations(static_cast<benchmark::IterationCount>(variant.iterations))
            ->Repetitions(kRounds)
            ->UseRealTime()
            ->Unit(benchmark::kNanosecond);
    }
    std::array<std::string, 2> words{"record_cost", "--benchmark_enable_random_interleaving=true"};
    std::array<char*, 3> arguments{words[0].data(), words[1].data(), nullptr};
    int count = static_cast<int>(words.size());
    benchmark::Initialize(&count, arguments.data());
    BestOf best;
    benchmark::RunSpecifiedBenchmarks(&best);
    bench::print_record_figures(best.best());
}

int count_only(std::string_view name, std::uint64_t iterations) {
    for (const bench::Variant& variant : bench::variants()) {
        if (variant.name == name) {
            bench::Machine::prepare(variant);
            variant.run(iterations);
            return 0;
        }
    }
    fmt::print(stderr, "record_cost: no variant \"{}\"\n", name);
    return 1;
}

} // namespace

int main(int count, char** arguments) {
    const bench::Machine machine;
    if (count == 3) {
        return count_only(arguments[1], std::strtoull(arguments[2], nullptr, 10));
    }
    measure();
    return 0;
}
