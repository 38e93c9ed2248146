// SPDX-License-Identifier: MIT
// Timer signals as interrupts, in two levels: the second may interrupt the first, neither itself. The handler does what
// an entry stub does: if the interrupted instruction is in the record path, its RIP is set back to the start. Then it
// logs. It counts what happened: which instructions were interrupted, and by which level.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace soak {

inline constexpr std::size_t kLevels = 2;
inline constexpr std::size_t kRegionMax = 8192;

// Deliberate faults of the handler, to test the checks.
enum class Fault : std::uint8_t { none, no_rewind, short_region };

struct StormOptions {
    Fault fault = Fault::none;
    std::array<std::uint32_t, kLevels> period_us{41, 61};
    void (*handler)(std::size_t level) = nullptr; // level 0 is the lower one
};

// The counts so far; exact while the storm is held.
struct StormCounts {
    std::array<std::uint64_t, kLevels> signals{};
    std::array<std::uint64_t, kLevels> rewinds{};
    std::uint64_t nested = 0;         // signals that interrupted a handler
    std::uint64_t nested_rewinds = 0; // of those: in the middle of its record
    std::array<std::uint64_t, kRegionMax> by_offset{};

    [[nodiscard]] std::size_t instructions() const;
};

// Begins held. One storm at a time.
void start_storm(const StormOptions& options);
void stop_storm();

// No signal occurs between hold and release.
void hold_storm();
void release_storm();

[[nodiscard]] const StormCounts& storm_counts();

} // namespace soak
