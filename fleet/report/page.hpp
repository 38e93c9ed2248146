// SPDX-License-Identifier: MIT
// The page of a fleet: one HTML file as that of a run is, with the same policy (host/report/frame.hpp). What the store
// answers is in one packed block of JSON, so none of it is ever parsed as HTML.
#pragma once

#include "fleet/report/gathered.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace host::fleet::report {

// Where the reports of runs are.
struct Runs {
    std::string directory{};   // beside the page; empty: there are none
    std::string preparation{}; // the command that fetches the sessions; empty: those that there are are at hand
};

// Where that command puts them.
inline constexpr std::string_view kFetched = "runs";

// JSON. Names are as `remora sql` has them; characters that would change the text around them are escaped.
[[nodiscard]] std::vector<std::byte> contents(const Gathered& gathered, const Runs& runs);

[[nodiscard]] std::string page(const std::vector<std::byte>& contents);

} // namespace host::fleet::report
