// SPDX-License-Identifier: MIT
// The measured variants: each is a loop over one way to record an event. The record path is the object code that the
// kernel links (GS points at a CpuTrace, as in the kernel). The reference BASE is a bare rdtsc and one 16-byte store
// into a ring: no recorder that stamps can be cheaper.
//
// fake_*   the same code with the time stamp counter replaced by a counter in memory (fake_clock.h)
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace bench {

enum class Ring : std::uint8_t {
    kib_512,
    mib_64,
};

enum class Recording : std::uint8_t {
    enabled,
    filtered, // the event's family is filtered
    disabled,
};

// The variant "cycles" executes as many instructions, each of which takes one cycle and needs the result of the one
// before: what a cycle takes while the others run.
inline constexpr int kCyclesOfVariant = 64;

struct Variant {
    std::string_view name;
    void (*run)(std::uint64_t iterations);
    std::uint64_t iterations = 20'000; // of one round
    Ring ring = Ring::kib_512;
    Recording recording = Recording::enabled;
};

// All except the peers that must be loaded first (lttng_peer.hpp).
[[nodiscard]] std::span<const Variant> variants();

// The tracer of this process; one at a time. Every variant requires it.
class Machine {
  public:
    Machine();
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // From here on, records go where the variant requires.
    static void prepare(const Variant& variant);
};

} // namespace bench
