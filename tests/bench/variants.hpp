// SPDX-License-Identifier: MIT
// What is measured: each variant is a loop over one way to write down an event. The record path is the very object code
// that the kernel links (GS points at a CpuTrace, as in the kernel); the yardstick BASE is a bare rdtsc and one 16-byte
// store into a ring: nothing that stamps can be cheaper.
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
    filtered, // the event's family is
    disabled,
};

struct Variant {
    std::string_view name;
    void (*run)(std::uint64_t iterations);
    std::uint64_t iterations = 20'000; // of one round
    Ring ring = Ring::kib_512;
    Recording recording = Recording::enabled;
};

// All but the peers that must be loaded first (lttng_peer.hpp).
[[nodiscard]] std::span<const Variant> variants();

// Makes the tracer of this process; one at a time. Every variant needs it alive.
class Machine {
  public:
    Machine();
    ~Machine();
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Records go where the variant says from here on.
    static void prepare(const Variant& variant);
};

} // namespace bench
