// SPDX-License-Identifier: MIT
// What promises add up to, kept while they come and go: most questions of admission control are answered by the sums
// alone, in constant time, and as the tests would answer them (utilisation.hpp, processor_demand.hpp). Each share is
// rounded up at 2^-63, so the sums know how far they are off; where that is too much they answer `unknown`, and the
// tests decide. Pure arithmetic. Context: any.
//
//                       fits          unknown        exceeds
//   sum, rounded up  ...........|..................|..........      one = 2^63
//                              one          one + a unit for each promise
#pragma once

#include "kernel/sched/admission/demand.hpp"
#include "kernel/sched/admission/wide.hpp"

#include <cstdint>

namespace kernel {

class PromiseSums {
  public:
    constexpr PromiseSums() = default;

    // Of one promise. Precondition: a demand within its ranges, a claim other than none.
    PromiseSums(Claim claim, const Demand& demand);

    PromiseSums& operator+=(const PromiseSums& more);

    // Precondition: `less` has been added.
    PromiseSums& operator-=(const PromiseSums& less);

    // As utilisation_at_most_one() of all.
    [[nodiscard]] Verdict utilisation() const;

    // As edf_feasible() of those with deadlines below those of fixed priority, of which `shortest` is the shortest
    // deadline. Precondition: utilisation() fits.
    [[nodiscard]] Verdict deadlines(std::uint64_t shortest) const;

    // The line of density_rounded_up() in the published unit: a deadline below its period counts as one, and what runs
    // above counts once more in the shortest interval that can matter.
    [[nodiscard]] std::uint64_t load(std::uint64_t shortest) const;

  private:
    Wide m_utilisation = 0; // C / T of all
    Wide m_density = 0;     // C / D of those with deadlines, C / T of what runs above
    Wide m_once = 0;        // C of what runs above, twice with jitter
    std::uint64_t m_load = 0;
    std::uint32_t m_count = 0;
    std::uint32_t m_above = 0;
    std::uint32_t m_servers = 0;
    std::uint32_t m_constrained = 0; // deadlines shorter than their periods
};

} // namespace kernel
