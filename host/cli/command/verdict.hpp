// SPDX-License-Identifier: MIT
// Shows what is to be said of a trace before anything else: how whole it is, and how its run ended badly.
#pragma once

#include "host/analyse/crash.hpp"
#include "host/analyse/verdict.hpp"
#include "host/cli/terminal/output.hpp"

#include <span>
#include <string>

namespace host::cli {

using analyse::Accounts;
using analyse::accounts_of;
using analyse::loss_of;
using analyse::Rating;
using analyse::Verdict;
using analyse::verdict_of;

[[nodiscard]] inline Style style_of(const Verdict& verdict) {
    return verdict.rating == Rating::good ? Style::good : verdict.rating == Rating::bad ? Style::bad : Style::warning;
}

// Prints how the run ended badly; nothing if it did not.
inline void print_crashes(Output& out, std::span<const analyse::Crash> crashes) {
    for (const analyse::Crash& crash : crashes) {
        Style style = crash.ended_the_run() ? Style::bad : Style::warning;
        for (const std::string& line : lines_of(crash)) {
            out.print("{}\n", out.styled(style, line));
            style = Style::plain;
        }
    }
    if (!crashes.empty()) {
        out.print("\n");
    }
}

} // namespace host::cli
