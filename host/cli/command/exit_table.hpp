// SPDX-License-Identifier: MIT
// The table of exit statuses: what each means, and which of two a command ends with. `remora --help`, the manual page
// and docs/ci.md print it; the help of every command refers to it. The statuses of all readers are in
// host/trace/diagnostics.hpp.
#pragma once

#include "host/trace/diagnostics.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace host::cli {

// Only `remora verify`, `remora check` and `remora fleet verify` have this status.
inline constexpr trace::ExitStatus kAccountOpen{6};

// Only `remora diff` has this status.
inline constexpr trace::ExitStatus kDiffers{7};

// Only `remora verify`, `remora check`, `remora diff` and `remora fleet verify` have this status.
inline constexpr trace::ExitStatus kEndedBadly{8};

// Each row's number is its status.
inline constexpr std::array<std::string_view, 9> kExitTexts = {
    "nothing is wrong",
    "wrong usage, an invalid SQL statement or expectation, or a file or socket that cannot be used",
    "damage or loss (the rest is used), a violated rule, or an expectation that does not hold",
    "nothing usable",
    "no space for the output, or for input that must first be unpacked to TMPDIR; record: a limit was reached",
    "sql, check --expect: stopped, because a statement takes longer than --timeout allows",
    "verify, fleet verify: nothing is wrong, but whether every record is here is not known; check: nothing is wrong, "
    "but not all could be judged",
    "diff: nothing is wrong, but the two runs differ",
    "verify, check, fleet verify: what was judged is right, but the run ended badly: a panic, a hang, or a failure "
    "that the application reports; diff: one of the two runs did",
};

[[nodiscard]] constexpr std::string_view exit_text(trace::ExitStatus status) {
    return kExitTexts[static_cast<std::size_t>(status)];
}

// Returns the worse of two statuses: any fault is worse than a run that ended badly, which is worse than an open
// account or a difference; of two faults the one with the greater number.
[[nodiscard]] constexpr trace::ExitStatus worse(trace::ExitStatus a, trace::ExitStatus b) {
    const auto rank = [](trace::ExitStatus of) {
        return of == kAccountOpen || of == kDiffers ? 1 : of == kEndedBadly ? 2 : 3 * static_cast<int>(of);
    };
    return rank(a) < rank(b) ? b : a;
}

} // namespace host::cli
