// SPDX-License-Identifier: MIT
// Measures the rate of the TSC by a reference clock (tsc.hpp has a drawing), and chooses the two references that give
// the result. The references and the TSC are policies: the machine's own (tsc.cpp), or a test's. Context: irq-off.
#pragma once

#include "arch/x86_64/clock_arithmetic.hpp"
#include "arch/x86_64/tsc.hpp"

#include <concepts>
#include <cstdint>

namespace arch::x86_64 {

// A reference counts up at the rate hz and wraps at mask() + 1, later than a window after its start.
template <typename Clock>
concept Reference = requires(const Clock& clock) {
    { clock.hz } -> std::convertible_to<std::uint64_t>;
    clock.start();
    { clock.read() } -> std::same_as<std::uint64_t>;
    { clock.mask() } -> std::same_as<std::uint64_t>;
};

// read() returns the TSC, in order; wait() passes some of a window's time.
template <typename Tsc>
concept TimeStampCounter = requires(const Tsc& tsc) {
    { tsc.read() } -> std::same_as<std::uint64_t>;
    tsc.wait();
};

inline constexpr int kWindows = 5;
inline constexpr int kBrackets = 4;
inline constexpr std::uint64_t kWindowsPerSecond = 500; // windows of 2 ms
inline constexpr std::uint64_t kWindowReadsMax = 10'000'000;

struct ClockSample {
    std::uint64_t tsc = 0;
    std::uint64_t reference = 0;
};

[[nodiscard]] ClockSample tightest_sample(const TimeStampCounter auto& tsc, const Reference auto& reference) {
    ClockSample best;
    std::uint64_t width_min = ~std::uint64_t{0};
    for (int i = 0; i < kBrackets; ++i) {
        const std::uint64_t before = tsc.read();
        const std::uint64_t value = reference.read();
        const std::uint64_t after = tsc.read();
        if (after - before < width_min) {
            width_min = after - before;
            best = {before + (after - before) / 2, value};
        }
    }
    return best;
}

// Returns the TSC's rate in kHz by this reference, or 0 if the reference does not count: a window ends after reads_max
// reads.
[[nodiscard]] std::uint32_t measure_khz(const TimeStampCounter auto& tsc, const Reference auto& reference,
                                        std::uint64_t reads_max = kWindowReadsMax) {
    const std::uint64_t span = reference.hz / kWindowsPerSecond;
    std::uint64_t khz_min = 0;
    for (int window = 0; window < kWindows; ++window) {
        reference.start();
        const ClockSample begin = tightest_sample(tsc, reference);
        std::uint64_t reads = 0;
        while (counted(begin.reference, reference.read(), reference.mask()) < span) {
            if (++reads == reads_max) {
                return 0;
            }
            tsc.wait();
        }
        const ClockSample end = tightest_sample(tsc, reference);
        const std::uint64_t elapsed = counted(begin.reference, end.reference, reference.mask());
        khz_min = better_tsc_khz(khz_min, rate_khz(end.tsc - begin.tsc, reference.hz, elapsed));
    }
    return static_cast<std::uint32_t>(khz_min);
}

// Keeps the first two references that count, in the order in which they are tried: the second checks the first.
class ChosenClocks {
  public:
    constexpr void consider(std::uint32_t khz, ReferenceClock clock) {
        if (khz != 0) {
            (m_first.khz == 0 ? m_first : m_second) = {khz, clock};
        }
    }

    [[nodiscard]] constexpr bool needs_more() const { return m_second.khz == 0; }

    // Returns the result of the first reference. not_found: none counts.
    [[nodiscard]] constexpr lib::Result<TscCalibration> result() const {
        if (m_first.khz == 0) {
            return lib::Error::not_found;
        }
        return TscCalibration{.rate = {m_first.khz},
                              .source = m_first.clock,
                              .checked_by = m_second.clock,
                              .error_ppm = m_second.khz != 0 ? disagreement_ppm() : 0};
    }

  private:
    struct Measurement {
        std::uint32_t khz = 0;
        ReferenceClock clock = ReferenceClock::none;
    };

    [[nodiscard]] constexpr std::uint32_t disagreement_ppm() const {
        const std::uint32_t difference =
            m_first.khz > m_second.khz ? m_first.khz - m_second.khz : m_second.khz - m_first.khz;
        return static_cast<std::uint32_t>(lib::multiply_divide(difference, 1'000'000, m_first.khz));
    }

    Measurement m_first;
    Measurement m_second;
};

} // namespace arch::x86_64
