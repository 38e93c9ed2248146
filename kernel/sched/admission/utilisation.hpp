// SPDX-License-Identifier: MIT
// Declares what every admission test uses: 128-bit arithmetic, the demand of a task, and its share of the processor.
// Context: any.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace kernel {

// Admission needs 128-bit arithmetic, because it decides with exact products of 64-bit times. The freestanding build
// has no library routine for the division, which is therefore written here. The functions but saturate() are kept out
// of line, because inlined into the tests below they would double the size of those.

__extension__ using Wide = unsigned __int128;

struct Division {
    Wide quotient = 0;
    std::uint64_t remainder = 0;
};

// Returns the number of bits up to the highest one that is set, and 0 for 0.
[[nodiscard, gnu::noinline]] int bit_width(Wide value);

// Divides, and rounds down. Precondition: 0 < divisor.
[[nodiscard, gnu::noinline]] Division divide(Wide dividend, std::uint64_t divisor);

// Divides, and rounds up. Precondition: 0 < divisor.
[[nodiscard, gnu::noinline]] Wide divide_up(Wide dividend, std::uint64_t divisor);

[[nodiscard, gnu::noinline]] std::uint64_t greatest_common_divisor(std::uint64_t a, std::uint64_t b);

// Returns the product, or nothing if it might not fit 127 bits, which leave room for one addition.
[[nodiscard, gnu::noinline]] std::optional<Wide> multiply(Wide a, Wide b);

// Returns 2^64-1 for every value above that.
[[nodiscard]] std::uint64_t saturate(Wide value);

// Declares the demand of a task or a server as the admission tests see it, and the possible answers of a test.

struct Demand {
    std::uint64_t wcet_ns = 0;     // 0 < wcet <= deadline
    std::uint64_t period_ns = 0;   // deadline <= period
    std::uint64_t deadline_ns = 0; // relative; also the priority where priorities are fixed: the shorter, the higher
    std::uint64_t jitter_ns = 0;   // how long a release may be put off: of a deferrable server, else 0
    // It is true for a constant bandwidth server: its demand in an interval is bounded by the interval's length times
    // wcet / period alone. It may come back with an old deadline and the rest of an old budget, so that work is due
    // sooner than a whole period after the interval's begin.
    bool server = false;

    friend constexpr bool operator==(const Demand&, const Demand&) = default;
};

enum class Claim : std::uint8_t {
    none,
    fixed,    // priority by relative deadline
    deadline, // EDF
};

enum class Verdict : std::uint8_t {
    fits,
    exceeds,
    unknown, // not within the bound on steps, or not within 127 bits
};

// Every test counts its steps in one of these, so that each test ends, whatever the set is. A step takes
// O(reservations).
struct Steps {
    std::uint32_t left = 0;

    // Takes a step, and returns false if none is left.
    [[nodiscard]] bool take() {
        if (left == 0) {
            return false;
        }
        --left;
        return true;
    }
};

// The sum of shares of the processor is compared with the whole, exactly where 127 bits allow it and rounded up where
// they do not. The same shares exist in the published unit, where 2^32-1 is the whole processor. Context: any.
// Sources: Bini, Buttazzo, Buttazzo, "Rate monotonic analysis: the hyperbolic bound" (IEEE Transactions on Computers,
// 2003).

// Is the published MAX_BANDWIDTH, the whole processor.
inline constexpr std::uint32_t kBandwidthMax = 0xFFFF'FFFF;

// Returns wcet / period in units of 1 / kBandwidthMax, rounded up. Precondition: 0 < wcet <= period.
[[nodiscard]] std::uint32_t bandwidth_of(std::uint64_t wcet_ns, std::uint64_t period_ns);

// Returns a / b in units of 2^-63, rounded up, at most 2^127. Precondition: b != 0.
[[nodiscard]] Wide share_rounded_up(std::uint64_t a, std::uint64_t b);

// Returns whether sum(C/T) <= 1, as a fraction over the periods' least common multiple. Where that does not fit 127
// bits each C/T is rounded up at 2^-63: a set within n * 2^-63 of the whole may then be refused, but none is accepted
// wrongly.
[[nodiscard]] bool utilisation_at_most_one(std::span<const Demand> tasks);

// Returns a straight line above the work of all tasks in every interval that is not shorter than the shortest deadline
// of `own`: sum(C/D) of `own`, and C/T + C/Dmin, twice the latter with jitter, of what runs above. It is in units of
// 2^-63, each term rounded up, and saturates far above one.
[[nodiscard]] Wide density_rounded_up(std::span<const Demand> own, std::span<const Demand> above);

inline constexpr Wide kDensityOne = Wide{1} << 63;

// Tests product(C/T + 1) <= 2: fixed priorities by period then keep every deadline that equals its period. The verdict
// is fits or unknown.
[[nodiscard]] Verdict hyperbolic_bound(std::span<const Demand> tasks);

} // namespace kernel
