// SPDX-License-Identifier: MIT
// The sums of all promises, which are kept while promises come and go. Most questions of admission control are answered
// by the sums alone, in constant time, and as the tests would answer them (utilisation.hpp, processor_demand.hpp). Each
// share is rounded up at 2^-63, so the sums know how far they are off; where that is too much they answer `unknown`,
// and the tests decide. Pure arithmetic. Context: any.
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

    // Makes the sums of one promise. Precondition: the demand is within its ranges, and the claim is not none.
    PromiseSums(Claim claim, const Demand& demand);

    PromiseSums& operator+=(const PromiseSums& more);

    // Precondition: `less` has been added.
    PromiseSums& operator-=(const PromiseSums& less);

    // Answers as utilisation_at_most_one() does for all promises.
    [[nodiscard]] Verdict utilisation() const;

    // Answers as edf_feasible() does for the promises with deadlines below those of fixed priority; `shortest` is the
    // shortest deadline of the former. Precondition: utilisation() fits.
    [[nodiscard]] Verdict deadlines(std::uint64_t shortest) const;

    // Returns the line of density_rounded_up() in the published unit: a deadline below its period counts as one, and
    // what runs above counts once more in the shortest interval that can matter.
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
