// SPDX-License-Identifier: MIT
// When devices raised interrupts, as an observer outside of the machine saw it (host/observer), beside a trace of the
// same run. The observer counts instructions since the machine was switched on, the trace has stamps of the machine's
// counter. Under a clock that counts instructions the two differ by one number, which is not known: it is the one by
// which most entries of the trace equal an observed first reading of the counter in a handler of the same vector.
//
//   observer   vector   raised ..... taken .. stamped
//                          |                     | + offset
//   trace                  v                     v
//   -------------------- raise ------------ interrupt_start, vector
#pragma once

#include "host/schedule/latency.hpp"
#include "host/trace/diagnostics.hpp"
#include "lib/result.hpp"
#include "lib/units.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace host::schedule {

// One interrupt that the processor took.
struct Observed {
    std::uint16_t vector = 0;
    std::optional<std::uint64_t> raised; // none: by an instruction, or not seen
    std::uint64_t taken = 0;
    std::optional<std::uint64_t> stamped; // the first reading of the counter in the handler

    friend bool operator==(const Observed&, const Observed&) = default;
};

// CSV, with the head kRaisesHead: numbers, or nothing where one is not known.
inline constexpr std::string_view kRaisesHead = "vector,raised,taken,stamped";
[[nodiscard]] lib::Result<std::vector<Observed>, trace::Refusal> parse_raises(std::string_view text);

struct Raises {
    enum class Fit : std::uint8_t {
        one,     // at one offset more entries were observed than at any other
        none,    // at most half of them at any, or not all between the first and the last: another run or clock
        several, // at more than one as many: too few interrupts, or too regular ones
    };

    Fit fit = Fit::none;
    std::size_t observed = 0;                      // entries
    std::vector<std::optional<lib::Ticks>> raised; // of each entry, in the trace's clock
};

// entries: all of the trace, in its order.
[[nodiscard]] Raises match(std::span<const Observed> observed, std::span<const Entry> entries);

} // namespace host::schedule
