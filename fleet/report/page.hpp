// SPDX-License-Identifier: MIT
// The page of a fleet is one HTML file, as that of a run, with the same policy (host/report/frame.hpp). The answers of
// the store are in one packed block of JSON, so that nothing in them is parsed as HTML.
#pragma once

#include "fleet/report/gathered.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::report {

// States where the reports of runs are.
struct Runs {
    std::string directory{};   // beside the page; empty if there are none
    std::string preparation{}; // the command that fetches the sessions; empty if they are at hand
};

// That command puts the sessions into this directory.
inline constexpr std::string_view kFetched = "runs";

// Returns JSON. Names are those of `remora sql`; characters that would change the text around them are escaped.
[[nodiscard]] std::vector<std::byte> contents(const Gathered& gathered, const Runs& runs);

[[nodiscard]] std::string page(const std::vector<std::byte>& contents);

} // namespace host::fleet::report
