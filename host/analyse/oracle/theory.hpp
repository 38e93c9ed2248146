// SPDX-License-Identifier: MIT
// What every theory sees: the model as it was before the event, where judgements go, and how far a stamp may be from
// the time that the kernel used. A theory keeps what it needs per task or server in an account of its own.
#pragma once

#include "host/analyse/oracle/model.hpp"
#include "host/analyse/oracle/verdicts.hpp"

#include <cstdint>

namespace host::analyse::oracle {

// Stamps come a few hundred instructions after the kernel read its clock, timers up to an interrupts-off section late.
struct Timing {
    std::uint64_t tolerance = 0; // ticks, for each interval that is measured by two stamps
    std::uint64_t granule = 0;   // ticks that a stamp of a compact chunk may be too early, in addition: cut bits
    bool judged = true;          // false: stamps say too little about the kernel's times
};

// One stay on the processor.
struct Interval {
    std::uint16_t exec = 0;   // whose place was used
    std::uint16_t shadow = 0; // who ran
    std::uint64_t begin = 0;
    std::uint64_t end = 0;

    [[nodiscard]] std::uint64_t ticks() const { return end - begin; }
};

class Theory {
  public:
    Theory(const Model& model, Verdicts& verdicts, const Timing& timing)
        : m_model(model)
        , m_verdicts(verdicts)
        , m_timing(timing) {}

  protected:
    [[nodiscard]] const Model& model() const { return m_model; }

    [[nodiscard]] Verdicts& verdicts() const { return m_verdicts; }

    [[nodiscard]] const Timing& timing() const { return m_timing; }

    // The interval in progress at this stamp, if this task's place is used (or the task runs, by `shadow`).
    [[nodiscard]] std::uint64_t so_far(std::uint16_t context, std::uint64_t from, std::uint64_t now,
                                       bool shadow = false) const {
        const auto& running = m_model.running();
        if (!running || (shadow ? running->shadow : running->exec) != context) {
            return 0;
        }
        const std::uint64_t begin = running->since > from ? running->since : from;
        return now > begin ? now - begin : 0;
    }

  private:
    const Model& m_model;
    Verdicts& m_verdicts;
    const Timing& m_timing;
};

// Whether two times are the same but for the rounding of a conversion to ticks.
[[nodiscard]] constexpr bool same_but_rounding(std::uint64_t a, std::uint64_t b) {
    return a > b ? a - b <= 1 : b - a <= 1;
}

} // namespace host::analyse::oracle
