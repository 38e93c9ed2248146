// SPDX-License-Identifier: MIT
// Which of two exit statuses a command ends with, and the one that is not worse than a fault although its number is
// greater. Those of every reader: host/trace/diagnostics.hpp.
#pragma once

#include "host/trace/diagnostics.hpp"

namespace host::cli {

// Of `remora verify` alone: nothing is damaged, lost or in violation, but whether every record is here is not known.
inline constexpr trace::ExitStatus kAccountOpen{6};

// Any fault is worse than an open account; of two faults the one with the greater number is.
[[nodiscard]] constexpr trace::ExitStatus worse(trace::ExitStatus a, trace::ExitStatus b) {
    const auto rank = [](trace::ExitStatus of) { return of == kAccountOpen ? 1 : 2 * static_cast<int>(of); };
    return rank(a) < rank(b) ? b : a;
}

} // namespace host::cli
