// SPDX-License-Identifier: MIT
// What one record costs on the host, measured with the very object code that the kernel links (GS points at a CpuTrace,
// as in the kernel). The yardstick BASE is a bare rdtsc and one 16-byte store: nothing that stamps can be cheaper.
// Variants take turns, the best of many rounds counts: absolute times wander, ratios of one run do not.
//
//   record_cost            prints times and ratios
//   record_cost VARIANT N  runs N iterations of one variant and nothing else: for counting instructions from outside
#include "tests/support/tracer_fixture.hpp"

#include <fmt/format.h>
#include <x86intrin.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kRounds = 200;
constexpr std::uint64_t kIterations = 20'000;
constexpr std::uint32_t kRingRecords = 32 * 1024; // 512 KiB

struct Slot {
    std::uint64_t low;
    std::uint64_t high;
};

alignas(64) std::array<Slot, kRingRecords> g_ring;

void run_base(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        Slot& slot = g_ring[i % kRingRecords];
        slot.low = __rdtsc();
        slot.high = i;
        asm volatile("" : : : "memory");
    }
}

void run_record(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        tracer::log<"task_dispatch">(1, static_cast<std::uint32_t>(i));
    }
}

void run_loop(std::uint64_t iterations) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
        asm volatile("" : : "r"(i) : "memory");
    }
}

struct Variant {
    std::string_view name;
    void (*run)(std::uint64_t iterations);
    bool enabled;
    bool filtered;
};

constexpr std::array kVariants = {
    Variant{"loop", &run_loop, true, false},        Variant{"base", &run_base, true, false},
    Variant{"enabled", &run_record, true, false},   Variant{"filtered", &run_record, true, true},
    Variant{"disabled", &run_record, false, false},
};

void prepare(tests::TracerFixture& fixture, const Variant& variant) {
    auto& control = fixture.tracer().control;
    static_cast<void>(control.set_filter(0xF2, variant.filtered));
    variant.enabled ? static_cast<void>(control.enable()) : control.disable();
}

double seconds_of(const Variant& variant) {
    const auto begin = std::chrono::steady_clock::now();
    variant.run(kIterations);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

int count_only(tests::TracerFixture& fixture, std::string_view name, std::uint64_t iterations) {
    for (const Variant& variant : kVariants) {
        if (variant.name == name) {
            prepare(fixture, variant);
            variant.run(iterations);
            return 0;
        }
    }
    fmt::print(stderr, "record_cost: no variant \"{}\"\n", name);
    return 1;
}

void measure(tests::TracerFixture& fixture) {
    std::array<double, kVariants.size()> best{};
    best.fill(1e9);
    for (int round = 0; round < kRounds; ++round) {
        for (std::size_t i = 0; i < kVariants.size(); ++i) {
            prepare(fixture, kVariants[i]);
            best[i] = std::min(best[i], seconds_of(kVariants[i]));
        }
    }
    const auto nanoseconds = [&](std::size_t i) { return best[i] / static_cast<double>(kIterations) * 1e9; };
    const double loop = nanoseconds(0);
    const double base = nanoseconds(1);
    fmt::print("FIGURE record_base {:.2f} ns\n", base);
    fmt::print("FIGURE record_enabled {:.2f} ns\n", nanoseconds(2));
    fmt::print("FIGURE record_enabled_over_base {:.3f} ratio\n", nanoseconds(2) / base);
    fmt::print("FIGURE record_filtered {:.2f} ns\n", std::max(0.0, nanoseconds(3) - loop));
    fmt::print("FIGURE record_disabled {:.2f} ns\n", std::max(0.0, nanoseconds(4) - loop));
}

} // namespace

namespace tracer {

Instance& instance() {
    return *tests::TracerFixture::current();
}

} // namespace tracer

int main(int count, char** arguments) {
    tests::TracerFixture fixture(std::size_t{4} << 20);
    auto& chunk = fixture.chunk(kRingRecords, 16, tracer::kFlagCyclic);
    fixture.select_and_enable(chunk);
    if (count == 3) {
        return count_only(fixture, arguments[1], std::strtoull(arguments[2], nullptr, 10));
    }
    measure(fixture);
    return 0;
}
